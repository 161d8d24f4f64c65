#pragma once

#include <vector>

#include "learn/clip_reader.h"
#include "learn/gradient.h"
#include "learn/stage.h"
#include "springtime/learn.h"

namespace springtime {

// What is learned from: the motion seen through the surrogate's particles, and how it is shared
// out. The motion must outlive it.
struct TrainingSet {
    TrainingSet(const Motion& motion, const TrainOptions& options);
    TrainingSet(const TrainingSet&) = delete;  // the reader points into it
    TrainingSet& operator=(const TrainingSet&) = delete;

    // Clips to train on; of the last seconds of each rollout only when tail_seconds is positive.
    std::vector<Clip> training_clips(double tail_seconds) const;

    // Whether cloths are judged by whole rollouts instead of clips: where particles lie between
    // landmarks, and for captured motion. There a clip that begins in the midst of a motion begins
    // with springs strained by interpolation or noise, which makes soft and viscous cloths look
    // good; a rollout begins as it was made, or forgets how it began.
    bool judges_whole_rollouts() const { return !resampler.exact() || motion.header.captured; }

    // Targets for judging a cloth by how it moves, out of the given rollouts, at most `count`.
    std::vector<Rollout> targets_of(const std::vector<std::size_t>& rollouts,
                                    std::size_t count) const;

    // Runs clips of a cloth with the surrogate's springs, whatever law they follow.
    BatchGradient gradient_of(const Cloth& cloth) const;
    // Motion RMSE of such a cloth on the validation targets. [m]
    double validation_rmse(const Cloth& cloth) const;

    const Motion& motion;
    TrainOptions options;
    Cloth surrogate;  // not yet learned
    SimulationOptions step;
    Substeps substeps;  // of that step
    Resampler resampler;
    RolloutSplit split;
    ClipReader reader;
    std::vector<Rollout> validation;
};

// The stiffness and the damping, the same for all springs, that follow the motion best: a search
// over four decades of stiffness. What the options give is taken as it is.
Cloth homogeneous_start(const TrainingSet& set, BatchGradient& gradient, const Stage& stage);

// The parts of learn.h on a training set that is already there. `options` may differ from those of
// the set in the start and in how the descent goes.
Cloth fit_homogeneous(const TrainingSet& set, const Stage& stage);
TrainResult train(const TrainingSet& set, const TrainOptions& options, const TrainState* resume,
                  const TrainHooks& hooks, const Progress& progress);

}  // namespace springtime
