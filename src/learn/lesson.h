#pragma once

#include <vector>

#include "learn/clip_reader.h"
#include "springtime/learn.h"

namespace springtime {

// What is learned from: the motion seen through the surrogate's particles, and how it is shared
// out. The motion and the options must outlive it.
struct Lesson {
    Lesson(const MotionSource& motion, const TrainOptions& options);
    Lesson(const Lesson&) = delete;  // the reader points into it
    Lesson& operator=(const Lesson&) = delete;

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

    const MotionSource& motion;
    const TrainOptions& options;
    Cloth surrogate;  // not yet learned
    SimulationOptions step;
    int substeps;  // of that step; kAutoSubsteps for as many as are needed
    Resampler resampler;
    RolloutSplit split;
    ClipReader reader;
    std::vector<Rollout> validation;
};

class BatchGradient;

// The stiffness and the damping, the same for all springs, that follow the motion best: a search
// over four decades of stiffness. What the options give is taken as it is.
Cloth homogeneous_start(const Lesson& lesson, BatchGradient& gradient,
                        const std::function<bool(double share)>& keep_going = {});

}  // namespace springtime
