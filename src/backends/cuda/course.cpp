#include "backends/cuda/course.h"

#include <algorithm>
#include <cmath>

namespace springtime::cuda {

namespace {

// Of one launch: what moves is written down for each step.
constexpr int kLaunchSteps = 2048;

int rounded_up(int steps, int part)
{
    return (steps + part - 1) / part * part;
}

}  // namespace

// About as many steps as there are stretches. Where launches end makes no difference to sums.
int Course::stretch_of(const CourseShape& shape) const
{
    const int length = int(std::sqrt(double(shape.steps)));
    return std::clamp(rounded_up(length, carry_steps(shape.stride)), 1, std::max(shape.steps, 1));
}

int Course::launch_of(const CourseShape& shape, std::size_t lanes) const
{
    const int most = std::min(kLaunchSteps, steps_of_launch(lanes * engine_.particle_count()));
    const int part = carry_steps(shape.stride);
    return std::max(most / part * part, part);
}

std::size_t Course::bytes_per_lane(const CourseShape& shape, bool all) const
{
    const std::size_t state = kStateRows * engine_.particle_count() * sizeof(float);
    std::size_t states = std::size_t(shape.frames());
    if (shape.back && all) {
        states = std::size_t(shape.steps) + 1;
    } else if (shape.back) {
        const int stretch = stretch_of(shape);
        states += std::size_t(stretch) + 1 + std::size_t(shape.steps / stretch) + 1;
    }
    const int launch = std::min(shape.steps, std::max(kLaunchSteps, shape.stride));
    return states * state + (shape.back ? engine_.bytes_per_lane_back() : 0) + shape.other +
           std::size_t(shape.lane_sets) *
               LaneSet::bytes_per_lane(engine_.particle_count(), shape.moving_handles, launch);
}

// To keep all steps saves a run, unless it leaves processors idle.
std::size_t Course::lanes_that_fit(const CourseShape& shape, std::size_t lanes) const
{
    const std::size_t with_all = memory_ / bytes_per_lane(shape, true);
    const std::size_t with_stretches = memory_ / bytes_per_lane(shape, false);
    const std::size_t busy = std::min(std::size_t(multiprocessor_count()), with_stretches);
    return std::clamp(std::max(with_all, busy), std::size_t(1), std::max<std::size_t>(lanes, 1));
}

void Course::release()
{
    for (auto* array : {&tape_, &kept_, &frame_states_}) array->release();
}

void Course::make_room(const CourseShape& shape, std::size_t lanes)
{
    shape_ = shape;
    keeps_all_ = shape.back && lanes * bytes_per_lane(shape, true) <= memory_;
    const std::size_t size = kStateRows * engine_.particle_count();
    const std::size_t frames = std::size_t(shape.frames());
    const int stretch = stretch_of(shape);
    tape_stride_ = (std::size_t(keeps_all_ ? shape.steps : stretch) + 1) * size;
    kept_stride_ = (std::size_t(shape.steps / stretch) + 1) * size;
    if (shape.back) tape_.resize(lanes * tape_stride_);
    if (keeps_all_) {
        frames_ = {tape_.data(), tape_stride_, std::size_t(shape.stride) * size, int(frames)};
        return;
    }
    if (shape.back) kept_.resize(lanes * kept_stride_);
    frame_states_.resize(lanes * frames * size);
    frames_ = {frame_states_.data(), frames * size, size, int(frames)};
}

void Course::run(LaneSet& lanes, int first, int count, const Records& records)
{
    lanes.send(first, count);
    engine_.advance(lanes, first, count, records);
}

// The present states.
void Course::keep_state(LaneSet& lanes, DeviceArray<float>& to, std::size_t place,
                        std::size_t lane_stride)
{
    const std::size_t state = kStateRows * lanes.particles() * sizeof(float);
    SPRINGTIME_CUDA(cudaMemcpy2DAsync(to.data() + place, lane_stride * sizeof(float),
                                      lanes.view().state, state, state, std::size_t(lanes.count()),
                                      cudaMemcpyDeviceToDevice));
}

void Course::there(LaneSet& lanes, const CourseShape& shape, const std::function<void()>& heartbeat)
{
    make_room(shape, std::size_t(lanes.count()));
    const std::size_t size = kStateRows * lanes.particles();
    DeviceArray<float>& records = keeps_all_ ? tape_ : frame_states_;
    const int every = keeps_all_ ? 1 : shape.stride;
    const int stretch = shape.back && !keeps_all_ ? stretch_of(shape) : shape.steps;
    const int launch = launch_of(shape, std::size_t(lanes.count()));
    lanes.send(0, 0);
    keep_state(lanes, records, 0, frames_.lane_stride);
    for (int first = 0; first < shape.steps;) {
        const int place = first % stretch;
        if (shape.back && !keeps_all_ && place == 0) {
            keep_state(lanes, kept_, std::size_t(first / stretch) * size, kept_stride_);
        }
        const int count = std::min({launch, stretch - place, shape.steps - first});
        run(lanes, first, count,
            {records.data() + std::size_t(first / every + 1) * size, frames_.lane_stride, every});
        first += count;
        pace_.launched(heartbeat);
    }
}

void Course::back(LaneSet& lanes, const FrameAdjoints& adjoints,
                  const std::function<void()>& heartbeat)
{
    engine_.begin_back(lanes);
    if (keeps_all_) return back_over_all(lanes, adjoints, heartbeat);
    const int stretch = stretch_of(shape_);
    for (int i = (shape_.steps - 1) / stretch; i >= 0; --i) {
        back_over_stretch(lanes, i * stretch, adjoints, heartbeat);
    }
}

void Course::back_over_all(LaneSet& lanes, const FrameAdjoints& adjoints,
                           const std::function<void()>& heartbeat)
{
    const std::size_t size = kStateRows * lanes.particles();
    const int launch = launch_of(shape_, std::size_t(lanes.count()));
    int end = shape_.steps;
    do {
        const int first = std::max(end - 1, 0) / launch * launch;
        engine_.retreat(lanes, first, end - first, tape_.data() + std::size_t(first) * size,
                        tape_stride_, adjoints);
        end = first;
        pace_.launched(heartbeat);
    } while (end > 0);
}

void Course::back_over_stretch(LaneSet& lanes, int first, const FrameAdjoints& adjoints,
                               const std::function<void()>& heartbeat)
{
    const std::size_t size = kStateRows * lanes.particles(), state = size * sizeof(float);
    const int count = std::min(stretch_of(shape_), shape_.steps - first);
    const float* start = kept_.data() + std::size_t(first / stretch_of(shape_)) * size;
    SPRINGTIME_CUDA(cudaMemcpy2DAsync(lanes.view().state, state, start,
                                      kept_stride_ * sizeof(float), state,
                                      std::size_t(lanes.count()), cudaMemcpyDeviceToDevice));
    keep_state(lanes, tape_, 0, tape_stride_);
    const int launch = launch_of(shape_, std::size_t(lanes.count()));
    for (int done = 0; done < count;) {
        const int steps = std::min(launch, count - done);
        run(lanes, first + done, steps,
            {tape_.data() + std::size_t(done + 1) * size, tape_stride_, 1});
        done += steps;
        pace_.launched(heartbeat);
    }
    engine_.retreat(lanes, first, count, tape_.data(), tape_stride_, adjoints);
    pace_.launched(heartbeat);
}

}  // namespace springtime::cuda
