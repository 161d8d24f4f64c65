#include "springtime/geometry.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "core/finite.h"
#include "geometry/mesh_edges.h"
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

void check_edges(const TriangleMesh& mesh, std::string_view source)
{
    for (const auto& [ends, sides] : edges_of(mesh.triangles)) {
        const std::string edge =
            fmt::format("the edge from {} to {}", place_text(mesh.points[ends.first]),
                        place_text(mesh.points[ends.second]));
        if (sides.size() == 1) {
            throw Error("{}: the surface is open: only one triangle has {}; close the hole there",
                        source, edge);
        }
        if (sides.size() > 2) {
            throw Error(
                "{}: the surface is non-manifold: {} triangles share {}; every edge of a solid has "
                "two: remove what is inside, or move touching parts apart",
                source, sides.size(), edge);
        }
        const auto from = [&](const EdgeSide& side) {
            return mesh.triangles[side.triangle][side.corner];
        };
        if (from(sides[0]) == from(sides[1])) {
            throw Error(
                "{}: a triangle is flipped: the two at {} disagree about which side is outside; "
                "turn one of them round",
                source, edge);
        }
    }
}

double segment_distance(const Vec3d& point, const Vec3d& a, const Vec3d& b)
{
    const Vec3d along = b - a, to = point - a;
    const double square = dot(along, along);
    const double t = square > 0 ? std::clamp(dot(to, along) / square, 0.0, 1.0) : 0.0;
    return length(to - t * along);
}

// A ball that holds a triangle: whatever is farther from the ball is farther from the triangle.
struct TriangleBall {
    Vec3d center;
    double radius;
};

TriangleBall ball_around(const Vec3d& a, const Vec3d& b, const Vec3d& c)
{
    const Vec3d center = (1.0 / 3) * (a + b + c);
    return {center, std::max({length(a - center), length(b - center), length(c - center)})};
}

}  // namespace

void check_indices(const TriangleMesh& mesh, std::string_view source)
{
    const int count = static_cast<int>(mesh.points.size());
    if (mesh.triangles.empty()) throw Error("{}: no triangles; give a mesh with faces", source);
    for (std::size_t p = 0; p < mesh.points.size(); ++p) {
        const Vec3d& x = mesh.points[p];
        if (is_finite(x)) continue;
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
        volume += signed_volume(closed.points[a], closed.points[b], closed.points[c],
                                closed.points.front());
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

// Inside the prism over the triangle the plane is nearest, elsewhere one of the edges.
double triangle_distance(const Vec3d& point, const Vec3d& a, const Vec3d& b, const Vec3d& c)
{
    const Vec3d normal = cross(b - a, c - a);
    const double size = length(normal);
    const auto inside = [&](const Vec3d& from, const Vec3d& to) {
        return dot(cross(to - from, point - from), normal) >= 0;
    };
    if (size > 0 && inside(a, b) && inside(b, c) && inside(c, a)) {
        return std::abs(dot(point - a, normal)) / size;
    }
    return std::min({segment_distance(point, a, b), segment_distance(point, b, c),
                     segment_distance(point, c, a)});
}

SurfaceDistance surface_distance(const std::vector<Vec3d>& points, const TriangleMesh& surface)
{
    if (points.empty() || surface.triangles.empty()) {
        throw Error("surface distance: {} points and {} triangles; at least one of each is needed",
                    points.size(), surface.triangles.size());
    }
    const auto corner = [&](std::size_t t, int i) {
        return surface.points[surface.triangles[t][i]];
    };
    std::vector<TriangleBall> balls;
    for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
        balls.push_back(ball_around(corner(t, 0), corner(t, 1), corner(t, 2)));
    }
    SurfaceDistance result;
    std::size_t last = 0;  // neighbouring points have neighbouring triangles: a good first guess
    for (const Vec3d& point : points) {
        double nearest =
            triangle_distance(point, corner(last, 0), corner(last, 1), corner(last, 2));
        for (std::size_t t = 0; t < balls.size(); ++t) {
            if (length(point - balls[t].center) - balls[t].radius >= nearest) continue;
            const double distance =
                triangle_distance(point, corner(t, 0), corner(t, 1), corner(t, 2));
            if (distance >= nearest) continue;
            nearest = distance;
            last = t;
        }
        result.mean += nearest / double(points.size());
        result.rms += nearest * nearest / double(points.size());
        result.largest = std::max(result.largest, nearest);
    }
    result.rms = std::sqrt(result.rms);
    return result;
}

}  // namespace springtime
