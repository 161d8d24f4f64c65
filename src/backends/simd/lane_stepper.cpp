#include "backends/simd/lane_stepper.h"

#include <algorithm>
#include <numeric>

#include "core/assert.h"

namespace springtime {

Air air_of(const SimulationOptions& options)
{
    const Environment& e = options.environment;
    return {{float(e.gravity.x), float(e.gravity.y), float(e.gravity.z)},
            {float(e.wind.x), float(e.wind.y), float(e.wind.z)},
            float(e.drag),
            float(options.dt)};
}

LaneStepper::LaneStepper(const Cloth& cloth, const SimulationOptions& options,
                         const KernelSet& kernels, int lanes)
    : kernels_(kernels),
      dt_(options.dt),
      air_(air_of(options)),
      particle_count_(cloth.particle_count()),
      lanes_(lanes)
{
    SPRINGTIME_ASSERT(lanes >= 1 && lanes <= kernels.width);
    const SpringSet& set = cloth.springs;
    std::vector<int> order(set.spring_count());
    std::iota(order.begin(), order.end(), 0);
    const auto ends = [&](int s) { return std::minmax(set.ends[s][0], set.ends[s][1]); };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return ends(a) < ends(b); });

    first_.assign(particle_count_ + 1, 0);
    for (const int s : order) {
        const auto [low, high] = ends(s);
        ++first_[low + 1];
        springs_.push_back(
            {high, float(set.rest_length[s]), float(set.stiffness[s]), float(set.damping[s])});
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    for (const double mass : cloth.mass) inverse_mass_.push_back(float(1 / mass));

    const std::size_t numbers = particle_count_ * kernels_.width;
    position_.assign(3 * numbers, 0);
    velocity_.assign(3 * numbers, 0);
    force_.assign(3 * numbers, 0);
    mobility_.assign(numbers, 0);  // a lane that was never loaded stays at rest
}

void LaneStepper::place(int lane, std::size_t particle, const Vec3d& position,
                        const Vec3d& velocity)
{
    for (int axis = 0; axis < 3; ++axis) {
        position_[index(particle, axis, lane)] = float(position[axis]);
        velocity_[index(particle, axis, lane)] = float(velocity[axis]);
    }
}

void LaneStepper::load(int lane, const State& state, const Handles& handles)
{
    lanes_[lane] = {handles, state.time, 0};
    for (std::size_t p = 0; p < particle_count_; ++p) {
        place(lane, p, state.position[p], state.velocity[p]);
        mobility_[p * kernels_.width + lane] = float(dt_);
        for (int axis = 0; axis < 3; ++axis) force_[index(p, axis, lane)] = 0;
    }
    for (const int p : handles.particles) mobility_[p * kernels_.width + lane] = 0;
}

void LaneStepper::store(int lane, State& state) const
{
    state.time = time(lanes_[lane]);
    for (std::size_t p = 0; p < particle_count_; ++p) {
        for (int axis = 0; axis < 3; ++axis) {
            state.position[p][axis] = position_[index(p, axis, lane)];
            state.velocity[p][axis] = velocity_[index(p, axis, lane)];
        }
    }
}

void LaneStepper::advance(int steps)
{
    const SweepCloth cloth{static_cast<int>(particle_count_), first_.data(), springs_.data(),
                           inverse_mass_.data()};
    const LaneArrays arrays{position_.data(), velocity_.data(), force_.data(), mobility_.data()};
    for (int i = 0; i < steps; ++i) {
        kernels_.lane_step(cloth, air_, arrays);
        for (Lane& lane : lanes_) ++lane.steps;
        place_moving_handles();
    }
}

void LaneStepper::place_moving_handles()
{
    for (std::size_t l = 0; l < lanes_.size(); ++l) {
        const Lane& lane = lanes_[l];
        if (!lane.handles.moving()) continue;
        for (std::size_t h = 0; h < lane.handles.particles.size(); ++h) {
            const HandlePose pose = handle_pose(lane.handles, h, time(lane), dt_);
            place(static_cast<int>(l), lane.handles.particles[h], pose.position, pose.velocity);
        }
    }
}

}  // namespace springtime
