#include <algorithm>
#include <cmath>
#include <vector>

#include "geometry/mesh_geometry.h"
#include "geometry/polygon.h"
#include "springtime/cloth.h"
#include "springtime/error.h"
#include "springtime/geometry.h"

namespace springtime {

namespace {

constexpr Vec3d kX{1, 0, 0}, kY{0, 1, 0}, kZ{0, 0, 1};

struct Plane {
    Vec3d point, normal;
};

template <class Measure>
Vec3d farthest(const std::vector<Vec3d>& points, Measure measure)
{
    return *std::max_element(points.begin(), points.end(), [&](const Vec3d& p, const Vec3d& q) {
        return measure(p) < measure(q);
    });
}

// Through three points that lie far apart, so that it follows none of the small errors.
Plane plane_of(const std::vector<Vec3d>& points, std::string_view source)
{
    const Vec3d first = points.front();
    const Vec3d a = farthest(points, [&](const Vec3d& p) { return length(p - first); });
    const Vec3d b = farthest(points, [&](const Vec3d& p) { return length(p - a); });
    const Vec3d along = b - a;
    const Vec3d c = farthest(points, [&](const Vec3d& p) { return length(cross(p - a, along)); });
    const Vec3d normal = cross(along, c - a);
    const double size = length(normal);
    // Narrower than a millionth of its length: the direction of the plane would be rounding.
    if (size <= 1e-6 * dot(along, along)) {
        throw Error("{}: all points lie on one line; a sheet needs an area", source);
    }
    return {a, (1 / size) * normal};
}

void check_flat(const std::vector<Vec3d>& points, const Plane& plane, std::string_view source)
{
    const auto height = [&](const Vec3d& p) {
        return std::abs(dot(p - plane.point, plane.normal));
    };
    const Vec3d worst = farthest(points, height);
    const Bounds bounds = bounds_of(points);
    // Files keep six digits. Flat to this, edges of a hundredth of the sheet keep their length to
    // a millionth.
    const double allowed = 1e-5 * length(bounds.high - bounds.low);
    if (height(worst) <= allowed) return;
    throw Error(
        "{}: the mesh is not flat: the point {} lies {:.3g} m off its plane; a sheet may deviate "
        "by {:.3g} m, so flatten it first",
        source, place_text(worst), height(worst), allowed);
}

// Where u and v point.
struct Axes {
    Vec3d u, v;
};

SheetPoint along(const Axes& axes, const Vec3d& p)
{
    return {dot(p, axes.u), dot(p, axes.v)};
}

// The rule for planes that are neither level nor upright along x.
Axes tilted_axes(const TriangleMesh& mesh, Vec3d normal)
{
    Vec3d front;
    for (const auto& [a, b, c] : mesh.triangles) {
        front += area_vector(mesh.points[a], mesh.points[b], mesh.points[c]);
    }
    if (dot(front, normal) < 0) normal = -normal;
    // The axis that is most across the plane leaves the best conditioned frame in it.
    const Vec3d helper = std::abs(normal.x) < 0.6 ? kX : kY;
    Axes frame;
    frame.u = cross(helper, normal);
    frame.u = (1 / length(frame.u)) * frame.u;
    frame.v = cross(frame.u, normal);
    std::vector<SheetPoint> points;
    for (const Vec3d& p : mesh.points) points.push_back(along(frame, p));
    const Rectangle rectangle = smallest_rectangle(points);

    const Vec3d side = rectangle.side.u * frame.u + rectangle.side.v * frame.v;
    const Vec3d across = cross(side, normal);
    std::vector<Vec3d> candidates;
    if (rectangle.length >= (1 - 1e-9) * rectangle.across) {
        candidates.insert(candidates.end(), {side, -side});
    }
    if (rectangle.across >= (1 - 1e-9) * rectangle.length) {
        candidates.insert(candidates.end(), {across, -across});
    }
    const Vec3d u = farthest(candidates, [](const Vec3d& direction) { return direction.x; });
    return {u, cross(u, normal)};
}

Axes axes_of(const TriangleMesh& mesh, const Vec3d& normal)
{
    constexpr double kTilt = 1e-4;  // [rad]; shortens the sheet by less than a file's six digits
    if (length(cross(normal, kY)) < kTilt) return {kX, kZ};
    if (length(cross(normal, kZ)) < kTilt) return {kX, -kY};
    return tilted_axes(mesh, normal);
}

}  // namespace

SheetMesh sheet_mesh(const TriangleMesh& mesh, std::string_view source)
{
    check_indices(mesh, source);
    const TriangleMesh joined = welded(mesh);
    const Plane plane = plane_of(joined.points, source);
    check_flat(joined.points, plane, source);
    const Axes axes = axes_of(joined, plane.normal);
    SheetMesh sheet;
    for (const Vec3d& p : joined.points) sheet.points.push_back(along(axes, p));
    SheetPoint low = sheet.points.front();
    for (const SheetPoint& p : sheet.points) low = {std::min(low.u, p.u), std::min(low.v, p.v)};
    for (SheetPoint& p : sheet.points) p = {p.u - low.u, p.v - low.v};
    sheet.triangles = joined.triangles;
    check_mesh(sheet, source);
    return sheet;
}

Sheet sheet_around(const SheetMesh& mesh, double mass)
{
    Sheet sheet{0, 0, mass};
    for (const SheetPoint& p : mesh.points) {
        sheet.length = std::max(sheet.length, p.u);
        sheet.width = std::max(sheet.width, p.v);
    }
    return sheet;
}

}  // namespace springtime
