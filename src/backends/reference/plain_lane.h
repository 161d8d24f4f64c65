#pragma once

#include <vector>

#include "physics/euler.h"
#include "sim/forces.h"
#include "sim/obstacle_frame.h"
#include "sim/stepper.h"

namespace springtime {

// One state advanced by plain loops over springs and particles. In double it is the oracle of all
// other backends; in float it is what the benchmarks measure them against.
template <class Real>
class PlainLane {
  public:
    PlainLane(const ForceTable<Real>& table, const SimulationOptions& options)
        : table_(&table), options_(&options), dt_(options.dt)
    {
    }

    void load(const State& state, const Handles& handles)
    {
        handles_ = handles;
        start_time_ = state.time;
        steps_ = 0;
        position_.clear();
        velocity_.clear();
        for (const Vec3d& x : state.position) position_.push_back(vec3_cast<Real>(x));
        for (const Vec3d& v : state.velocity) velocity_.push_back(vec3_cast<Real>(v));
        force_.assign(position_.size(), {});
        mobility_.assign(position_.size(), Real(dt_));
        for (const int p : handles.particles) mobility_[p] = Real(0);
    }

    void store(State& state) const
    {
        state.time = time();
        for (std::size_t p = 0; p < position_.size(); ++p) {
            state.position[p] = {position_[p].x, position_[p].y, position_[p].z};
            state.velocity[p] = {velocity_[p].x, velocity_[p].y, velocity_[p].z};
        }
    }

    void advance(int steps)
    {
        for (int i = 0; i < steps; ++i) step();
    }

  private:
    double time() const { return start_time_ + double(steps_) * dt_; }

    void step()
    {
        add_spring_forces(*table_, position_, velocity_, force_);
        for (std::size_t p = 0; p < position_.size(); ++p) {
            const auto a = particle_acceleration(*table_, p, force_[p], velocity_[p]);
            euler_step(position_[p], velocity_[p], a, mobility_[p], Real(dt_));
            force_[p] = {};
        }
        ++steps_;
        if (handles_.moving()) place_handles();
        for (const Obstacle& obstacle : options_->obstacles) meet(obstacle);
    }

    // In double whatever the lane runs in: shapes come in double.
    void meet(const Obstacle& obstacle)
    {
        const ObstacleFrame frame = frame_of(obstacle, time(), dt_);
        for (std::size_t p = 0; p < position_.size(); ++p) {
            if (mobility_[p] == Real(0)) continue;  // a handle goes where it is told
            const Vec3d y = frame.to_own(vec3_cast<double>(position_[p]) - frame.position);
            const Surface<double> surface = nearest_surface(obstacle, y);
            if (!(surface.distance < options_->thickness)) continue;
            const Vec3d u = frame.to_own(vec3_cast<double>(velocity_[p])) - frame.velocity(y);
            const auto change =
                contact_change(surface, u, options_->thickness, obstacle.friction, dt_);
            position_[p] += vec3_cast<Real>(frame.to_world(change.position));
            velocity_[p] += vec3_cast<Real>(frame.to_world(change.velocity));
        }
    }

    void place_handles()
    {
        for (std::size_t h = 0; h < handles_.particles.size(); ++h) {
            const HandlePose pose = handle_pose(handles_, h, time(), dt_);
            position_[handles_.particles[h]] = vec3_cast<Real>(pose.position);
            velocity_[handles_.particles[h]] = vec3_cast<Real>(pose.velocity);
        }
    }

    const ForceTable<Real>* table_;
    const SimulationOptions* options_;
    double dt_;
    Handles handles_;
    double start_time_ = 0;
    long steps_ = 0;
    std::vector<Vec3<Real>> position_, velocity_, force_;
    std::vector<Real> mobility_;
};

}  // namespace springtime
