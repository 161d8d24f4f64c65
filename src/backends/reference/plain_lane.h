#pragma once

#include <vector>

#include "physics/euler.h"
#include "sim/forces.h"
#include "sim/stepper.h"

namespace springtime {

// One state advanced by plain loops over elements and particles. In double it is the oracle of all
// other backends; in float it is what the benchmarks measure them against.
template <class Real>
class PlainLane {
  public:
    PlainLane(const ForceTable<Real>& table, double dt) : table_(&table), dt_(dt) {}

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
        add_element_forces(*table_, position_, velocity_, force_);
        for (std::size_t p = 0; p < position_.size(); ++p) {
            const auto a = particle_acceleration(*table_, p, force_[p], velocity_[p]);
            euler_step(position_[p], velocity_[p], a, mobility_[p], Real(dt_));
            force_[p] = {};
        }
        ++steps_;
        if (handles_.moving()) place_handles();
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
    double dt_;
    Handles handles_;
    double start_time_ = 0;
    long steps_ = 0;
    std::vector<Vec3<Real>> position_, velocity_, force_;
    std::vector<Real> mobility_;
};

}  // namespace springtime
