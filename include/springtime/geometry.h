#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "springtime/vec3.h"

// Surfaces in space, and the solids that closed ones bound.
namespace springtime {

// A surface in space.
struct TriangleMesh {
    std::vector<Vec3d> points;  // [m]
    std::vector<std::array<int, 3>> triangles;
};

// Distance from a point to the nearest point of a triangle. [m]
double triangle_distance(const Vec3d& point, const Vec3d& a, const Vec3d& b, const Vec3d& c);

// Distances from points to the nearest point of a surface; one-sided. [m]
struct SurfaceDistance {
    double rms = 0, mean = 0, largest = 0;
};
SurfaceDistance surface_distance(const std::vector<Vec3d>& points, const TriangleMesh& surface);

// Merges points at the same position and removes points without a triangle. The order is kept.
TriangleMesh welded(const TriangleMesh& mesh);

// Throws Error naming `source` unless the mesh, once welded, bounds a solid: every edge has two
// triangles, which agree on what is outside, no triangle is without area, and the volume is
// positive.
void check_closed(const TriangleMesh& mesh, std::string_view source);

// Volume inside a closed mesh [m^3]; negative when it is inside out.
double volume_of(const TriangleMesh& closed);

// A signed distance [m] at the points of a regular grid, negative inside. Between the points it is
// interpolated linearly along each axis. Beyond the grid it is the distance to the grid's box plus
// the value at the nearest point of the box.
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
