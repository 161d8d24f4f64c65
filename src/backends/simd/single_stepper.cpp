#include "backends/simd/single_stepper.h"

#include <algorithm>

namespace springtime {

SingleStepper::SingleStepper(const Cloth& cloth, const SimulationOptions& options,
                             const KernelSet& kernels)
    : kernels_(kernels),
      dt_(options.dt),
      air_(air_of(options)),
      contact_(options, kernels.width),
      lane_time_(kernels.width, 0)
{
    if (options.self_distance > 0) self_.emplace(cloth, options.self_distance, options.dt);
}

void SingleStepper::begin(const State& state, const Handles& handles)
{
    handles_ = handles;
    start_time_ = state.time;
    steps_ = 0;
    if (self_) self_->load(handles);
}

void SingleStepper::finish_step()
{
    ++steps_;
    if (handles_.moving()) {
        for (std::size_t h = 0; h < handles_.particles.size(); ++h) {
            const HandlePose pose = handle_pose(handles_, h, time(), dt_);
            place(handles_.particles[h], pose.position, pose.velocity);
        }
    }
    if (self_) self_->apply(scattered());
    if (contact_.empty()) return;
    std::fill(lane_time_.begin(), lane_time_.end(), time());
    contact_.place(lane_time_);
    meet_obstacles(contact_.view());
}

}  // namespace springtime
