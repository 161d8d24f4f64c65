#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "springtime/geometry.h"
#include "springtime/vec3.h"

namespace springtime {

// Everything below the plane through `point`.
struct PlaneShape {
    Vec3d point, normal{0, 1, 0};
};
// Everything within `radius` of the segment from a to b; a sphere when they are equal.
struct CapsuleShape {
    Vec3d a, b;
    double radius = 1;  // [m]
};
// A box along the axes whose edges are rounded: `half` counts to the faces, rounding included.
struct BoxShape {
    Vec3d center, half{1, 1, 1};
    double rounding = 0;  // radius of the edges [m]
};
struct GridShape {
    std::shared_ptr<const DistanceGrid> grid;
};
using Shape = std::variant<PlaneShape, CapsuleShape, BoxShape, GridShape>;

// A position, and a rotation about an axis through the obstacle's origin.
struct Pose {
    Vec3d position;
    Vec3d turn;  // rotation vector: its direction is the axis, its length the angle [rad]
};

// A solid that cloth cannot enter: the union of its shapes, in coordinates of its own.
struct Obstacle {
    std::string name;
    std::vector<Shape> shapes;
    double friction = 0.3;  // Coulomb's coefficient
    // Where it is: one key or several, ascending in time. Linear between keys, constant before the
    // first and after the last.
    std::vector<double> key_time{0};  // [s]
    std::vector<Pose> key_pose{Pose{}};

    bool moving() const { return key_time.size() > 1; }
    Pose pose(double time) const;
};

// Throws Error naming `source` unless shapes and keys are usable.
void check_obstacle(const Obstacle& obstacle, std::string_view source);

// Signed distance [m] from a point in the world to the obstacle at a time; negative inside.
double signed_distance(const Obstacle& obstacle, const Vec3d& point, double time);

// A square table: a top with rounded edges on a foot. Its top face is level with the origin.
Obstacle make_table(double side, double thickness, double rounding, double height);
// An animal on four legs, standing with its back level with the origin, head towards +x; all of it
// `length` long. Its horns, the highest of it, reach this share of the length above the back.
inline constexpr double kAnimalHornHeight = 0.245;
Obstacle make_animal(double length);

}  // namespace springtime
