#include "cuda_falling.h"

#include "backends/cuda/launch.h"

namespace springtime::cuda {

namespace {

// One block per lane.
__global__ void fall_kernel(FallingView falling, ContactView contact, int steps)
{
    const int lane = int(blockIdx.x), n = falling.particles;
    float* state = falling.state + std::size_t(lane) * 6 * n;
    for (int p = int(threadIdx.x); p < n; p += int(blockDim.x)) {
        Vec3<float> x{state[p], state[n + p], state[2 * n + p]};
        Vec3<float> v{state[3 * n + p], state[4 * n + p], state[5 * n + p]};
        for (int step = 0; step < steps; ++step) {
            v += falling.dt * falling.gravity;
            x += falling.dt * v;
            meet_obstacles(contact, lane, step, x, v, falling.dt);
        }
        for (int axis = 0; axis < 3; ++axis) {
            state[axis * n + p] = x[axis];
            state[(3 + axis) * n + p] = v[axis];
        }
    }
}

}  // namespace

void fall(const FallingView& falling, const ContactView& contact, int steps)
{
    launch({falling.lanes, 128}, fall_kernel, falling, contact, steps);
}

}  // namespace springtime::cuda
