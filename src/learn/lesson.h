#pragma once

#include <vector>

#include "learn/clip_reader.h"
#include "springtime/train.h"

namespace springtime {

// What is learned from: the motion seen through the surrogate's particles, and how it is shared
// out. The motion and the options must outlive it.
struct Lesson {
    Lesson(const MotionSource& motion, const TrainOptions& options);
    Lesson(const Lesson&) = delete;  // the reader points into it
    Lesson& operator=(const Lesson&) = delete;

    // Clips to train on; of the last seconds of each rollout only when tail_seconds is positive.
    std::vector<Clip> training_clips(double tail_seconds) const;

    const MotionSource& motion;
    const TrainOptions& options;
    Cloth surrogate;  // not yet learned
    SimulationOptions step;
    Resampler resampler;
    RolloutSplit split;
    ClipReader reader;
    std::vector<Rollout> validation;  // clips
};

class BatchGradient;

// The stiffness and the damping, the same for all springs, that follow the motion best: a search
// over four decades of stiffness. What the options give is taken as it is.
Cloth homogeneous_start(const Lesson& lesson, BatchGradient& gradient,
                        const std::function<bool(double share)>& keep_going = {});

}  // namespace springtime
