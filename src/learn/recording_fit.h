#pragma once

#include <Eigen/Dense>
#include <functional>
#include <optional>
#include <vector>

#include "learn/capture_run.h"

namespace springtime {

// A number that a fit looks for.
struct FitUnknown {
    double start = 0;
    double spread = 1;  // how far from the start it is expected, as a standard deviation
    double step = 0;    // of a difference quotient
    double most = 1;    // change in one iteration
};

// A fit of a few numbers to recordings, by Levenberg and Marquardt's method with difference
// quotients. It minimises the mean over the recordings r of the root mean square of their residuals
// e, so that a recording that does not fit with the others has little say:
//   F(q) = mean_r sqrt(mean_i |e_ri|^2) + w/2 sum_j ((q_j - q0_j)/spread_j)^2,
// with w so small that only what the motion does not tell is held near its start.
class RecordingFit {
  public:
    using MakeCloth = std::function<Cloth(const std::vector<double>&)>;

    // Throws Failure if the cloth of the starts blows up.
    RecordingFit(const CaptureRun& run, std::vector<FitUnknown> unknowns, MakeCloth cloth,
                 int threads);

    // One iteration; false when it gained less than a thousandth.
    bool improve();

    const std::vector<double>& values() const { return point_.values; }
    // Standard errors, as of the start of the last iteration.
    std::vector<double> errors() const;

  private:
    struct Point {
        std::vector<double> values;
        int substeps = 1;
        Eigen::VectorXd residuals;
    };
    std::optional<Point> at(const std::vector<double>& values) const;
    std::vector<double> rms(const Point& point) const;  // of every recording [m]
    double objective(const Point& point) const;
    Eigen::MatrixXd jacobian() const;
    Eigen::VectorXd weights() const;
    Eigen::MatrixXd information(const Eigen::MatrixXd& columns) const;
    std::vector<double> stepped(const Eigen::VectorXd& step) const;

    const CaptureRun& run_;
    std::vector<FitUnknown> unknowns_;
    MakeCloth cloth_;
    int threads_;
    Point point_;
    double prior_ = 0;  // w above [m]
    double damping_ = 1e-2;
    Eigen::MatrixXd information_;  // what the motion and the expected spreads tell (Fisher)
};

}  // namespace springtime
