#include "backends/simd/lane_stepper.h"

#include "core/assert.h"

namespace springtime {

LaneStepper::LaneStepper(const Cloth& cloth, const SimulationOptions& options,
                         const KernelSet& kernels, int lanes)
    : kernels_(kernels),
      dt_(options.dt),
      air_(air_of(options.environment, options.dt)),
      particle_count_(cloth.particle_count()),
      table_(cloth),
      elements_(cloth),
      contact_(options, kernels.width),
      lane_time_(kernels.width, 0)
{
    SPRINGTIME_ASSERT(lanes >= 1 && lanes <= kernels.width);
    // Made one by one: a copy would have no room for its lists to grow.
    lanes_.reserve(lanes);
    for (int lane = 0; lane < lanes; ++lane) lanes_.emplace_back(cloth, options);
    const std::size_t numbers = particle_count_ * kernels_.width;
    position_.assign(3 * numbers, 0);
    velocity_.assign(3 * numbers, 0);
    force_.assign(3 * numbers, 0);
    mobility_.assign(numbers, 0);  // a lane that was never loaded stays at rest
    for (std::size_t p = 0; p < particle_count_; ++p) {
        index_.push_back(static_cast<int>(index(p, 0, 0)));
    }
}

void LaneStepper::load(int lane, const State& state, const Handles& handles)
{
    lanes_[lane].load(state, handles);
    const ScatteredParticles particles = scattered(lane);
    for (std::size_t p = 0; p < particle_count_; ++p) {
        particles.place(static_cast<int>(p), state.position[p], state.velocity[p]);
        mobility_[p * kernels_.width + lane] = float(dt_);
        for (int axis = 0; axis < 3; ++axis) force_[index(p, axis, lane)] = 0;
    }
    hold(lane, handles.particles);
}

void LaneStepper::hold(int lane, std::span<const int> particles)
{
    for (const int p : particles) mobility_[p * kernels_.width + lane] = 0;
    lanes_[lane].hold(particles);
}

void LaneStepper::begin_frame(const FrameMotion& motion)
{
    SPRINGTIME_ASSERT(lanes_.size() == 1);
    lanes_[0].begin_frame(motion);
}

void LaneStepper::store(int lane, State& state) const
{
    state.time = lanes_[lane].time();
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
        if (!elements_.empty()) {
            kernels_.lane_element_forces(elements_.view(), state, force_.data());
        }
        kernels_.lane_step(cloth, air_, aids, state, position_.data(), velocity_.data());
        finish_step(
            std::span(lanes_), [&](std::size_t lane) { return scattered(static_cast<int>(lane)); },
            [&] {
                if (!contact_.empty()) meet_obstacles();
            });
    }
}

ScatteredParticles LaneStepper::scattered(int lane)
{
    ScatteredParticles particles{{}, {}, index_.data()};
    for (int axis = 0; axis < 3; ++axis) {
        particles.x[axis] = position_.data() + index(0, axis, lane);
        particles.v[axis] = velocity_.data() + index(0, axis, lane);
    }
    return particles;
}

void LaneStepper::meet_obstacles()
{
    for (std::size_t l = 0; l < lanes_.size(); ++l) lane_time_[l] = lanes_[l].time();
    contact_.place(lane_time_, lanes_[0].walk());
    ContactParticles particles{long(particle_count_), 3L * kernels_.width, kernels_.width, {}, {},
                               mobility_.data()};
    for (int axis = 0; axis < 3; ++axis) {
        particles.position[axis] = position_.data() + axis * kernels_.width;
        particles.velocity[axis] = velocity_.data() + axis * kernels_.width;
    }
    kernels_.meet_obstacles(contact_.view(), particles);
}

}  // namespace springtime
