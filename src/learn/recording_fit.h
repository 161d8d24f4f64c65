#pragma once

#include <Eigen/Dense>
#include <vector>

#include "learn/capture_run.h"
#include "learn/damped_fit.h"

namespace springtime {

// A fit of a few numbers to recordings. It minimises the mean over the recordings r of the root
// mean square of their residuals e, so that a recording that does not fit with the others has
// little say:
//   F(q) = mean_r sqrt(mean_i |e_ri|^2) + w/2 sum_j ((q_j - q0_j)/spread_j)^2,
// with w so small that only what the motion does not tell is held near its start.
class RecordingFit {
  public:
    // Throws Failure if the cloth of the starts blows up.
    RecordingFit(const CaptureRun& run, std::vector<FitUnknown> unknowns,
                 DampedFit::MakeCloth cloth, int threads);
    RecordingFit(const RecordingFit&) = delete;  // its parts point into it
    RecordingFit& operator=(const RecordingFit&) = delete;

    // One iteration; false when it gained less than a thousandth.
    bool improve();

    const std::vector<double>& values() const { return point_.values; }
    // Standard errors, as of the start of the last iteration.
    std::vector<double> errors() const { return standard_errors(information_); }

  private:
    std::vector<double> rms(const FitPoint& point) const;  // of every recording [m]
    double objective(const FitPoint& point) const;
    Eigen::VectorXd weights() const;
    Eigen::MatrixXd information(const Eigen::MatrixXd& columns) const;

    const CaptureRun& run_;
    std::vector<FitUnknown> unknowns_;
    DampedFit fit_;
    FitPoint point_;
    double prior_ = 0;             // w above [m]
    Eigen::MatrixXd information_;  // what the motion and the expected spreads tell (Fisher)
};

}  // namespace springtime
