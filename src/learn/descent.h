#pragma once

#include "learn/log_parameters.h"
#include "learn/training_set.h"
#include "springtime/learn.h"

namespace springtime {

int total_iterations(const DescentOptions& options);

// Descends on trajectories from `start`, whose law the result has. Iterations are counted from
// `first_iteration` on. What is validated, on whole rollouts, is a running mean of the logarithms;
// the last that is not clearly worse than the best is the result, and that may be the start. With
// `resume`, it continues from that state. Validation takes time, so `start_error` says how far the
// start is from whole rollouts if that is known [m]. Throws Failure when most clips of an iteration
// blow up.
TrainResult descend(const TrainingSet& set, const Cloth& start, const DescentOptions& options,
                    int first_iteration, const TrainState* resume, const TrainHooks& hooks,
                    const Progress& progress, const std::string& stage,
                    std::optional<double> start_error = std::nullopt);

}  // namespace springtime
