#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace springtime::app {

// `springtime-baseline`, which lies beside this program where the baselines were built.
class BaselineProgram {
  public:
    // Throws Error where it is not there.
    explicit BaselineProgram(bool quiet);

    // Waits until it is done; an interrupt is passed on. Throws Error for bad input, Failure for
    // everything else.
    void run(const std::vector<std::string>& arguments) const;

  private:
    std::filesystem::path path_;
    bool quiet_;
};

}  // namespace springtime::app
