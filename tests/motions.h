#pragma once

#include <cmath>
#include <vector>

#include "gradients.h"
#include "springtime/generate.h"
#include "springtime/motion.h"

namespace springtime {

inline void append_vectors(std::vector<float>& to, const std::vector<Vec3d>& from)
{
    for (const Vec3d& a : from)
        for (int axis = 0; axis < 3; ++axis) to.push_back(float(a[axis]));
}

// To multiples of 2^-20: floats hold those below 16, so a clip that begins with them begins exactly
// there. (GCC 12 at -O2 may drop casts to float and back.)
inline State rounded_for_floats(State state)
{
    for (auto* vectors : {&state.position, &state.velocity})
        for (Vec3d& a : *vectors)
            for (int axis = 0; axis < 3; ++axis) a[axis] = std::round(a[axis] * 0x1p20) * 0x1p-20;
    return state;
}

// Every stride-th step of a run in double, stored in float.
inline Rollout recorded(const Scene& scene, std::size_t frames, int stride)
{
    Rollout rollout;
    rollout.handles = scene.handles;
    PlainRun<double> run(scene);
    for (; rollout.frame_count < frames; ++rollout.frame_count) {
        for (int i = 0; i < stride && rollout.frame_count > 0; ++i) run.step();
        append_vectors(rollout.position, run.position);
        append_vectors(rollout.velocity, run.velocity);
        append_vectors(rollout.acceleration, run.acceleration());
    }
    return rollout;
}

// Frames first .. first + count - 1, with the times of all.
inline Rollout frames_of(const Rollout& rollout, std::size_t first, std::size_t count)
{
    return rollout.frames(first, count, 0);
}

// A motion that lies in memory.
inline Motion motion_of(const MotionHeader& header, std::vector<Rollout> rollouts)
{
    return Motion::from_rollouts(header, std::move(rollouts));
}

inline Motion generated_motion(const Cloth& cloth, const GenerateOptions& options)
{
    MotionHeader header;
    header.sheet = cloth.sheet;
    header.rest = cloth.rest;
    header.dt = options.dt;
    header.stride = options.stride;
    header.environment = options.environment;
    std::vector<Rollout> rollouts;
    generate(cloth, options, 0, [&](int, const Rollout& rollout) { rollouts.push_back(rollout); },
             {});
    return motion_of(header, std::move(rollouts));
}

}  // namespace springtime
