#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "springtime/vec3.h"

// What can be made of a surface in space: a solid, or a sheet when it is flat.
namespace springtime {

// A surface in space.
struct TriangleMesh {
    std::vector<Vec3d> points;  // [m]
    std::vector<std::array<int, 3>> triangles;
};

// Distance from a point to the nearest point of a triangle. [m]
double triangle_distance(const Vec3d& point, const Vec3d& a, const Vec3d& b, const Vec3d& c);

// How far points lie from a surface: one-sided, from each point to the nearest point of it. [m]
struct SurfaceDistance {
    double rms = 0, mean = 0, largest = 0;
};
SurfaceDistance surface_distance(const std::vector<Vec3d>& points, const TriangleMesh& surface);

// Points at the same place become one, points without a triangle go. The others keep their order.
TriangleMesh welded(const TriangleMesh& mesh);

// Throws Error naming `source` unless the mesh, once welded, bounds a solid: every edge has two
// triangles, which agree on what is outside, no triangle is without area, and the volume is
// positive.
void check_closed(const TriangleMesh& mesh, std::string_view source);

// Volume inside a closed mesh [m^3]; negative when it is inside out.
double volume_of(const TriangleMesh& closed);

// A signed distance [m] at the points of a regular grid, negative inside. Between the points it is
// interpolated linearly along each axis; beyond the grid it goes on as the distance to the grid's
// box plus the value at the nearest point of it.
struct DistanceGrid {
    std::array<int, 3> size{};    // points along x, y, z; at least 2
    Vec3d origin;                 // of the first point
    double spacing = 0;           // [m]
    std::vector<float> distance;  // x runs fastest, then y, then z
};

// The signed distance to a closed mesh, `spacing` between points, `band` [m] around its bounding
// box: the true one within five spacings of the surface, and to a few tenths of a spacing
// elsewhere. The solid is the union of all parts of the mesh. Cavities count as inside; what is
// thinner than `spacing` may be lost.
DistanceGrid make_distance_grid(const TriangleMesh& closed, double spacing, double band);

}  // namespace springtime
