#pragma once

#include <vector>

#include "springtime/cloth.h"
#include "springtime/mesh.h"
#include "springtime/state.h"

namespace springtime {

// The sheet of a cloth in a state, as triangles. Throws Error for a cloth without a surface.
TriangleMesh surface_of(const Cloth& cloth, const State& state);

// Distance from a point to the nearest point of a triangle. [m]
double triangle_distance(const Vec3d& point, const Vec3d& a, const Vec3d& b, const Vec3d& c);

// How far points lie from a surface: one-sided, from each point to the nearest point of it. [m]
struct SurfaceDistance {
    double rms = 0, mean = 0, largest = 0;
};
SurfaceDistance surface_distance(const std::vector<Vec3d>& points, const TriangleMesh& surface);

}  // namespace springtime
