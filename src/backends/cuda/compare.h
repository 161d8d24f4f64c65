#pragma once

#include "backends/cuda/engine.h"
#include "sim/clip_gradient.h"
#include "springtime/vec3.h"

// How far lanes are from the clips that they are compared with, and what that says of their states.
// The terms are those of ClipLoss (learn/loss.h).
namespace springtime::cuda {

// Sums of squares over the free particles of a frame, and how many numbers of it are seen.
struct ComparedFrame {
    double force = 0, position = 0;
    int seen_force = 0, seen_position = 0;

    __device__ ComparedFrame operator+(const ComparedFrame& other) const
    {
        return {force + other.force, position + other.position, seen_force + other.seen_force,
                seen_position + other.seen_position};
    }
};

// The terms of a clip, and what makes a mean over all numbers one over those that are seen.
struct ComparedClip {
    ClipTerms terms;  // the position term is NaN where the cloth blew up
    ClipTerms by_seen;
};

struct CompareView {
    int lanes = 0, particles = 0;
    StatesView states;                // at frames
    const float* mass = nullptr;      // by particle
    const float* mobility = nullptr;  // [lane][particle]: zero for what is held
    ClipTerms weights;
    double dt = 0, speed_limit = 0;
    // Of all frames where forces count, else of the first and the last, [lane][frame][xyz]
    // [particle].
    const float* acceleration = nullptr;
    // Targets, [lane][frame][particle][xyz], NaN where one is missing; null where no term needs
    // them. There are as many accelerations as above, and velocities of the first frame and the
    // last.
    const float* target_position = nullptr;
    const float* target_velocity = nullptr;
    const float* target_acceleration = nullptr;
    ComparedFrame* frames = nullptr;  // [lane][frame]
    ComparedClip* clips = nullptr;    // by lane
    float* impulse = nullptr;         // its difference to the target, [lane][xyz][particle]
    // What comes of it, [lane][frame][xyz][particle]; null where nothing does.
    float* position_adjoint = nullptr;
    float* velocity_adjoint = nullptr;
    float* acceleration_adjoint = nullptr;

    SPRINGTIME_HD int acceleration_frames() const
    {
        return weights.force != 0 ? states.per_lane : 2;
    }
};

// Fills `frames`, `clips` and `impulse`.
void compare(const CompareView& view);
// Fills the adjoints from them, of `scale` times the weighted sum of a clip's terms.
void push_differences(const CompareView& view, double scale);

}  // namespace springtime::cuda
