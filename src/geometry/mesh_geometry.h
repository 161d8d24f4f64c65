#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "springtime/geometry.h"

namespace springtime {

struct Bounds {
    Vec3d low, high;  // [m]
};

inline Bounds bounds_of(const std::vector<Vec3d>& points)
{
    Bounds bounds{points.front(), points.front()};
    for (const Vec3d& p : points) {
        for (int axis = 0; axis < 3; ++axis) {
            bounds.low[axis] = std::min(bounds.low[axis], p[axis]);
            bounds.high[axis] = std::max(bounds.high[axis], p[axis]);
        }
    }
    return bounds;
}

// As long as the area of the triangle [m^2], on the side from which its corners turn left.
template <class T>
Vec3<T> area_vector(const Vec3<T>& a, const Vec3<T>& b, const Vec3<T>& c)
{
    return T(0.5) * cross(b - a, c - a);
}

// Volume of the tetrahedron from a point to a triangle [m^3]; positive where the triangle faces
// away from the point.
inline double signed_volume(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& from)
{
    const Vec3d pa = a - from, pb = b - from, pc = c - from;
    return dot(pa + pb + pc, area_vector(pa, pb, pc)) / 9;
}

inline std::string place_text(const Vec3d& p)
{
    return fmt::format("({:.6g}, {:.6g}, {:.6g})", p.x, p.y, p.z);
}

// Of length one at each point, mean of the triangles there weighted by their areas; zero where that
// is none.
template <class T>
void write_vertex_normals(std::span<const Vec3<T>> points,
                          const std::vector<std::array<int, 3>>& triangles,
                          std::span<Vec3<T>> normals)
{
    std::fill(normals.begin(), normals.end(), Vec3<T>{});
    for (const auto& triangle : triangles) {
        const Vec3<T> area =
            area_vector(points[triangle[0]], points[triangle[1]], points[triangle[2]]);
        for (const int corner : triangle) normals[corner] += area;
    }
    for (Vec3<T>& normal : normals) {
        const T size = length(normal);
        normal = size > 0 ? (1 / size) * normal : Vec3<T>{};
    }
}
std::vector<Vec3d> vertex_normals(const std::vector<Vec3d>& points,
                                  const std::vector<std::array<int, 3>>& triangles);

// Throws Error naming `source` unless there are triangles, their corners exist and all points are
// finite.
void check_indices(const TriangleMesh& mesh, std::string_view source);

}  // namespace springtime
