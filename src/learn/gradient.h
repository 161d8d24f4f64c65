#pragma once

#include <memory>
#include <vector>

#include "learn/loss.h"
#include "sim/tape.h"

namespace springtime {

// Loss and gradient of a batch of clips, spread over threads. Groups of clips are summed in order,
// so the result does not depend on the number of threads.
class BatchGradient {
  public:
    BatchGradient(const Cloth& surrogate, const SimulationOptions& options, int stride,
                  int threads);
    ~BatchGradient();

    struct Result {
        LossTerms loss;  // mean over the clips
        ParameterGradient gradient;
    };
    Result run(const std::vector<Rollout>& clips, const SpringParameters& parameters,
               const LossWeights& weights, bool with_gradient);

    // Root of the mean squared distance to the targets, over all frames and particles. [m]
    double motion_rmse(const std::vector<Rollout>& clips, const SpringParameters& parameters);

  private:
    template <class Real>
    Result run_groups(std::vector<std::unique_ptr<Tape<Real>>>& tapes,
                      const std::vector<Rollout>& clips, const SpringParameters& parameters,
                      const LossWeights& weights, bool with_gradient);

    Cloth surrogate_;
    SimulationOptions options_;
    int stride_, threads_;
    std::vector<std::unique_ptr<Tape<float>>> fast_;        // one per thread
    std::vector<std::unique_ptr<Tape<double>>> reference_;  // one per thread
};

}  // namespace springtime
