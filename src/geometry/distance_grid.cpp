// OpenVDB is used here and nowhere else: its headers cost many seconds.
#include "geometry/distance_grid.h"

#include <openvdb/math/Proximity.h>
#include <openvdb/openvdb.h>
#include <openvdb/tools/MeshToVolume.h>
#include <openvdb/tools/VolumeToMesh.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "geometry/mesh_geometry.h"
#include "springtime/error.h"
#include "springtime/geometry.h"

namespace springtime {

namespace {

constexpr double kMostPoints = 1 << 26;  // 256 MiB

void check_length(double value, std::string_view what)
{
    if (std::isfinite(value) && value > 0) return;
    throw Error("distance grid: {} is {} m; it must be finite and positive", what, value);
}

// Box and spacing, without distances.
DistanceGrid empty_grid(const TriangleMesh& mesh, double spacing, double band)
{
    const Bounds bounds = bounds_of(welded(mesh).points);
    DistanceGrid grid;
    grid.spacing = spacing;
    double count = 1;
    std::array<double, 3> size;
    for (int axis = 0; axis < 3; ++axis) {
        grid.origin[axis] = bounds.low[axis] - band;
        size[axis] = 1 + std::ceil((bounds.high[axis] - bounds.low[axis] + 2 * band) / spacing);
        count *= size[axis];
    }
    if (count > kMostPoints) {
        throw Error(
            "distance grid: {} x {} x {} points with {} m between them; at most {} fit, so choose "
            "a "
            "larger spacing",
            size[0], size[1], size[2], spacing, kMostPoints);
    }
    for (int axis = 0; axis < 3; ++axis) grid.size[axis] = static_cast<int>(size[axis]);
    return grid;
}

// The mesh with the points of the grid at whole coordinates.
struct ScaledMesh {
    std::vector<openvdb::Vec3s> points;
    std::vector<openvdb::Vec3I> triangles;

    ScaledMesh(const TriangleMesh& mesh, const DistanceGrid& frame)
    {
        for (const Vec3d& p : mesh.points) {
            const Vec3d x = (1 / frame.spacing) * (p - frame.origin);
            points.emplace_back(x.x, x.y, x.z);
        }
        for (const auto& [a, b, c] : mesh.triangles) triangles.emplace_back(a, b, c);
    }
    double distance(int triangle, const openvdb::Vec3d& x) const
    {
        const openvdb::Vec3I& corners = triangles[triangle];
        openvdb::Vec3d weights;
        const openvdb::Vec3d nearest = openvdb::math::closestPointOnTriangleToPoint(
            points[corners[0]], points[corners[1]], points[corners[2]], x, weights);
        return (nearest - x).length();
    }
};

// One entry for each point of the grid.
struct Nearest {
    std::array<int, 3> size;
    std::vector<float> distance;  // signed, in units of the spacing
    std::vector<int> triangle;    // -1 where it is not known

