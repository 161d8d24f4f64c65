#pragma once

#include <array>

#include "physics/contact.h"
#include "springtime/simulation.h"

namespace springtime {

// Where an obstacle is at a time, and how it moved there in the last step.
struct ObstaclePlacement {
    std::array<Vec3d, 3> axes;  // its own axes in the world
    Vec3d position;             // of its origin [m]
    // Velocity of the solid at its point y, seen in its own axes: drift + the rows of spin times y.
    std::array<Vec3d, 3> spin;  // [1/s]
    Vec3d drift;                // [m/s]

    Vec3d to_own(const Vec3d& direction) const
    {
        return {dot(axes[0], direction), dot(axes[1], direction), dot(axes[2], direction)};
    }
    Vec3d to_world(const Vec3d& own) const
    {
        return own.x * axes[0] + own.y * axes[1] + own.z * axes[2];
    }
    Vec3d velocity(const Vec3d& y) const
    {
        return drift + Vec3d{dot(spin[0], y), dot(spin[1], y), dot(spin[2], y)};
    }
};

ObstaclePlacement placement_of(const Obstacle& obstacle, double time, double dt);
// At a pose, `dt` after another one.
ObstaclePlacement placement_between(const Pose& before, const Pose& now, double dt);

// Part of the way from one pose to another: straight, and about one axis by at most half a turn.
Pose pose_between(const Pose& from, const Pose& to, double part);

// What a rotation vector makes of the three axes.
std::array<Vec3d, 3> turned_axes(const Vec3d& turn);

// Velocity [m/s] of the point of the solid that is at `point` at a time: the way it came in the
// last step, turn and all, over that step.
Vec3d surface_velocity(const Obstacle& obstacle, const Vec3d& point, double time, double dt);

// The nearest shape of the obstacle to a point in its own axes.
Surface<double> nearest_surface(const Obstacle& obstacle, const Vec3d& y);

// A unit vector across an axis; any for an axis without length.
Vec3d unit_across(const Vec3d& axis);

// True when particles can meet something: what forces alone say is not the whole motion then.
inline bool has_contact(const SimulationOptions& options)
{
    return !options.obstacles.empty() || options.self_distance > 0;
}

// Throws Error unless a pose is finite and not too far away.
void check_pose(const Pose& pose, std::string_view source);

// Throws Error unless obstacles, thickness and distance are usable.
void check_contact(const SimulationOptions& options);

}  // namespace springtime
