#include "backends/cuda/follow.h"

#include "backends/cuda/block_sum.h"

namespace springtime::cuda {

namespace {

struct FrameSums {
    double bent = 0, plain = 0;
    int seen = 0;

    __device__ FrameSums operator+(const FrameSums& other) const
    {
        return {bent + other.bent, plain + other.plain, seen + other.seen};
    }
};

struct LaneSums {
    double loss = 0, error = 0;
    int frames = 0, fast = 0;

    __device__ LaneSums operator+(const LaneSums& other) const
    {
        return {loss + other.loss, error + other.error, frames + other.frames, fast + other.fast};
    }
};

// From a landmark that is seen to that of the lane.
struct Distance {
    bool counts = false;
    double x = 0, y = 0, z = 0;

    __device__ double square() const { return x * x + y * y + z * z; }
};

__device__ Distance distance_of(const FollowView& view, int lane, int frame, int landmark)
{
    Distance distance;
    const TargetView& target = view.targets[lane];
    const std::size_t landmarks = std::size_t(view.map.landmarks);
    const float* seen =
        target.position + 3 * (std::size_t(frame) * landmarks + std::size_t(landmark));
    distance.counts = view.free[std::size_t(lane) * landmarks + std::size_t(landmark)] &&
                      seen[0] == seen[0];  // not missing
    if (!distance.counts) return distance;
    const std::size_t count = std::size_t(view.map.particles);
    const float* rows = view.states.from + std::size_t(lane) * view.states.lane_stride +
                        std::size_t(frame) * view.states.stride;
    float at[3] = {0, 0, 0};
    for (int j = 0; j < 4; ++j) {
        const float weight = view.map.weight[4 * landmark + j];
        if (weight == 0) continue;
        const float* from = rows + view.map.particle[4 * landmark + j];
        for (std::size_t axis = 0; axis < 3; ++axis) at[axis] += weight * from[axis * count];
    }
    distance.x = double(at[0]) - double(seen[0]);
    distance.y = double(at[1]) - double(seen[1]);
    distance.z = double(at[2]) - double(seen[2]);
    return distance;
}

// One block per lane and frame.
__global__ void measure_frames(FollowView view)
{
    const int frames = view.states.per_lane;
    const int lane = int(blockIdx.x) / frames, frame = int(blockIdx.x) % frames;
    FollowedFrame& measured = view.measured[int(blockIdx.x)];
    FrameSums mine;
    if (frame < view.targets[lane].frames) {
        for (int l = int(threadIdx.x); l < view.map.landmarks; l += kSumThreads) {
            const Distance d = distance_of(view, lane, frame, l);
            if (!d.counts) continue;
            mine = mine + FrameSums{view.loss.bent(d.square()), d.square(), 1};
        }
    }
    const FrameSums sums = block_sum(mine);
    if (threadIdx.x != 0) return;
    measured = {};
    if (sums.seen == 0) return;
    const double error = sqrt(sums.bent / sums.seen);
    measured = {view.loss.of(error), sqrt(sums.plain / sums.seen),
                view.loss.slope(error) / sums.seen, sums.seen};
}

// One block per lane. A blow-up may stay finite for a while; its error means nothing.
__global__ void sum_frames(FollowView view)
{
    const int frames = view.states.per_lane, lane = int(blockIdx.x);
    const FollowedFrame* measured = view.measured + std::size_t(lane) * std::size_t(frames);
    LaneSums mine;
    for (int f = int(threadIdx.x); f < frames; f += kSumThreads) {
        if (measured[f].seen == 0) continue;
        mine = mine + LaneSums{measured[f].loss, measured[f].error, 1, 0};
    }
    const std::size_t count = std::size_t(view.map.particles);
    const float* last = view.states.from + std::size_t(lane) * view.states.lane_stride +
                        std::size_t(view.targets[lane].frames - 1) * view.states.stride;
    for (std::size_t i = threadIdx.x; i < 3 * count; i += kSumThreads) {
        const double speed = double(last[3 * count + i]);
        mine.fast += !(speed <= view.speed_limit && -speed <= view.speed_limit);  // NaN is fast
    }
    const LaneSums sums = block_sum(mine);
    if (threadIdx.x != 0) return;
    const double none = nan("");
    FollowedLane& followed = view.followed[lane];
    followed = {sums.loss, sums.error, sums.frames};
    if (sums.fast > 0) followed = {none, none, sums.frames};
}

// One thread per lane, frame and particle. The adjoint of a landmark is that of the mean over the
// frames: scale h'(s) (x - x^) over their number.
__global__ void push(FollowView view, std::size_t items)
{
    const std::size_t item = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (item >= items) return;
    const std::size_t count = std::size_t(view.map.particles);
    const std::size_t p = item % count, row = item / count;
    const int frames = view.states.per_lane;
    const int lane = int(row / std::size_t(frames)), frame = int(row % std::size_t(frames));
    const FollowedFrame& measured = view.measured[row];
    const FollowedLane& followed = view.followed[lane];
    float sum[3] = {0, 0, 0};
    if (measured.seen > 0 && followed.loss - followed.loss == 0) {
        const double scale = measured.scale / followed.frames;
        for (int i = view.map.first[p]; i < view.map.first[p + 1]; ++i) {
            const Distance d = distance_of(view, lane, frame, view.map.landmark[i]);
            if (!d.counts) continue;
            const double by = scale * view.loss.bent_slope(d.square());
            sum[0] += view.map.share[i] * float(by * d.x);
            sum[1] += view.map.share[i] * float(by * d.y);
            sum[2] += view.map.share[i] * float(by * d.z);
        }
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
        view.adjoint[(3 * row + axis) * count + p] = sum[axis];
    }
}

}  // namespace

void measure(const FollowView& view)
{
    launch(summing<FrameSums>(view.lanes * view.states.per_lane), measure_frames, view);
    launch(summing<LaneSums>(view.lanes), sum_frames, view);
}

void push_positions(const FollowView& view)
{
    constexpr std::size_t kThreads = 128;
    const std::size_t items = std::size_t(view.lanes) * std::size_t(view.states.per_lane) *
                              std::size_t(view.map.particles);
    launch({int((items + kThreads - 1) / kThreads), int(kThreads)}, push, view, items);
}

}  // namespace springtime::cuda
