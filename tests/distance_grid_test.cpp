#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "error_of.h"
#include "geometry/zero_surface.h"
#include "solids.h"

namespace springtime {
namespace {

// Calls f(place, distance) for every point of the grid.
template <class F>
void for_each_point(const DistanceGrid& grid, F f)
{
    ASSERT_EQ(grid.distance.size(), std::size_t(grid.size[0]) * grid.size[1] * grid.size[2]);
    std::size_t i = 0;
    for (int z = 0; z < grid.size[2]; ++z) {
        for (int y = 0; y < grid.size[1]; ++y) {
            for (int x = 0; x < grid.size[0]; ++x) {
                f(grid.origin + grid.spacing * Vec3d{double(x), double(y), double(z)},
                  double(grid.distance[i++]));
            }
        }
    }
}

// Every point stands for a cell; one that the surface cuts counts with about its share inside.
double volume_inside(const DistanceGrid& grid)
{
    double cells = 0;
    for_each_point(grid, [&](const Vec3d&, double distance) {
        cells += std::clamp(0.5 - distance / grid.spacing, 0.0, 1.0);
    });
    return cells * grid.spacing * grid.spacing * grid.spacing;
}

// The grid of a solid knows its volume, whatever its shape.
void expect_volume(const TriangleMesh& mesh, double tolerance)
{
    const Vec3d size = [&] {
        Vec3d low = mesh.points[0], high = low;
        for (const Vec3d& p : mesh.points) {
            for (int i = 0; i < 3; ++i) {
                low[i] = std::min(low[i], p[i]);
                high[i] = std::max(high[i], p[i]);
            }
        }
        return high - low;
    }();
    const double spacing = std::max({size.x, size.y, size.z}) / 64;
    const DistanceGrid grid = make_distance_grid(mesh, spacing, 4 * spacing);
    const double volume = volume_of(mesh);
    EXPECT_NEAR(volume_inside(grid), volume, tolerance * volume);
}

TEST(DistanceGrid, ASphereHasTheDistanceOfItsFormula)
{
    const double r = 0.8, band = 0.3, spacing = 0.05;
    const Vec3d middle{3, -2, 1};
    const TriangleMesh mesh = sphere_mesh(r, 4, middle);
    const DistanceGrid grid = make_distance_grid(mesh, spacing, band);
    // The mesh lies between the sphere and one that is smaller by the sagitta, and so does every
    // distance. Distances are float. Deep inside, where many triangles are about equally
    // far, the nearest may be missed; seen: 0.045 spacings.
    const double low = r - sagitta(mesh, r, middle);
    double worst = 0;
    for_each_point(grid, [&](const Vec3d& x, double distance) {
        const double from_middle = length(x - middle);
        const double rounding = std::abs(distance) < 5 * spacing ? 1e-6 : 0.1 * spacing;
        EXPECT_GE(distance, (from_middle - r) - rounding);
        EXPECT_LE(distance, from_middle - low + rounding);
        worst = std::max(worst, std::abs(distance - (from_middle - r)));
    });
    EXPECT_GT(worst, 0);
    EXPECT_LT(worst, 0.2 * spacing);  // the bounds above mean something: the sagitta is 4 mm
}

TEST(DistanceGrid, ACubeHasTheDistanceOfItsFormula)
{
    // Inside: the nearest face. Outside: Pythagoras over the axes on which one is outside.
    const DistanceGrid grid = make_distance_grid(cube_mesh(1.3), 0.05, 0.25);
    for_each_point(grid, [&](const Vec3d& x, double distance) {
        const Vec3d q{std::abs(x.x) - 0.65, std::abs(x.y) - 0.65, std::abs(x.z) - 0.65};
        const double inside = std::max({q.x, q.y, q.z});
        const double outside =
            std::hypot(std::max(q.x, 0.0), std::max(q.y, 0.0), std::max(q.z, 0.0));
        EXPECT_NEAR(distance, inside < 0 ? inside : outside, 1e-6);
    });
}

TEST(DistanceGrid, TheBoxIsTheMeshAndItsBand)
{
    const DistanceGrid grid = make_distance_grid(cube_mesh(1, {5, 6, 7}), 0.1, 0.25);
    EXPECT_NEAR(length(grid.origin - Vec3d{4.25, 5.25, 6.25}), 0, 1e-14);
    EXPECT_EQ(grid.size, (std::array{16, 16, 16}));  // 1.5 m in steps of 0.1 m
    EXPECT_EQ(grid.spacing, 0.1);
}

TEST(DistanceGrid, TheVolumeIsThatOfTheMesh)
{
    // The share rule is exact for flat faces; 64 points across leave little curvature in a cell.
    expect_volume(sphere_mesh(1.7, 5, {1, 2, 3}), 1e-3);
}

TEST(DistanceGrid, ADumbBellKeepsItsVolume)
{
    TriangleMesh mesh = sphere_mesh(1, 5);  // two bulges and a waist
    for (Vec3d& p : mesh.points) p = (0.4 + p.x * p.x) * p;
    expect_volume(mesh, 1e-3);
}

// A ring around the z axis of `around` x `across` squares.
TriangleMesh torus_mesh(double large, double small, int around, int across)
{
    TriangleMesh mesh;
    for (int i = 0; i < around; ++i) {
        for (int j = 0; j < across; ++j) {
            const double u = 2 * M_PI * i / around, v = 2 * M_PI * j / across;
            const double r = large + small * std::cos(v);
            mesh.points.push_back({r * std::cos(u), r * std::sin(u), small * std::sin(v)});
            const int up = (i + 1) % around * across, next = (j + 1) % across;
            mesh.triangles.push_back({i * across + j, up + j, up + next});
            mesh.triangles.push_back({i * across + j, up + next, i * across + next});
        }
    }
    return mesh;
}

TEST(DistanceGrid, ATorusHasTheDistanceOfItsFormula)
{
    // d = |(|(x, y)| - R, z)| - r. The mesh lies within the sagitta of both circles.
    const double large = 1, small = 0.4, spacing = 0.06;
    const int around = 120, across = 60;
    const DistanceGrid grid =
        make_distance_grid(torus_mesh(large, small, around, across), spacing, 3 * spacing);
    const double sagitta =
        (large + small) * (1 - std::cos(M_PI / around)) + small * (1 - std::cos(M_PI / across));
    for_each_point(grid, [&](const Vec3d& x, double distance) {
        const double expected = std::hypot(std::hypot(x.x, x.y) - large, x.z) - small;
        EXPECT_NEAR(distance, expected, sagitta + 0.2 * spacing);
        if (std::abs(expected) < 4.5 * spacing) {
            EXPECT_NEAR(distance, expected, sagitta + 1e-6);
        }
    });
}

void append(TriangleMesh& mesh, const TriangleMesh& more, bool inside_out)
{
    const int first = static_cast<int>(mesh.points.size());
    mesh.points.insert(mesh.points.end(), more.points.begin(), more.points.end());
    for (auto [a, b, c] : more.triangles) {
        if (inside_out) std::swap(b, c);
        mesh.triangles.push_back({first + a, first + b, first + c});
    }
}

TEST(DistanceGrid, ACavityIsInside)
{
    TriangleMesh mesh = sphere_mesh(1, 4);
    append(mesh, cube_mesh(0.8), true);
    append(mesh, sphere_mesh(0.2, 3), false);  // a stone in the cavity
    const DistanceGrid grid = make_distance_grid(mesh, 0.05, 0.2);
    for_each_point(grid, [&](const Vec3d& x, double distance) {
        if (length(x) < 0.99) {
            EXPECT_LE(distance, 0);
        }
        if (length(x) > 1.01) {
            EXPECT_GT(distance, 0);
        }
    });
}

TEST(DistanceGrid, PartsMayOverlapAndBeInsideOut)
{
    // The union of two spheres that overlap and a cube apart from them, whose triangles face
    // inward.
    const Vec3d right{0.9, 0, 0}, apart{0, 2.5, 0};
    TriangleMesh mesh = sphere_mesh(1, 4);
    append(mesh, sphere_mesh(1, 4, right), false);
    append(mesh, cube_mesh(1, apart), true);
    const double spacing = 0.07;
    const DistanceGrid grid = make_distance_grid(mesh, spacing, 3 * spacing);
    for_each_point(grid, [&](const Vec3d& x, double distance) {
        const Vec3d q = x - apart;
        const double cube = std::max({std::abs(q.x), std::abs(q.y), std::abs(q.z)}) - 0.5;
        const double inside = std::min({length(x) - 1, length(x - right) - 1, cube});
        if (inside < -0.01) {
            EXPECT_LT(distance, 0);
        }
        if (inside > 0.01) {
            EXPECT_GT(distance, 0);
        }
    });
}

TEST(DistanceGrid, LinesThroughCornersAndEdgesCrossOnce)
{
    // Lines of the grid run through the corners of an octahedron and along its edges.
    const TriangleMesh octahedron = sphere_mesh(1, 0);
    const DistanceGrid grid = make_distance_grid(octahedron, 0.125, 0.25);
    for_each_point(grid, [&](const Vec3d& x, double distance) {
        const double over = std::abs(x.x) + std::abs(x.y) + std::abs(x.z) - 1;
        if (over > 1e-12) {
            EXPECT_GT(distance, 0);
        }
        if (over < -1e-12) {
            EXPECT_LT(distance, 0);
        }
        if (std::abs(over) <= 1e-12) {
            EXPECT_NEAR(distance, 0, 1e-9);
        }
    });
}

TEST(ZeroSurface, OfADistanceGridIsClosedAndKeepsTheVolume)
{
    for (const TriangleMesh& mesh : {sphere_mesh(1, 4), torus_mesh(1, 0.4, 60, 30)}) {
        const TriangleMesh surface = zero_surface(make_distance_grid(mesh, 0.04, 0.1));
        check_closed(surface, "surface");
        // A chord of one spacing lies h^2 / 8 / r below the arc: 5e-4 of the least radius, 0.4.
        EXPECT_NEAR(volume_of(surface), volume_of(mesh), 5e-3 * volume_of(mesh));
    }
}

TEST(DistanceGrid, IsTheSameEveryTime)
{
    const TriangleMesh mesh = sphere_mesh(1, 5);
    const DistanceGrid first = make_distance_grid(mesh, 0.04, 0.1);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(make_distance_grid(mesh, 0.04, 0.1).distance, first.distance);
    }
}

TEST(DistanceGrid, Errors)
{
    const auto fault = [](const TriangleMesh& mesh, double spacing, double band) {
        return error_of([&] { make_distance_grid(mesh, spacing, band); });
    };
    const TriangleMesh cube = cube_mesh(1);
    EXPECT_EQ(fault(cube, 0, 1),
              "distance grid: the spacing is 0 m; it must be finite and positive");
    EXPECT_EQ(fault(cube, 1, -1),
              "distance grid: the band is -1 m; it must be finite and positive");
    EXPECT_EQ(fault(cube, std::numeric_limits<double>::quiet_NaN(), 1),
              "distance grid: the spacing is nan m; it must be finite and positive");
    EXPECT_EQ(
        fault(cube, 0.001, 0.5),
        "distance grid: 2001 x 2001 x 2001 points with 0.001 m between them; at most 67108864 "
        "fit, so choose a larger spacing");
    TriangleMesh open = cube;
    open.triangles.pop_back();
    EXPECT_TRUE(fault(open, 0.1, 0.1).starts_with("distance grid: mesh: the surface is open"));
}

}  // namespace
}  // namespace springtime
