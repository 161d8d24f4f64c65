#include "formats/obstacle_fit.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "geometry/mesh_geometry.h"
#include "springtime/error.h"

namespace springtime {

namespace {

constexpr int kPointsAlong =
    96;  // of a mesh's longest side: a cow keeps its ears, in a few megabytes
constexpr int kBandPoints = 8;

// A solid thinner than the spacing falls between the points of the grid.
void check_volume(const DistanceGrid& grid, const TriangleMesh& mesh, std::string_view source)
{
    const auto inside = std::count_if(grid.distance.begin(), grid.distance.end(),
                                      [](float distance) { return distance < 0; });
    const double found = double(inside) * std::pow(grid.spacing, 3), needed = volume_of(mesh);
    if (found >= 0.5 * needed) return;
    throw Error(
        "{}: too thin for a distance grid with {:.3g} m between its points, which holds {:.2g} of "
        "its volume; give a smaller spacing in a TOML file, or a thicker solid",
        source, grid.spacing, found / needed);
}

// Scaled and moved to have the middle of the top at the origin.
TriangleMesh fitted(TriangleMesh mesh, double size)
{
    const Bounds bounds = bounds_of(mesh.points);
    const double side = std::max(bounds.high.x - bounds.low.x, bounds.high.z - bounds.low.z);
    const Vec3d top{(bounds.low.x + bounds.high.x) / 2, bounds.high.y,
                    (bounds.low.z + bounds.high.z) / 2};
    for (Vec3d& p : mesh.points) p = (size / side) * (p - top);
    return mesh;
}

Obstacle make_floor()
{
    Obstacle floor;
    floor.name = "floor";
    floor.shapes = {PlaneShape{}};
    return floor;
}

Obstacle make_sphere(double size)
{
    Obstacle sphere;
    sphere.name = "sphere";
    const Vec3d center{0, -size / 2, 0};
    sphere.shapes = {CapsuleShape{center, center, size / 2}};
    return sphere;
}

Obstacle make_fitted_table(double size)
{
    return make_table(size, kTable.thickness * size, kTable.rounding * size, kTable.height * size);
}

// The head of the animal would begin above a sheet that begins just above its back.
Obstacle make_fitted_animal(double size)
{
    Obstacle animal = make_animal(size);
    animal.key_pose = {Pose{{0, -kAnimalHornHeight * size, 0}, {}}};
    return animal;
}

}  // namespace

Shape mesh_shape(const TriangleMesh& mesh, std::optional<double> spacing, std::string_view source)
{
    const Bounds bounds = bounds_of(mesh.points);
    const Vec3d side = bounds.high - bounds.low;
    const double step = spacing.value_or(std::max({side.x, side.y, side.z}) / kPointsAlong);
    const auto grid =
        std::make_shared<DistanceGrid>(make_distance_grid(mesh, step, kBandPoints * step));
    check_volume(*grid, mesh, source);
    return GridShape{grid};
}

Obstacle fitted_mesh(const TriangleMesh& mesh, double size, std::string_view source)
{
    check_closed(mesh, source);
    Obstacle obstacle;
    obstacle.shapes = {mesh_shape(fitted(welded(mesh), size), {}, source)};
    return obstacle;
}

std::optional<Obstacle> built_in_obstacle(std::string_view name, double size)
{
    if (name == "floor") return make_floor();
    if (name == "sphere") return make_sphere(size);
    if (name == "table") return make_fitted_table(size);
    if (name == "animal") return make_fitted_animal(size);
    return {};
}

}  // namespace springtime
