#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "springtime/geometry.h"
#include "springtime/vec3.h"

// Solids that a cloth cannot enter: their shapes, and where they are over time.
namespace springtime {

// Everything below the plane through `point`.
struct PlaneShape {
    Vec3d point, normal{0, 1, 0};
};
// Everything within `radius` of the segment from a to b. It is a sphere when a equals b.
struct CapsuleShape {
    Vec3d a, b;
    double radius = 1;  // [m]
};
// A box along the axes with rounded edges. `half` is the distance from the centre to the faces.
struct BoxShape {
    Vec3d center, half{1, 1, 1};
    double rounding = 0;  // radius of the edges [m]
};
struct GridShape {
    std::shared_ptr<const DistanceGrid> grid;
};
using Shape = std::variant<PlaneShape, CapsuleShape, BoxShape, GridShape>;

// A position, and a rotation about an axis through the origin of the obstacle.
struct Pose {
    Vec3d position;
    Vec3d turn;  // rotation vector: its direction is the axis, its length the angle [rad]
};

// A solid that a cloth cannot enter: the union of its shapes. The shapes are given in the
// coordinates of the obstacle, which its pose places in the world.
struct Obstacle {
    std::string name;
    std::vector<Shape> shapes;
    double friction = 0.3;  // Coulomb's coefficient
    // The path: one key or several, in ascending order of time. The pose is interpolated linearly
    // between keys and constant before the first and after the last.
    std::vector<double> key_time{0};  // [s]
    std::vector<Pose> key_pose{Pose{}};

    bool moving() const { return key_time.size() > 1; }
    Pose pose(double time) const;
};

// Throws Error naming `source` unless shapes and keys are valid.
void check_obstacle(const Obstacle& obstacle, std::string_view source);

// Signed distance [m] from a point in the world to the obstacle at a time; negative inside.
double signed_distance(const Obstacle& obstacle, const Vec3d& point, double time);

// A square table: a top with rounded edges on a foot. The origin lies in the top face.
Obstacle make_table(double side, double thickness, double rounding, double height);
// An animal on four legs, `length` long. It stands with its back at the height of the origin and
// its head towards +x. Its horns are its highest part; they reach this share of the length above
// the back.
inline constexpr double kAnimalHornHeight = 0.245;
Obstacle make_animal(double length);

}  // namespace springtime
