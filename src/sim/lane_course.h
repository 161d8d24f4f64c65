#pragma once

#include <optional>
#include <span>

#include "sim/frame_motion.h"
#include "sim/self_collision.h"
#include "sim/stepper.h"

namespace springtime {

// What happens to one state beside the forces: its clock, what is held and how that moves, and its
// contact with itself.
class LaneCourse {
  public:
    LaneCourse(const Cloth& cloth, const SimulationOptions& options) : dt_(options.dt)
    {
        if (options.self_distance > 0) self_.emplace(cloth, options.self_distance, options.dt);
    }

    void load(const State& state, const Handles& handles)
    {
        handles_ = handles;
        start_time_ = state.time;
        steps_ = 0;
        loaded_ = true;
        walk_.begin(nullptr);
        if (!self_) return;
        self_->free_all();
        self_->hold(handles.particles);
    }
    // Beside the handles of load().
    void hold(std::span<const int> particles)
    {
        if (self_) self_->hold(particles);
    }
    void begin_frame(const FrameMotion& motion) { walk_.begin(&motion); }

    double time() const { return start_time_ + double(steps_) * dt_; }
    const FrameWalk& walk() const { return walk_; }

    // After a step: what is held goes on, then particles that are too close are put apart.
    // Particles has position(p), velocity(p), place(p, position, velocity) and move(p, change of
    // position, of velocity).
    template <class Particles>
    void finish_step(const Particles& particles)
    {
        ++steps_;
        walk_.next_step();
        const auto place = [&](int p, const Vec3d& x, const Vec3d& v) { particles.place(p, x, v); };
        place_moving_handles(handles_, time(), dt_, place);
        walk_.place_particles(dt_, place);
        // The particles of a lane that was never loaded all lie in one place.
        if (self_ && loaded_) self_->apply(particles);
    }

  private:
    double dt_;
    std::optional<SelfCollision> self_;
    Handles handles_;
    FrameWalk walk_;
    double start_time_ = 0;
    long steps_ = 0;
    bool loaded_ = false;
};

// What follows the Euler step of all particles, in this order: handles, contact of the cloth with
// itself, obstacles. They have the last word, so that nothing ends inside them.
template <class ParticlesOf, class MeetObstacles>
void finish_step(std::span<LaneCourse> lanes, ParticlesOf particles_of,
                 MeetObstacles meet_obstacles)
{
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
        lanes[lane].finish_step(particles_of(lane));
    }
    meet_obstacles();
}

}  // namespace springtime
