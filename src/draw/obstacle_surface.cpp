#include "draw/obstacle_surface.h"

#include <algorithm>
#include <cmath>

#include "geometry/mesh_geometry.h"
#include "geometry/zero_surface.h"
#include "sim/obstacle_placement.h"

namespace springtime {

namespace {

constexpr int kPointsAlong = 96;

// Corners of a box around a shape.
std::vector<Vec3d> corners_of(const PlaneShape&)
{
    return {};
}
std::vector<Vec3d> corners_of(const CapsuleShape& capsule)
{
    const Vec3d reach{capsule.radius, capsule.radius, capsule.radius};
    return {capsule.a - reach, capsule.a + reach, capsule.b - reach, capsule.b + reach};
}
std::vector<Vec3d> corners_of(const BoxShape& box)
{
    return {box.center - box.half, box.center + box.half};
}
std::vector<Vec3d> corners_of(const GridShape& shape)
{
    const DistanceGrid& grid = *shape.grid;
    const Vec3d steps{grid.size[0] - 1., grid.size[1] - 1., grid.size[2] - 1.};
    return {grid.origin, grid.origin + grid.spacing * steps};
}

// Around the corners, with room for the outermost points to lie outside.
DistanceGrid grid_around(const std::vector<Vec3d>& corners)
{
    const Bounds bounds = bounds_of(corners);
    const Vec3d size = bounds.high - bounds.low;
    DistanceGrid grid;
    grid.spacing = std::max({size.x, size.y, size.z}) / kPointsAlong;
    const double room = 2 * grid.spacing;
    grid.origin = bounds.low - Vec3d{room, room, room};
    for (int axis = 0; axis < 3; ++axis) {
        grid.size[axis] = 1 + static_cast<int>(std::ceil((size[axis] + 2 * room) / grid.spacing));
    }
    return grid;
}

void sample(DistanceGrid& grid, const Obstacle& solid)
{
    for (int z = 0; z < grid.size[2]; ++z) {
        for (int y = 0; y < grid.size[1]; ++y) {
            for (int x = 0; x < grid.size[0]; ++x) {
                const Vec3d place =
                    grid.origin + grid.spacing * Vec3d{double(x), double(y), double(z)};
                grid.distance.push_back(static_cast<float>(nearest_surface(solid, place).distance));
            }
        }
    }
}

void append(TriangleMesh& mesh, const TriangleMesh& more)
{
    const int first = static_cast<int>(mesh.points.size());
    mesh.points.insert(mesh.points.end(), more.points.begin(), more.points.end());
    for (const auto& [a, b, c] : more.triangles) {
        mesh.triangles.push_back({first + a, first + b, first + c});
    }
}

// In many cells, so that a picture can leave out those behind the viewer.
TriangleMesh square(const Vec3d& middle, const Vec3d& u, const Vec3d& v)
{
    constexpr int kCells = 24;
    TriangleMesh mesh;
    for (int row = 0; row <= kCells; ++row) {
        for (int col = 0; col <= kCells; ++col) {
            mesh.points.push_back(middle + (double(col) / kCells - 0.5) * u +
                                  (double(row) / kCells - 0.5) * v);
            if (row == kCells || col == kCells) continue;
            const int a = row * (kCells + 1) + col, b = a + 1, c = a + kCells + 1, d = c + 1;
            mesh.triangles.push_back({a, b, d});
            mesh.triangles.push_back({a, d, c});
        }
    }
    return mesh;
}

}  // namespace

TriangleMesh solid_surface(const Obstacle& obstacle)
{
    Obstacle solid = obstacle;
    std::erase_if(solid.shapes,
                  [](const Shape& shape) { return std::holds_alternative<PlaneShape>(shape); });
    if (solid.shapes.empty()) return {};
    std::vector<Vec3d> corners;
    for (const Shape& shape : solid.shapes) {
        const auto more = std::visit([](const auto& s) { return corners_of(s); }, shape);
        corners.insert(corners.end(), more.begin(), more.end());
    }
    DistanceGrid grid = grid_around(corners);
    sample(grid, solid);
    return zero_surface(grid);
}

TriangleMesh posed(TriangleMesh own, const Obstacle& obstacle, double time)
{
    const ObstaclePlacement placement = placement_of(obstacle, time, 1);
    for (Vec3d& p : own.points) p = placement.position + placement.to_world(p);
    return own;
}

TriangleMesh plane_surfaces(const Obstacle& obstacle, double time, const PlaneCut& cut)
{
    const ObstaclePlacement placement = placement_of(obstacle, time, 1);
    TriangleMesh mesh;
    for (const Shape& shape : obstacle.shapes) {
        const auto* plane = std::get_if<PlaneShape>(&shape);
        if (plane == nullptr) continue;
        const Vec3d point = placement.position + placement.to_world(plane->point);
        const Vec3d normal = (1 / length(plane->normal)) * placement.to_world(plane->normal);
        const Vec3d u = unit_across(normal), v = cross(normal, u);
        const Vec3d middle = cut.middle - dot(cut.middle - point, normal) * normal;
        append(mesh, square(middle, cut.side * u, cut.side * v));
    }
    return mesh;
}

TriangleMesh obstacle_surface(const Obstacle& obstacle, double time, const PlaneCut& cut)
{
    check_obstacle(obstacle, "surface of an obstacle");
    TriangleMesh mesh = posed(solid_surface(obstacle), obstacle, time);
    append(mesh, plane_surfaces(obstacle, time, cut));
    return mesh;
}

}  // namespace springtime
