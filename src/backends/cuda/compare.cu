#include "backends/cuda/compare.h"

#include "backends/cuda/block_sum.h"

namespace springtime::cuda {

namespace {

// All that a clip's terms are made of.
struct ClipSums {
    double force = 0, position = 0, impulse = 0;
    int seen_force = 0, seen_position = 0, told = 0, fast = 0;

    __device__ ClipSums operator+(const ClipSums& other) const
    {
        return {force + other.force,
                position + other.position,
                impulse + other.impulse,
                seen_force + other.seen_force,
                seen_position + other.seen_position,
                told + other.told,
                fast + other.fast};
    }
};

__device__ bool is_seen(float value)
{
    return value == value;
}

// One axis of one particle in a lane.
struct Number {
    int lane;
    std::size_t p, axis;
};

// Of the values of `frames` frames per lane.
__device__ std::size_t in_target(const CompareView& view, const Number& number, int frame,
                                 int frames)
{
    const std::size_t row = std::size_t(number.lane) * std::size_t(frames) + std::size_t(frame);
    return (row * std::size_t(view.particles) + number.p) * 3 + number.axis;
}
__device__ std::size_t in_rows(const CompareView& view, const Number& number, int frame, int frames)
{
    const std::size_t row = std::size_t(number.lane) * std::size_t(frames) + std::size_t(frame);
    return (3 * row + number.axis) * std::size_t(view.particles) + number.p;
}

__device__ bool is_free(const CompareView& view, const Number& number)
{
    return view.mobility[std::size_t(number.lane) * std::size_t(view.particles) + number.p] > 0;
}

__device__ const float* state_of(const CompareView& view, int lane, int frame)
{
    return view.states.from + std::size_t(lane) * view.states.lane_stride +
           std::size_t(frame) * view.states.stride;
}

// Zero where a target is missing.
__device__ double position_difference(const CompareView& view, const Number& number, int frame)
{
    const std::size_t at = in_target(view, number, frame, view.states.per_lane);
    const float target = view.target_position[at];
    const float x =
        state_of(view, number.lane, frame)[number.axis * std::size_t(view.particles) + number.p];
    return is_seen(target) ? double(x) - double(target) : 0;
}
// Of the net force; `which` of the accelerations.
__device__ double force_difference(const CompareView& view, const Number& number, int which)
{
    const int frames = view.acceleration_frames();
    const float target = view.target_acceleration[in_target(view, number, which, frames)];
    const float a = view.acceleration[in_rows(view, number, which, frames)];
    return is_seen(target) ? double(view.mass[number.p]) * (double(a) - double(target)) : 0;
}
// `end` is 0 or 1.
__device__ double velocity_difference(const CompareView& view, const Number& number, int end)
{
    const float target = view.target_velocity[in_target(view, number, end, 2)];
    const float* state = state_of(view, number.lane, end == 0 ? 0 : view.states.per_lane - 1);
    const float v = state[(3 + number.axis) * std::size_t(view.particles) + number.p];
    return double(v) - double(target);
}

// Whether both ends are there.
__device__ bool tells_impulse(const CompareView& view, const Number& number)
{
    bool told = true;
    for (int end = 0; end < 2; ++end) {
        const int which = end == 0 ? 0 : view.acceleration_frames() - 1;
        told &= is_seen(view.target_velocity[in_target(view, number, end, 2)]) &&
                is_seen(view.target_acceleration[in_target(view, number, which,
                                                           view.acceleration_frames())]);
    }
    return told;
}

// Of J = m (v_T - v_0) + dt/2 m (a_T - a_0) to its target.
__device__ double impulse_difference(const CompareView& view, const Number& number)
{
    double difference = 0;
    for (int end = 0; end < 2; ++end) {
        const int which = end == 0 ? 0 : view.acceleration_frames() - 1;
        const double part = double(view.mass[number.p]) * velocity_difference(view, number, end) +
                            0.5 * view.dt * force_difference(view, number, which);
        difference += end == 0 ? -part : part;
    }
    return difference;
}

// One block per lane and frame.
__global__ void compare_frames(CompareView view)
{
    const int frames = view.states.per_lane;
    const int lane = int(blockIdx.x) / frames, frame = int(blockIdx.x) % frames;
    ComparedFrame mine;
    for (std::size_t j = threadIdx.x; j < 3 * std::size_t(view.particles); j += kSumThreads) {
        const Number number{lane, j / 3, j % 3};
        const bool free = is_free(view, number);
        if (view.weights.force != 0) {
            mine.seen_force +=
                is_seen(view.target_acceleration[in_target(view, number, frame, frames)]);
            const double d = free ? force_difference(view, number, frame) : 0;
            mine.force += d * d;
        }
        if (view.weights.position != 0) {
            mine.seen_position +=
                is_seen(view.target_position[in_target(view, number, frame, frames)]);
            const double d = free ? position_difference(view, number, frame) : 0;
            mine.position += d * d;
        }
    }
    const ComparedFrame sum = block_sum(mine);
    if (threadIdx.x == 0) view.frames[int(blockIdx.x)] = sum;
}

// Differences are zero where a target is missing. This makes a mean over all of them one over those
// that are seen.
__device__ double by_seen(double all, int seen)
{
    return seen > 0 ? all / seen : 0;
}

// One block per lane. A blow-up may stay finite for a while; its loss means nothing.
__global__ void sum_clips(CompareView view)
{
    const int lane = int(blockIdx.x), frames = view.states.per_lane;
    const std::size_t numbers = 3 * std::size_t(view.particles);
    ClipSums mine;
    for (int f = int(threadIdx.x); f < frames; f += kSumThreads) {
        const ComparedFrame& frame =
            view.frames[std::size_t(lane) * std::size_t(frames) + std::size_t(f)];
        mine =
            mine +
            ClipSums{frame.force, frame.position, 0, frame.seen_force, frame.seen_position, 0, 0};
    }
    const float* last = state_of(view, lane, frames - 1) + numbers;
    for (std::size_t j = threadIdx.x; j < numbers; j += kSumThreads) {
        const double speed = double(last[j]);
        mine.fast += !(speed <= view.speed_limit && -speed <= view.speed_limit);  // NaN is fast
        if (view.weights.impulse == 0) continue;
        const Number number{lane, j / 3, j % 3};
        const bool told = tells_impulse(view, number);
        mine.told += told;
        const double d = told && is_free(view, number) ? impulse_difference(view, number) : 0;
        view.impulse[in_rows(view, number, 0, 1)] = float(d);
        mine.impulse += d * d;
    }
    const ClipSums sums = block_sum(mine);
    if (threadIdx.x != 0) return;
    const double all = double(numbers) * frames, particles = double(view.particles);
    ComparedClip& clip = view.clips[lane];
    clip = {};
    clip.by_seen = {by_seen(all, sums.seen_force), by_seen(double(numbers), sums.told),
                    by_seen(all, sums.seen_position)};
    clip.terms = {clip.by_seen.force * sums.force / (particles * frames),
                  clip.by_seen.impulse * sums.impulse / particles,
                  clip.by_seen.position * sums.position / (particles * frames)};
    if (sums.fast > 0) clip.terms.position = nan("");
}

// One thread per number of a lane and frame.
__global__ void push(CompareView view, double scale, std::size_t items)
{
    const std::size_t item = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (item >= items) return;
    const std::size_t count = std::size_t(view.particles), row = item / count;
    const int frames = view.states.per_lane;
    const int frame = int(row / 3 % std::size_t(frames)), lane = int(row / 3 / std::size_t(frames));
    const Number number{lane, item % count, row % 3};
    const ComparedClip& clip = view.clips[lane];
    const bool free = is_free(view, number);
    const double mass = double(view.mass[number.p]);
    const double over_frames = scale * 2 / (double(count) * frames);
    const bool is_last = frame == frames - 1;
    double impulse = 0;
    if (view.weights.impulse != 0 && free) {
        impulse = scale * 2 * view.weights.impulse / double(count) * clip.by_seen.impulse *
                  double(view.impulse[in_rows(view, number, 0, 1)]);
    }
    if (view.position_adjoint) {
        const double by = over_frames * view.weights.position * clip.by_seen.position;
        view.position_adjoint[item] =
            free ? float(by * position_difference(view, number, frame)) : 0;
    }
    if (view.velocity_adjoint) view.velocity_adjoint[item] = is_last ? float(mass * impulse) : 0;
    if (view.acceleration_adjoint) {
        double by = 0;
        if (view.weights.force != 0 && free) {
            by = over_frames * view.weights.force * clip.by_seen.force *
                 force_difference(view, number, frame);
        }
        const double sign = is_last ? 1 : frame == 0 ? -1 : 0;
        by += sign * 0.5 * view.dt * impulse;
        view.acceleration_adjoint[item] = float(mass * by);
    }
}

}  // namespace

void compare(const CompareView& view)
{
    launch(summing<ComparedFrame>(view.lanes * view.states.per_lane), compare_frames, view);
    launch(summing<ClipSums>(view.lanes), sum_clips, view);
}

void push_differences(const CompareView& view, double scale)
{
    constexpr std::size_t kThreads = 128;
    const std::size_t items = 3 * std::size_t(view.lanes) * std::size_t(view.states.per_lane) *
                              std::size_t(view.particles);
    launch({int((items + kThreads - 1) / kThreads), int(kThreads)}, push, view, scale, items);
}

}  // namespace springtime::cuda
