#pragma once

#include <array>

#include "physics/contact.h"
#include "springtime/simulation.h"

namespace springtime {

using ObstaclePlacement = SolidPlacement<double>;

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
