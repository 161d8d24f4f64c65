#pragma once

#include <array>
#include <span>
#include <vector>

#include "springtime/vec3.h"

namespace springtime {

// Twice the area of a triangle of the plane: positive where its corners turn from u towards v.
// [m^2]
inline double turn(const SheetPoint& a, const SheetPoint& b, const SheetPoint& c)
{
    return (b.u - a.u) * (c.v - a.v) - (b.v - a.v) * (c.u - a.u);
}

// Triangles of corner numbers that together make a polygon, on its side and wound as it is: ears
// cut off one by one, that with the shortest cut first, so that a quad is divided along its shorter
// diagonal. The polygon may be concave and a little bent; where it crosses itself, or has no area,
// or corners are missing (NaN), there may be triangles that overlap, but always two less than
// corners.
std::vector<std::array<int, 3>> cut_polygon(std::span<const Vec3d> corners);

// The smallest rectangle around points of a plane.
struct Rectangle {
    SheetPoint side;                // direction of one side, of length one
    double length = 0, across = 0;  // along that side and across it [m]
};

// The points must not lie on one line.
Rectangle smallest_rectangle(std::vector<SheetPoint> points);

}  // namespace springtime
