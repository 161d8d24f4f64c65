#pragma once

#include <memory>
#include <vector>

#include "learn/clip_reader.h"
#include "learn/gradient.h"
#include "learn/stage.h"
#include "learn/trajectory.h"
#include "motion/motion_cache.h"
#include "springtime/learn.h"

namespace springtime {

// What is learned from: the motion seen through the surrogate's particles, and how it is shared
// out. The motion must outlive it.
struct TrainingSet {
    // All that runs clips calls the heartbeat now and then.
    TrainingSet(const Motion& motion, const TrainOptions& options,
                std::function<void()> heartbeat = {});
    TrainingSet(const TrainingSet&) = delete;  // the reader points into it
    TrainingSet& operator=(const TrainingSet&) = delete;

    // Clips to train on; of the last seconds of each rollout only when tail_seconds is positive.
    std::vector<Clip> training_clips(double tail_seconds) const;

    // Whole rollouts to judge a cloth by, at most `count` of the given ones.
    std::vector<Trajectory> whole_rollouts(const std::vector<std::size_t>& rollouts,
                                           std::size_t count) const;

    // What descents minimise. Errors below a thousandth of the diagonal of the sheet are rounding
    // and chaos (0.02 m of a sheet of 15.5 m).
    FrameLoss trajectory_loss(const DescentOptions& descent) const;

    // Runs clips of a cloth with the surrogate's springs, whatever law they follow. With
    // `zeros_stay`, gradients by parameters that are zero may be left out.
    BatchGradient gradient_of(const Cloth& cloth, bool zeros_stay = false) const;
    // The error on whole validation rollouts.
    ValidationError validation_error(BatchGradient& gradient,
                                     const ParameterValues& parameters) const;
    ValidationError validation_error(const Cloth& cloth) const;

    // Keeps in memory what is read, where a backend is quicker than files are, and gives that
    // backend what it will look at again and again. False where there is none.
    bool keep_for(BatchGradient& gradient) const;
    // A whole rollout, without a copy where the cache has it.
    std::shared_ptr<const Rollout> whole_rollout(std::size_t rollout) const;

    std::shared_ptr<MotionCache> cache;
    Motion motion;  // read through the cache
    TrainOptions options;
    Cloth surrogate;  // not yet learned
    SimulationOptions step;
    Substeps substeps;  // of that step
    Resampler resampler;
    LandmarkMap map;
    RolloutSplit split;
    ClipReader reader;  // for published losses
    TrajectoryReader trajectories;
    std::vector<Trajectory> validation;  // whole rollouts
    std::function<void()> heartbeat;
    GradientBackends backends;
};

// The cloth that options ask for, not yet learned.
Cloth surrogate_of(const MotionHeader& header, const TrainOptions& options);

// The stiffness and the damping, the same for all springs, that follow the motion best: a search
// over four decades of stiffness.
Cloth homogeneous_start(const TrainingSet& set, const Stage& stage);

// Bending at the start, of the mean stiffness. From ten times as much a short descent does not come
// back.
inline constexpr double kBendStart = 3e-4;

// The descent that fits homogeneous networks.
DescentOptions homogeneous_descent(const MotionHeader& header, std::uint64_t seed);

// The parts of learn.h on a training set that is already there. `options` may differ from those of
// the set in the start and in how the descent goes.
Cloth fit_homogeneous(const TrainingSet& set, const DescentOptions& descent,
                      const Progress& progress);
TrainResult train(const TrainingSet& set, const TrainOptions& options, const TrainState* resume,
                  const TrainHooks& hooks, const Progress& progress);

}  // namespace springtime
