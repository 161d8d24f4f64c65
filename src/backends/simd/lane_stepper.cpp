#include "backends/simd/lane_stepper.h"

#include "core/assert.h"

namespace springtime {

LaneStepper::LaneStepper(const Cloth& cloth, const SimulationOptions& options,
                         const KernelSet& kernels, int lanes)
    : kernels_(kernels),
      dt_(options.dt),
      air_(air_of(options)),
      particle_count_(cloth.particle_count()),
      table_(cloth),
      lanes_(lanes),
      contact_(options, kernels.width),
      lane_time_(kernels.width, 0)
{
    SPRINGTIME_ASSERT(lanes >= 1 && lanes <= kernels.width);
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
    const SweepCloth cloth = table_.view();
    const LaneAids aids{force_.data(), mobility_.data()};
    const LaneState state{position_.data(), velocity_.data()};
    for (int i = 0; i < steps; ++i) {
        kernels_.lane_step(cloth, air_, aids, state, position_.data(), velocity_.data());
        for (Lane& lane : lanes_) ++lane.steps;
        place_moving_handles();
        if (!contact_.empty()) meet_obstacles();
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

void LaneStepper::meet_obstacles()
{
    for (std::size_t l = 0; l < lanes_.size(); ++l) lane_time_[l] = time(lanes_[l]);
    contact_.place(lane_time_);
    ContactParticles particles{long(particle_count_), 3L * kernels_.width, kernels_.width, {}, {},
                               mobility_.data()};
    for (int axis = 0; axis < 3; ++axis) {
        particles.position[axis] = position_.data() + axis * kernels_.width;
        particles.velocity[axis] = velocity_.data() + axis * kernels_.width;
    }
    kernels_.meet_obstacles(contact_.view(), particles);
}

}  // namespace springtime
