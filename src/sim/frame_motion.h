#pragma once

#include <algorithm>
#include <vector>

#include "sim/obstacle_placement.h"
#include "springtime/simulation.h"

namespace springtime {

// Where held particles and obstacles go along one frame: straight from where they are to where they
// shall be at its end, the same way in every step. They stand still afterwards.
struct FrameMotion {
    struct Particle {
        int particle;
        Vec3d from, to;  // [m]
    };
    struct Solid {
        std::size_t obstacle;
        Pose from, to;
    };
    int steps = 1;
    std::vector<Particle> particles;
    std::vector<Solid> obstacles;
};

// How far a stepper is in its frame.
class FrameWalk {
  public:
    // The motion must stay until the next call.
    void begin(const FrameMotion* motion)
    {
        motion_ = motion;
        step_ = 0;
    }
    void next_step() { ++step_; }

    // Calls place(particle, position, velocity) for all that change in this step.
    template <class Place>
    void place_particles(double dt, Place place) const
    {
        if (!motion_) return;
        for (const auto& [particle, from, to] : motion_->particles) {
            const Vec3d way = to - from;
            if (!changes(!same(from, to))) continue;
            const double share = share_at(step_);
            place(particle, share < 1 ? from + share * way : to,
                  (moving() ? 1 / (motion_->steps * dt) : 0.0) * way);
        }
    }

    // The motion of an obstacle, or null when its keys say where it is.
    const FrameMotion::Solid* solid(std::size_t obstacle) const
    {
        if (!motion_) return nullptr;
        const auto& all = motion_->obstacles;
        const auto found = std::find_if(
            all.begin(), all.end(), [&](const auto& solid) { return solid.obstacle == obstacle; });
        return found == all.end() ? nullptr : &*found;
    }
    ObstaclePlacement placement(const FrameMotion::Solid& solid, double dt) const
    {
        return placement_between(pose_between(solid.from, solid.to, share_at(step_ - 1)),
                                 pose_between(solid.from, solid.to, share_at(step_)), dt);
    }
    bool changes(const FrameMotion::Solid& solid) const
    {
        return changes(!same(solid.from.position, solid.to.position) ||
                       !same(solid.from.turn, solid.to.turn));
    }

  private:
    // What stands still is placed in the first step of a frame, and all in the first after it.
    bool changes(bool moves) const
    {
        return step_ == 1 || step_ == motion_->steps + 1 || (moves && moving());
    }
    static bool same(const Vec3d& a, const Vec3d& b)
    {
        return a.x == b.x && a.y == b.y && a.z == b.z;
    }
    bool moving() const { return step_ <= motion_->steps; }
    double share_at(long step) const
    {
        return std::min(double(step) / double(motion_->steps), 1.0);
    }

    const FrameMotion* motion_ = nullptr;
    long step_ = 0;
};

}  // namespace springtime
