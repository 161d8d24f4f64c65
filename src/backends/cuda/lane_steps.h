#pragma once

#include "backends/cuda/engine.h"
#include "backends/cuda/unroll.h"

// What every kernel reads of a lane beside its state.
namespace springtime::cuda {

__device__ __forceinline__ Vec3f vector_at(const float* rows, std::size_t count,
                                           std::size_t particle)
{
    return {rows[particle], rows[count + particle], rows[2 * count + particle]};
}

// Which of the driven particles of its lane a particle is, or -1.
__device__ __forceinline__ int driven_slot(const LaneView& lanes, int lane, int particle)
{
    if (!lanes.driven_slot) return -1;
    return lanes
        .driven_slot[std::size_t(lane) * std::size_t(lanes.particles) + std::size_t(particle)];
}
// Puts one of them where it is after a step of the launch.
__device__ __forceinline__ void place_driven(const LaneView& lanes, int lane, int step, int slot,
                                             Vec3f& position, Vec3f& velocity)
{
    const auto take = [](float& to, float value) {
        if (value == value) to = value;  // NaN: nothing is said of it
    };
    const float* pose =
        lanes.driven + ((std::size_t(lane) * std::size_t(lanes.driven_steps) + std::size_t(step)) *
                            std::size_t(lanes.driven_width) +
                        std::size_t(slot)) *
                           kStateRows;
    SPRINGTIME_UNROLL
    for (int axis = 0; axis < 3; ++axis) {
        take(position[axis], pose[axis]);
        take(velocity[axis], pose[3 + axis]);
    }
}

// What a frame adds to the adjoint of its state: null where nothing does.
struct LaneFrame {
    const float *position = nullptr, *velocity = nullptr;  // [xyz][particle]
    const float* acceleration = nullptr;

    __device__ LaneFrame() {}
    // Of a lane, at a step.
    __device__ LaneFrame(const FrameAdjoints& all, int lane, int step, std::size_t particles)
    {
        const int frame = step / all.stride;
        const bool here = step % all.stride == 0 && frame < all.frames;
        const std::size_t first =
            std::size_t(lane) * all.lane_stride + std::size_t(frame) * 3 * particles;
        position = here && all.position ? all.position + first : nullptr;
        velocity = here && all.velocity ? all.velocity + first : nullptr;
        acceleration = here && all.acceleration ? all.acceleration + first : nullptr;
    }
};

}  // namespace springtime::cuda
