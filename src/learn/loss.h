#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "sim/tape.h"
#include "springtime/learn.h"
#include "springtime/motion.h"

namespace springtime {

// Gradient of the loss by every learned parameter; zero at first.
struct ParameterGradient {
    ParameterValues kinds;

    ParameterGradient() = default;
    explicit ParameterGradient(const Cloth& cloth) : kinds(parameters_of(cloth))
    {
        for (std::vector<double>& values : kinds) std::fill(values.begin(), values.end(), 0.0);
    }
};

// What a clip is compared by. Lf = mean over frames and particles of |f - f^|^2, with f = m a the
// net force; LJ = mean over particles of |J - J^|^2; Lx = mean over frames and particles of |x -
// x^|^2. Handles are left out of every term. J is the trapezoid rule over all steps of the clip:
// the steps sum to m (v_T - v_0), so J = m (v_T - v_0) + dt/2 m (a_T - a_0). Targets that are
// missing are left out, and means are over those that are seen.
class ClipLoss {
  public:
    ClipLoss(const Cloth& cloth, double dt, int stride, const LossWeights& weights);

    // Runs up to lane_count() clips of equal length side by side; the terms are sums over them, not
    // means. With a gradient, adds `scale` times that of the weighted sum to it.
    template <class Real>
    LossTerms run(Tape<Real>& tape, std::span<const Rollout* const> clips, double scale,
                  ParameterGradient* gradient) const;

  private:
    double dt_;
    int stride_;
    double speed_limit_;
    LossWeights weights_;
    std::vector<double> mass_;
};

// lambda_k sum relu(-k) + lambda_b sum relu(-b), with its gradient.
double negativity(std::span<const double> parameters, double weight, std::span<double> gradient);

// Accelerations by second differences of the positions of neighbouring frames, for motion that has
// none stored; the first and last frame take their neighbour's. Missing where any of the three
// frames is.
std::vector<float> difference_acceleration(const Rollout& rollout, std::size_t landmarks,
                                           double frame_interval);

}  // namespace springtime
