#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "springtime/geometry.h"

namespace springtime {

inline Vec3d unit(const Vec3d& v)
{
    return (1 / length(v)) * v;
}

// Eight corners, twelve triangles.
inline TriangleMesh cube_mesh(double side, const Vec3d& middle = {})
{
    TriangleMesh mesh;
    for (int i = 0; i < 8; ++i) {
        mesh.points.push_back(
            middle + (side / 2) * Vec3d{i & 1 ? 1. : -1., i & 2 ? 1. : -1., i & 4 ? 1. : -1.});
    }
    mesh.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                      {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
    return mesh;
}

// An octahedron whose triangles are cut into four `cuts` times, all points on the sphere.
inline TriangleMesh sphere_mesh(double radius, int cuts, const Vec3d& middle = {})
{
    TriangleMesh mesh;
    mesh.points = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    mesh.triangles = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4},
                      {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
    for (int cut = 0; cut < cuts; ++cut) {
        std::map<std::pair<int, int>, int> halves;
        const auto half = [&](int a, int b) {
            const int next = static_cast<int>(mesh.points.size());
            const auto [found, is_new] = halves.try_emplace(std::minmax(a, b), next);
            if (is_new) mesh.points.push_back(unit(mesh.points[a] + mesh.points[b]));
            return found->second;
        };
        std::vector<std::array<int, 3>> smaller;
        for (const auto& [a, b, c] : mesh.triangles) {
            const int ab = half(a, b), bc = half(b, c), ca = half(c, a);
            smaller.insert(smaller.end(), {{a, ab, ca}, {ab, b, bc}, {ca, bc, c}, {ab, bc, ca}});
        }
        mesh.triangles = smaller;
    }
    for (Vec3d& p : mesh.points) p = middle + radius * p;
    return mesh;
}

// How far the triangles lie below the sphere at most.
inline double sagitta(const TriangleMesh& sphere, double radius, const Vec3d& middle = {})
{
    double nearest = radius;
    for (const auto& [a, b, c] : sphere.triangles) {
        const Vec3d pa = sphere.points[a] - middle, pb = sphere.points[b] - middle,
                    pc = sphere.points[c] - middle;
        nearest = std::min(nearest, dot(pa, unit(cross(pb - pa, pc - pa))));
    }
    return radius - nearest;
}

}  // namespace springtime
