#pragma once

#include <Eigen/Dense>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "springtime/cloth.h"

namespace springtime {

class CaptureRun;

// A number that a fit looks for.
struct FitUnknown {
    std::string name;
    double start = 0;
    double spread = 1;  // how far from the start it is expected, as a standard deviation
    double step = 0;    // of a difference quotient
    double most = 1;    // change in one iteration
};

// Values of the unknowns, and what comes of them.
struct FitPoint {
    std::vector<double> values;
    int substeps = 1;
    Eigen::VectorXd residuals;  // of a CaptureRun
};

// Levenberg and Marquardt's method for a few numbers that recordings tell, with difference
// quotients. What is minimised, and its matrix and gradient, is up to the caller.
class DampedFit {
  public:
    using MakeCloth = std::function<Cloth(const std::vector<double>&)>;
    using Objective = std::function<double(const FitPoint&)>;

    // The run and the unknowns must outlive it.
    DampedFit(const CaptureRun& run, const std::vector<FitUnknown>& unknowns, MakeCloth cloth,
              int threads, double damping);

    // None if the cloth blows up or needs too many sub-steps.
    std::optional<FitPoint> at(const std::vector<double>& values) const;

    // Every column is a run of all recordings side by side.
    Eigen::MatrixXd jacobian(const FitPoint& point) const;

    // One damped step, whatever it brings.
    std::optional<FitPoint> trial(const FitPoint& from, const Eigen::MatrixXd& matrix,
                                  const Eigen::VectorXd& gradient) const;

    // Goes on from a point with less and less courage until the objective falls. Returns by how
    // much; zero if it did not.
    double improve(FitPoint& point, const Eigen::MatrixXd& matrix, const Eigen::VectorXd& gradient,
                   const Objective& objective);

  private:
    const CaptureRun& run_;
    const std::vector<FitUnknown>& unknowns_;
    MakeCloth cloth_;
    int threads_;
    double damping_;
};

// Standard errors of unknowns, by the matrix of what is known of them (Fisher).
std::vector<double> standard_errors(const Eigen::MatrixXd& information);

}  // namespace springtime
