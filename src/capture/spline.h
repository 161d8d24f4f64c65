#pragma once

#include <vector>

namespace springtime {

// The natural cubic spline through some numbers at ascending times; straight through two of them.
class Spline {
  public:
    Spline() = default;
    // Of every time, as many numbers as of the first.
    Spline(std::vector<double> time, std::vector<std::vector<double>> numbers);

    const std::vector<double>& time() const { return time_; }
    const std::vector<std::vector<double>>& numbers() const { return numbers_; }
    // All numbers at a time; those of the ends before the first and after the last.
    std::vector<double> at(double time) const;

  private:
    std::vector<double> time_;
    std::vector<std::vector<double>> numbers_, bend_;  // the latter are second derivatives
};

}  // namespace springtime
