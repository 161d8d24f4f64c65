#include <gtest/gtest.h>

#include <cmath>

#include "draw/obstacle_surface.h"
#include "error_of.h"
#include "solids.h"

namespace springtime {
namespace {

// Corners lie on the surface to a part of the spacing of the samples.
void expect_on_surface(const TriangleMesh& mesh, const Obstacle& obstacle, double time,
                       double tolerance)
{
    ASSERT_FALSE(mesh.points.empty());
    double worst = 0;
    for (const Vec3d& p : mesh.points) {
        worst = std::max(worst, std::abs(signed_distance(obstacle, p, time)));
    }
    EXPECT_LT(worst, tolerance);
}

TEST(ObstacleSurface, OfASphereIsClosedAndHasItsVolume)
{
    const double r = 1.5;
    Obstacle ball;
    ball.shapes = {CapsuleShape{{2, 1, 0}, {2, 1, 0}, r}};
    const TriangleMesh mesh = obstacle_surface(ball, 0);
    check_closed(mesh, "surface");
    // Samples lie r / 48 apart, where a sphere bends away from a chord by r / 48^2 / 8.
    expect_on_surface(mesh, ball, 0, 1e-3 * r);
    EXPECT_NEAR(volume_of(mesh), 4 * M_PI / 3 * r * r * r, 3e-3 * 14);  // three times that in r
}

TEST(ObstacleSurface, FollowsAMovingObstacle)
{
    Obstacle bar;
    bar.shapes = {CapsuleShape{{-1, 0, 0}, {1, 0, 0}, 0.4},
                  BoxShape{{1, 0.5, 0}, {0.3, 0.5, 0.3}, 0.2}};
    bar.key_time = {0, 2};
    bar.key_pose = {Pose{{1, 0, 0}, {0, 0, 0}}, Pose{{3, -1, 4}, {0.4, -1.2, 0.7}}};
    for (const double time : {0.0, 1.3, 9.0}) {
        // Where shapes meet in a crease, corners are rounded off by a part of the spacing, 3 cm.
        expect_on_surface(obstacle_surface(bar, time), bar, time, 0.02);
    }
}

TEST(ObstacleSurface, OfAMeshIsTheMesh)
{
    const TriangleMesh ball = sphere_mesh(0.5, 4);
    Obstacle obstacle;
    obstacle.shapes = {
        GridShape{std::make_shared<DistanceGrid>(make_distance_grid(ball, 0.02, 0.1))}};
    const TriangleMesh mesh = obstacle_surface(obstacle, 0);
    for (const Vec3d& p : mesh.points) {
        EXPECT_NEAR(length(p), 0.5, sagitta(ball, 0.5) + 1e-3);  // interpolation: 0.02^2 / 8 / 0.5
    }
    EXPECT_NEAR(volume_of(mesh), volume_of(ball), 0.01 * volume_of(ball));
}

TEST(ObstacleSurface, APlaneIsASquareBelowTheMiddle)
{
    Obstacle slope;
    slope.shapes = {PlaneShape{{0, 1, 0}, {3, 4, 0}}};
    const PlaneCut cut{{2, 5, -1}, 6};
    const TriangleMesh mesh = obstacle_surface(slope, 0, cut);
    expect_on_surface(mesh, slope, 0, 1e-14);
    Vec3d area, centre;
    for (const auto& [a, b, c] : mesh.triangles) {
        area += 0.5 * cross(mesh.points[b] - mesh.points[a], mesh.points[c] - mesh.points[a]);
    }
    for (const Vec3d& p : mesh.points) centre += (1.0 / mesh.points.size()) * p;
    EXPECT_NEAR(length(area - 36.0 * Vec3d{0.6, 0.8, 0}), 0, 1e-12);
    // The foot of the perpendicular from the middle: its height over the plane is 4.4.
    EXPECT_NEAR(length(centre - (cut.middle - 4.4 * Vec3d{0.6, 0.8, 0})), 0, 1e-13);
}

TEST(ObstacleSurface, Errors)
{
    EXPECT_EQ(error_of([] { obstacle_surface({}, 0); }),
              "surface of an obstacle: no shapes; give at least one");
}

}  // namespace
}  // namespace springtime
