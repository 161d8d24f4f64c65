#pragma once

#include <sys/types.h>

#include "crew/crew.h"

namespace springtime {

// A program that runs; it is told to end when this object goes before it has ended.
class RunningProgram {
  public:
    explicit RunningProgram(const Program& program);
    ~RunningProgram();
    RunningProgram(const RunningProgram&) = delete;
    RunningProgram& operator=(const RunningProgram&) = delete;

    // Its exit code, or minus the signal that ended it; nothing while it runs.
    std::optional<int> ended();

  private:
    pid_t process_ = -1;
    std::optional<int> code_;
};

inline constexpr const char* kProgramTask = "program";
std::unique_ptr<RankTask> make_program_task(WireReader& setup, const RankTools& tools);

}  // namespace springtime
