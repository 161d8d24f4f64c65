#pragma once

#include <span>
#include <vector>

#include "physics/euler.h"
#include "sim/forces.h"
#include "sim/lane_course.h"
#include "sim/obstacle_placement.h"

namespace springtime {

// One state advanced by plain loops over elements and particles. In double it is the oracle of all
// other backends; in float it is what the benchmarks measure them against.
template <class Real>
class PlainLane {
  public:
    PlainLane(const Cloth& cloth, const ForceTable<Real>& table, const SimulationOptions& options)
        : table_(&table), options_(&options), dt_(options.dt), course_(cloth, options)
    {
    }

    void load(const State& state, const Handles& handles)
    {
        course_.load(state, handles);
        position_.clear();
        velocity_.clear();
        for (const Vec3d& x : state.position) position_.push_back(vec3_cast<Real>(x));
        for (const Vec3d& v : state.velocity) velocity_.push_back(vec3_cast<Real>(v));
        force_.assign(position_.size(), {});
        mobility_.assign(position_.size(), Real(dt_));
        hold(handles.particles);
    }

    void hold(std::span<const int> particles)
    {
        for (const int p : particles) mobility_[p] = Real(0);
        course_.hold(particles);
    }
    void begin_frame(const FrameMotion& motion) { course_.begin_frame(motion); }

    void store(State& state) const
    {
        state.time = course_.time();
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
    void step()
    {
        add_element_forces(*table_, position_, velocity_, force_);
        for (std::size_t p = 0; p < position_.size(); ++p) {
            const auto a = particle_acceleration(*table_, p, force_[p], velocity_[p]);
            euler_step(position_[p], velocity_[p], a, mobility_[p], Real(dt_));
            force_[p] = {};
        }
        finish_step(
            std::span(&course_, 1),
            [&](std::size_t) {
                return Particles{position_, velocity_};
            },
            [&] {
                for (std::size_t o = 0; o < options_->obstacles.size(); ++o) meet(o);
            });
    }

    // What a LaneCourse sees of the lane.
    struct Particles {
        std::vector<Vec3<Real>>&x, &v;

        const Vec3<Real>& position(int p) const { return x[p]; }
        const Vec3<Real>& velocity(int p) const { return v[p]; }
        void move(int p, const Vec3<Real>& by, const Vec3<Real>& faster) const
        {
            x[p] += by;
            v[p] += faster;
        }
        void place(int p, const Vec3d& position, const Vec3d& velocity) const
        {
            x[p] = vec3_cast<Real>(position);
            v[p] = vec3_cast<Real>(velocity);
        }
    };

    // In double whatever the lane runs in: shapes come in double.
    void meet(std::size_t index)
    {
        const Obstacle& obstacle = options_->obstacles[index];
        const FrameMotion::Solid* solid = course_.walk().solid(index);
        const ObstaclePlacement placement = solid ? course_.walk().placement(*solid, dt_)
                                                  : placement_of(obstacle, course_.time(), dt_);
        for (std::size_t p = 0; p < position_.size(); ++p) {
            if (mobility_[p] == Real(0)) continue;  // a handle goes where it is told
            const Vec3d y = placement.to_own(vec3_cast<double>(position_[p]) - placement.position);
            const Surface<double> surface = nearest_surface(obstacle, y);
            if (!(surface.distance < options_->thickness)) continue;
            const Vec3d u =
                placement.to_own(vec3_cast<double>(velocity_[p])) - placement.velocity(y);
            const auto change =
                contact_change(surface, u, options_->thickness, obstacle.friction, dt_);
            position_[p] += vec3_cast<Real>(placement.to_world(change.position));
            velocity_[p] += vec3_cast<Real>(placement.to_world(change.velocity));
        }
    }

    const ForceTable<Real>* table_;
    const SimulationOptions* options_;
    double dt_;
    LaneCourse course_;
    std::vector<Vec3<Real>> position_, velocity_, force_;
    std::vector<Real> mobility_;
};

}  // namespace springtime
