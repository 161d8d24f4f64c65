#include "backends/cuda/frames.h"

#include "backends/cuda/device_array.h"
#include "backends/cuda/lane_set.h"
#include "backends/cuda/launch.h"

namespace springtime::cuda {

namespace {

// One thread per lane, frame and particle.
__global__ void pack(FramesView view, long items)
{
    const long item = long(blockIdx.x) * long(blockDim.x) + long(threadIdx.x);
    if (item >= items) return;
    const std::size_t count = std::size_t(view.particles);
    const std::size_t p = std::size_t(item) % count, row = std::size_t(item) / count;
    const std::size_t lane = row / std::size_t(view.frames), frame = row % std::size_t(view.frames);
    const float* state = view.state + lane * view.lane_stride + frame * kStateRows * count + p;
    const std::size_t arrays = view.acceleration ? 3 : 2;
    const std::size_t array_size = 3 * std::size_t(view.frames) * count;
    float* to = view.packed + lane * arrays * array_size + 3 * (frame * count + p);
    double squared_speed = 0;
    bool finite = true;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const float x = state[axis * count], v = state[(3 + axis) * count];
        to[axis] = x;
        to[array_size + axis] = v;
        squared_speed += double(v) * double(v);
        finite &= x - x == 0;
    }
    if (view.acceleration) {
        const float* a = view.acceleration + 3 * row * count + p;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            to[2 * array_size + axis] = a[axis * count];
        }
    }
    // Written so that NaN fails. All that write here write the same.
    const bool good = squared_speed <= view.speed_limit * view.speed_limit && finite;
    if (!good) view.bad[row] = 1;
}

}  // namespace

void pack_frames(const FramesView& view)
{
    constexpr int kThreads = 256;
    const long rows = long(view.lanes) * view.frames;
    if (rows == 0) return;
    SPRINGTIME_CUDA(cudaMemsetAsync(view.bad, 0, std::size_t(rows) * sizeof(int)));
    const long items = rows * view.particles;
    launch({int((items + kThreads - 1) / kThreads), kThreads}, pack, view, items);
}

}  // namespace springtime::cuda