    std::size_t index(int x, int y, int z) const
    {
        return (std::size_t(z) * size[1] + y) * size[0] + x;
    }
};

// The sign everywhere, distances within a few spacings of the surface.
Nearest nearest_by_openvdb(const ScaledMesh& mesh, const std::array<int, 3>& size)
{
    const openvdb::tools::QuadAndTriangleDataAdapter<openvdb::Vec3s, openvdb::Vec3I> surface(
        mesh.points, mesh.triangles);
    constexpr float kBand = 3;
    constexpr float kFar = std::numeric_limits<float>::max();
    openvdb::util::NullInterrupter nobody;
    openvdb::Int32Grid triangles(-1);
    const auto unit = openvdb::math::Transform::createLinearTransform(1);
    // Renormalizing smooths surfaces that cut themselves, but moves sound ones.
    const auto distances = openvdb::tools::meshToVolume<openvdb::FloatGrid>(
        nobody, surface, *unit, kBand, kBand, openvdb::tools::DISABLE_RENORMALIZATION, &triangles);
    Nearest nearest{size, {}, {}};
    const auto distance = distances->getConstAccessor();
    const auto triangle = triangles.getConstAccessor();
    for (int z = 0; z < size[2]; ++z) {
        for (int y = 0; y < size[1]; ++y) {
            for (int x = 0; x < size[0]; ++x) {
                const bool known = triangle.isValueOn({x, y, z});
                const int found = known ? triangle.getValue({x, y, z}) : -1;
                // The value itself is cut off at the rim of the band.
                const double away = known ? mesh.distance(found, openvdb::Vec3d(x, y, z)) : kFar;
                const float sign = distance.getValue({x, y, z});
                nearest.triangle.push_back(found);
                nearest.distance.push_back(std::copysign(static_cast<float>(away), sign));
            }
        }
    }
    return nearest;
}

// Takes the triangle of a neighbour where that is nearer than the own one.
void try_neighbor(Nearest& nearest, const ScaledMesh& mesh, std::size_t at, std::size_t neighbor,
                  const openvdb::Vec3d& x)
{
    const int triangle = nearest.triangle[neighbor];
    if (triangle < 0 || triangle == nearest.triangle[at]) return;
    const auto found = static_cast<float>(mesh.distance(triangle, x));
    if (found >= std::abs(nearest.distance[at])) return;
    nearest.distance[at] = std::copysign(found, nearest.distance[at]);
    nearest.triangle[at] = triangle;
}

// Visits the 13 of the 26 neighbours that come before (step 1) or after (step -1) a point.
template <class Visit>
void for_half_of_neighbors(int step, Visit visit)
{
    for (int i = 0; i < 13; ++i)
        visit(step * (i % 3 - 1), step * (i / 3 % 3 - 1), step * (i / 9 - 1));
}

// Hands triangles on from neighbour to neighbour, forwards and backwards. OpenVDB does so too, but
// in the order of its blocks, which leaves errors of half a spacing two spacings off the surface of
// a sphere. Two rounds leave none near the surface, and a twentieth of a spacing deep inside.
void refine(Nearest& nearest, const ScaledMesh& mesh)
{
    const auto [nx, ny, nz] = nearest.size;
    const auto visit = [&](int i, int step) {
        const int x = i % nx, y = i / nx % ny, z = i / nx / ny;
        for_half_of_neighbors(step, [&](int dx, int dy, int dz) {
            const int ox = x + dx, oy = y + dy, oz = z + dz;
            if (ox < 0 || oy < 0 || oz < 0 || ox >= nx || oy >= ny || oz >= nz) return;
            try_neighbor(nearest, mesh, i, nearest.index(ox, oy, oz), openvdb::Vec3d(x, y, z));
        });
    };
    const int count = nx * ny * nz;
    constexpr int kRounds = 2;
    for (int round = 0; round < kRounds; ++round) {
        for (int i = 0; i < count; ++i) visit(i, 1);
        for (int i = count - 1; i >= 0; --i) visit(i, -1);
    }
}

}  // namespace

DistanceGrid make_distance_grid(const TriangleMesh& closed, double spacing, double band)
{
    check_length(spacing, "the spacing");
    check_length(band, "the band");
    check_closed(closed, "distance grid: mesh");
    DistanceGrid grid = empty_grid(closed, spacing, band);
    const ScaledMesh mesh(welded(closed), grid);
    Nearest nearest = nearest_by_openvdb(mesh, grid.size);
    refine(nearest, mesh);
    for (const float distance : nearest.distance) {
        grid.distance.push_back(static_cast<float>(spacing * distance));
    }
    return grid;
}

TriangleMesh zero_surface(const DistanceGrid& grid)
{
    const auto voxels = openvdb::FloatGrid::create(std::numeric_limits<float>::max());
    auto voxel = voxels->getAccessor();
    std::size_t i = 0;
    for (int z = 0; z < grid.size[2]; ++z) {
        for (int y = 0; y < grid.size[1]; ++y) {
            for (int x = 0; x < grid.size[0]; ++x) voxel.setValue({x, y, z}, grid.distance[i++]);
        }
    }
    std::vector<openvdb::Vec3s> points;
    std::vector<openvdb::Vec4I> squares;
    openvdb::tools::volumeToMesh(*voxels, points, squares);
    TriangleMesh mesh;
    for (const openvdb::Vec3s& p : points) {
        mesh.points.push_back(grid.origin + grid.spacing * Vec3d{p.x(), p.y(), p.z()});
    }
    for (const openvdb::Vec4I& square : squares) {
        const std::array<int, 4> corner{int(square[0]), int(square[1]), int(square[2]),
                                        int(square[3])};
        mesh.triangles.push_back({corner[0], corner[1], corner[2]});
        mesh.triangles.push_back({corner[0], corner[2], corner[3]});
    }
    return mesh;
}

}  // namespace springtime
