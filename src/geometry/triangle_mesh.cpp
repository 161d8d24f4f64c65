#include "springtime/geometry.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "geometry/mesh_geometry.h"
#include "springtime/error.h"

namespace springtime {

namespace {

// Flatter than this share of its length squared, the side that a triangle faces is rounding.
constexpr double kDegenerate = 1e-9;

void check_areas(const TriangleMesh& mesh, std::string_view source)
{
    for (const auto& [a, b, c] : mesh.triangles) {
        const Vec3d &pa = mesh.points[a], &pb = mesh.points[b], &pc = mesh.points[c];
        const double longest = std::max({length(pb - pa), length(pc - pb), length(pa - pc)});
        const double area = length(area_vector(pa, pb, pc));
        if (area > kDegenerate * longest * longest) continue;
        throw Error(
            "{}: the triangle {}, {}, {} is degenerate: its area is {:.3g} m^2; remove it, or "
            "merge its corners",
            source, place_text(pa), place_text(pb), place_text(pc), area);
    }
}

// The triangles at an edge, by whether they run along it upwards or downwards in point number.
struct EdgeUse {
    int up = 0, down = 0;
};

std::map<std::pair<int, int>, EdgeUse> edge_uses(const TriangleMesh& mesh)
{
    std::map<std::pair<int, int>, EdgeUse> uses;
    for (const auto& triangle : mesh.triangles) {
        for (int i = 0; i < 3; ++i) {
            const int from = triangle[i], to = triangle[(i + 1) % 3];
            EdgeUse& use = uses[{std::min(from, to), std::max(from, to)}];
            ++(from < to ? use.up : use.down);
        }
    }
    return uses;
}

void check_edges(const TriangleMesh& mesh, std::string_view source)
{
    for (const auto& [ends, use] : edge_uses(mesh)) {
        const std::string edge =
            fmt::format("the edge from {} to {}", place_text(mesh.points[ends.first]),
                        place_text(mesh.points[ends.second]));
        const int count = use.up + use.down;
        if (count == 1) {
            throw Error("{}: the surface is open: only one triangle has {}; close the hole there",
                        source, edge);
        }
        if (count > 2) {
            throw Error(
                "{}: the surface is non-manifold: {} triangles share {}; every edge of a solid has "
                "two: remove what is inside, or move touching parts apart",
                source, count, edge);
        }
        if (use.up != use.down) {
            throw Error(
                "{}: a triangle is flipped: the two at {} disagree about which side is outside; "
                "turn one of them round",
                source, edge);
        }
    }
}

}  // namespace

void check_indices(const TriangleMesh& mesh, std::string_view source)
{
    const int count = static_cast<int>(mesh.points.size());
    if (mesh.triangles.empty()) throw Error("{}: no triangles; give a mesh with faces", source);
    for (std::size_t p = 0; p < mesh.points.size(); ++p) {
        const Vec3d& x = mesh.points[p];
        if (std::isfinite(x.x) && std::isfinite(x.y) && std::isfinite(x.z)) continue;
        throw Error("{}: point {} is {}; finite numbers are needed", source, p, place_text(x));
    }
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
        for (const int corner : mesh.triangles[t]) {
            if (corner >= 0 && corner < count) continue;
            throw Error("{}: triangle {} has corner {}; corners must lie in 0 to {}", source, t,
                        corner, count - 1);
        }
    }
}

std::vector<Vec3d> vertex_normals(const std::vector<Vec3d>& points,
                                  const std::vector<std::array<int, 3>>& triangles)
{
    std::vector<Vec3d> normals(points.size());
    write_vertex_normals<double>(points, triangles, normals);
    return normals;
}

TriangleMesh welded(const TriangleMesh& mesh)
{
    std::vector<bool> used(mesh.points.size(), false);
    for (const auto& triangle : mesh.triangles) {
        for (const int corner : triangle) used[corner] = true;
    }
    TriangleMesh result;
    std::map<std::tuple<double, double, double>, int> number_at;
    std::vector<int> number(mesh.points.size(), -1);
    for (std::size_t p = 0; p < mesh.points.size(); ++p) {
        if (!used[p]) continue;
        const Vec3d& x = mesh.points[p];
        const int next = static_cast<int>(result.points.size());
        const auto [found, is_new] = number_at.try_emplace({x.x, x.y, x.z}, next);
        if (is_new) result.points.push_back(x);
        number[p] = found->second;
    }
    for (const auto& [a, b, c] : mesh.triangles) {
        result.triangles.push_back({number[a], number[b], number[c]});
    }
    return result;
}

double volume_of(const TriangleMesh& closed)
{
    // The divergence theorem: V = 1/3 sum of c . A over the triangles, c their centroid and A their
    // area vector. Heights count from a point of the mesh, so that rounding does not grow with its
    // distance from the origin.
    double volume = 0;
    for (const auto& [a, b, c] : closed.triangles) {
        const Vec3d from = closed.points.front();
        const Vec3d pa = closed.points[a] - from, pb = closed.points[b] - from,
                    pc = closed.points[c] - from;
        volume += dot(pa + pb + pc, area_vector(pa, pb, pc)) / 9;
    }
    return volume;
}

void check_closed(const TriangleMesh& mesh, std::string_view source)
{
    check_indices(mesh, source);
    const TriangleMesh joined = welded(mesh);
    check_areas(joined, source);
    check_edges(joined, source);
    // Of the whole, not of each part: a part that is inside out may be a cavity.
    const double volume = volume_of(joined);
    if (volume <= 0) {
        throw Error(
            "{}: the surface is inside out: its volume is {:.3g} m^3; turn all triangles "
            "round",
            source, volume);
    }
}

}  // namespace springtime
