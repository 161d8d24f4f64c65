// Distances to solids against closed forms, their normals against finite differences, and how
// obstacles move.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "core/random.h"
#include "error_of.h"
#include "obstacles.h"
#include "sim/obstacle_placement.h"

namespace springtime {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double distance(const Shape& shape, const Vec3d& y)
{
    return signed_distance(solid({shape}), y, 0);
}

Vec3d normal(const Shape& shape, const Vec3d& y)
{
    return nearest_surface(solid({shape}), y).normal;
}

Vec3d random_point(Random& random, double reach)
{
    return {reach * (2 * random.uniform() - 1), reach * (2 * random.uniform() - 1),
            reach * (2 * random.uniform() - 1)};
}

// ---- Closed forms ----

TEST(Distance, ToAPlane)
{
    // (1, 2, 2)/3 is a unit vector, and (2, 1, 1) is 2 along it from the plane through (1, 0, 0).
    const PlaneShape plane{{1, 0, 0}, {3, 6, 6}};
    EXPECT_NEAR(distance(plane, {2, 1, 1}), 5.0 / 3, 1e-15);
    EXPECT_NEAR(distance(plane, {0, -1, -1}), -5.0 / 3, 1e-15);
    EXPECT_NEAR(length(normal(plane, {5, 5, 5}) - (1.0 / 3) * Vec3d{1, 2, 2}), 0, 1e-15);
}

TEST(Distance, ToASphereAndACapsule)
{
    EXPECT_NEAR(distance(sphere({1, 2, 3}, 0.5), {1, 5, 7}), 5 - 0.5, 1e-15);
    EXPECT_NEAR(distance(sphere({1, 2, 3}, 0.5), {1, 2.2, 3}), 0.2 - 0.5, 1e-15);
    const CapsuleShape capsule{{0, 0, 0}, {2, 0, 0}, 0.25};
    EXPECT_NEAR(distance(capsule, {1.3, 0.6, 0.8}), 0.75, 1e-15);       // beside the segment
    EXPECT_NEAR(distance(capsule, {5, 4, 0}), 5 - 0.25, 1e-15);         // past its end
    EXPECT_NEAR(distance(capsule, {-0.3, 0, 0.4}), 0.5 - 0.25, 1e-15);  // before its start
    EXPECT_NEAR(distance(capsule, {1, 0, 0.1}), 0.1 - 0.25, 1e-15);     // inside
}

TEST(Distance, ToARoundedBox)
{
    const BoxShape sharp{{1, 1, 1}, {1, 2, 3}, 0}, round{{1, 1, 1}, {1, 2, 3}, 0.5};
    for (const BoxShape& box : {sharp, round}) {
        EXPECT_NEAR(distance(box, {3, 1, 1}), 1, 1e-15);     // off a face
        EXPECT_NEAR(distance(box, {1, 1.5, 1}), -1, 1e-15);  // at the middle, x faces are nearest
        EXPECT_NEAR(distance(box, {1, 2.75, 1}), -0.25, 1e-15);  // just under the top
    }
    // 3 and 4 beyond the edge of the sharp one; rounding takes the edge to the core's, 0.5 inside.
    EXPECT_NEAR(distance(sharp, {2 + 3, 3 + 4, 1}), 5, 1e-15);
    EXPECT_NEAR(distance(round, {1.5 + 3, 2.5 + 4, 1}), 5 - 0.5, 1e-15);
    EXPECT_NEAR(distance(round, {1.5 + 2, 2.5 + 1, 3.5 + 2}), 3 - 0.5, 1e-15);  // off a corner
}

TEST(Distance, OfAUnionIsThatOfTheNearest)
{
    const Obstacle two = solid({sphere({0, 0, 0}, 1), BoxShape{{5, 0, 0}, {1, 1, 1}, 0}});
    EXPECT_DOUBLE_EQ(signed_distance(two, {2, 0, 0}, 0), 1);
    EXPECT_DOUBLE_EQ(signed_distance(two, {3.5, 0, 0}, 0), 0.5);
    EXPECT_DOUBLE_EQ(nearest_surface(two, {3.5, 0, 0}).normal.x, -1);
}

// ---- Normals ----

std::vector<Shape> sample_shapes()
{
    const auto egg = [](const Vec3d& y) { return length(y) - 1.1 + 0.2 * y.x; };
    return {PlaneShape{{0.1, 0, 0}, {1, 2, -1}},
            sphere({0.1, -0.2, 0.3}, 0.8),
            CapsuleShape{{-0.5, 0.2, 0}, {0.7, -0.3, 0.4}, 0.4},
            BoxShape{{0.1, 0, -0.1}, {0.9, 0.7, 0.5}, 0},
            BoxShape{{0.1, 0, -0.1}, {0.9, 0.7, 0.5}, 0.3},
            BoxShape{{0, 0, 0}, {0.5, 0.5, 0.5}, 0.5},
            GridShape{sampled({9, 8, 7}, {-1, -0.9, -0.8}, 0.25, egg)}};
}

TEST(Normal, IsTheDirectionOfTheGradient)
{
    // Central differences, O(h^2) while no kink of the distance lies between the two points; a kink
    // is met where the one-sided slopes differ. Grids have one in every face of a cell.
    const double h = 1e-6;
    int compared = 0;
    for (const Shape& shape : sample_shapes()) {
        Random random(3);
        for (int i = 0; i < 500; ++i) {
            const Vec3d y = random_point(random, 1.5);
            const double here = distance(shape, y);
            Vec3d gradient;
            bool kink = false;
            for (int axis = 0; axis < 3; ++axis) {
                Vec3d up = y, down = y;
                up[axis] += h;
                down[axis] -= h;
                const double rise = distance(shape, up) - here, fall = here - distance(shape, down);
                kink = kink || std::abs(rise - fall) > 1e-3 * h;
                gradient[axis] = (rise + fall) / (2 * h);
            }
            if (kink || length(gradient) < 0.1) continue;
            ++compared;
            const Vec3d expected = (1 / length(gradient)) * gradient;
            EXPECT_LE(length(normal(shape, y) - expected), 1e-8) << "shape " << shape.index();
        }
    }
    EXPECT_GE(compared, 3000);  // of 3500
}

TEST(Normal, IsAUnitVectorEverywhere)
{
    const double inf = std::numeric_limits<double>::infinity();
    for (const Shape& shape : sample_shapes()) {
        Random random(4);
        std::vector<Vec3d> points{{0.1, -0.2, 0.3},  {-0.5, 0.2, 0}, {0.7, -0.3, 0.4},
                                  {0.1, -0.05, 0.2}, {0.1, 0, -0.1}, {0, 0, 0},
                                  {1, 0.7, 0.4}};
        for (int i = 0; i < 200; ++i) points.push_back(random_point(random, 2));
        for (const Vec3d& y : points) {
            EXPECT_NEAR(length(normal(shape, y)), 1, 1e-14) << "shape " << shape.index();
        }
        // A cloth that blew up must not crash where a distance is looked up.
        distance(shape, {kNan, 0, 0});
        distance(shape, {inf, -inf, kNan});
    }
    // Exactly on the middle of things.
    EXPECT_EQ(distance(sphere({1, 2, 3}, 0.5), {1, 2, 3}), -0.5);
    const CapsuleShape along_y{{0, 0, 0}, {0, 2, 0}, 0.5};
    EXPECT_NEAR(normal(along_y, {0, 1, 0}).y, 0, 1e-15);  // out, not along
    EXPECT_NEAR(length(normal(along_y, {0, 1, 0})), 1, 1e-15);
}

// ---- Grids ----

TEST(Grid, FollowsASampledSphereToSecondOrder)
{
    // Linear interpolation errs by at most s^2/8 times the second derivative along each axis; that
    // of the distance to a point is at most 1/r, and the three of them add up to 2/r.
    const double spacing = 0.1, radius = 1;
    const auto exact = [&](const Vec3d& y) { return length(y) - radius; };
    const GridShape grid{sampled({31, 31, 31}, {-1.5, -1.5, -1.5}, spacing, exact)};
    Random random(5);
    double largest = 0;
    for (int i = 0; i < 2000; ++i) {
        const Vec3d y = random_point(random, 1.5);
        const double r = length(y) - std::sqrt(3.0) * spacing;  // nearest corner of the cell
        if (r < 0.2) continue;
        const double error = std::abs(distance(grid, y) - exact(y));
        EXPECT_LE(error, spacing * spacing / 8 * 2 / r + 1e-6);
        largest = std::max(largest, error);
        EXPECT_GE(dot(normal(grid, y), y) / length(y), 1 - std::pow(spacing / r, 2));
    }
    EXPECT_GE(largest, 1e-4);  // the bound is of the size of the error
}

TEST(Grid, HasTheValuesOfItsPoints)
{
    Random random(6);
    const auto any = [&](const Vec3d&) { return random.uniform(); };
    const auto grid = sampled({3, 4, 5}, {1, 2, 3}, 0.5, any);
    for (int i = 0; i < 60; ++i) {
        const Vec3d y =
            grid->origin + 0.5 * Vec3d{double(i % 3), double(i / 3 % 4), double(i / 12)};
        EXPECT_NEAR(distance(GridShape{grid}, y), grid->distance[i], 1e-15);
    }
}

TEST(Grid, GoesOnBeyondItsBox)
{
    // The value at the nearest point of the box plus the way to it.
    const auto linear = [](const Vec3d& y) { return 0.25 * y.x - 0.125 * y.y + 0.5 * y.z; };
    const GridShape grid{sampled({3, 3, 3}, {0, 0, 0}, 0.5, linear)};
    EXPECT_NEAR(distance(grid, {0.3, 0.7, 0.2}), linear({0.3, 0.7, 0.2}), 1e-15);
    EXPECT_NEAR(distance(grid, {0.3, 0.7, 1.2}), linear({0.3, 0.7, 1}) + 0.2, 1e-15);
    EXPECT_NEAR(distance(grid, {-3, 0.7, 5}), linear({0, 0.7, 1}) + 5, 1e-15);
    EXPECT_NEAR(distance(grid, {-2, 3, -1}), linear({0, 1, 0}) + 3, 1e-15);
}

// ---- Motion ----

Obstacle turning_sphere()
{
    Obstacle obstacle = solid({sphere({1, 0, 0}, 0.5)});
    obstacle.key_time = {1, 3};
    obstacle.key_pose = {{{0, 0, 0}, {0, 0, 0}}, {{4, 0, 2}, {0, std::numbers::pi, 0}}};
    return obstacle;
}

TEST(Motion, IsLinearBetweenKeysAndConstantBeyond)
{
    const Obstacle obstacle = turning_sphere();
    EXPECT_TRUE(obstacle.moving());
    EXPECT_EQ(obstacle.pose(0).position.x, 0);
    EXPECT_EQ(obstacle.pose(1.5).position.x, 1);
    EXPECT_EQ(obstacle.pose(2).position.z, 1);
    EXPECT_EQ(obstacle.pose(2).turn.y, std::numbers::pi / 2);
    EXPECT_EQ(obstacle.pose(3).position.x, 4);
    EXPECT_EQ(obstacle.pose(9).turn.y, std::numbers::pi);
}

TEST(Motion, CarriesTheShapesAlong)
{
    // A quarter turn about y takes x to -z: the centre is at (2, 0, 1) + (0, 0, -1) at 2 s.
    const Obstacle obstacle = turning_sphere();
    EXPECT_NEAR(signed_distance(obstacle, {2, 0, 0}, 2), -0.5, 1e-14);
    EXPECT_NEAR(signed_distance(obstacle, {2, 3, 4}, 2), 5 - 0.5, 1e-14);
    EXPECT_NEAR(signed_distance(obstacle, {1, 0, 0}, 0), -0.5, 1e-14);
}

TEST(Motion, SurfaceVelocityIsThatOfARigidBody)
{
    // v = drift + w x r, to first order in the step: the way is an arc, its chord lags by w dt/2.
    const Obstacle obstacle = turning_sphere();
    const double dt = 1e-4, time = 2;
    const Vec3d w{0, std::numbers::pi / 2, 0}, drift{2, 0, 1};
    Random random(8);
    for (int i = 0; i < 20; ++i) {
        const Vec3d x = random_point(random, 3);
        const Vec3d r = x - obstacle.pose(time).position;
        const Vec3d expected = drift + cross(w, r);
        EXPECT_LE(length(surface_velocity(obstacle, x, time, dt) - expected),
                  0.51 * dt * dot(w, w) * length(r));
    }
    // It stands still before the first key and after the last.
    EXPECT_EQ(length(surface_velocity(obstacle, {1, 2, 3}, 0.5, dt)), 0);
    EXPECT_LE(length(surface_velocity(obstacle, {1, 2, 3}, 3.5, dt)), 1e-11);
}

TEST(Motion, SurfaceVelocityLeadsBackToWhereThePointWas)
{
    // A point of the solid stays at its distance: that of x now is that of x - dt v a step ago.
    Obstacle box = solid({BoxShape{{0.2, 0, 0}, {0.5, 1, 0.7}, 0.1}});
    box.key_time = {0, 1};
    box.key_pose = {{{0, 1, 0}, {0.3, 0, 0}}, {{1, 2, -1}, {1, 2, 3}}};
    Random random(9);
    for (int i = 0; i < 50; ++i) {
        const Vec3d x = random_point(random, 2);
        const double dt = 0.05, time = 0.6;
        const Vec3d before = x - dt * surface_velocity(box, x, time, dt);
        EXPECT_NEAR(signed_distance(box, before, time - dt), signed_distance(box, x, time), 1e-13);
    }
}

// ---- Ready-made obstacles ----

TEST(Ready, TableHasItsTopAtTheOrigin)
{
    const Obstacle table = make_table(4, 0.2, 0.1, 1.5);
    EXPECT_NEAR(signed_distance(table, {0, 0.7, 0}, 0), 0.7, 1e-15);
    EXPECT_NEAR(signed_distance(table, {1.8, 0.7, -1.8}, 0), 0.7, 1e-15);
    EXPECT_NEAR(signed_distance(table, {2.5, -0.1, 0}, 0), 0.5, 1e-15);
    EXPECT_GT(signed_distance(table, {1.8, -0.7, 0}, 0), 0);  // room beside the foot
    EXPECT_LT(signed_distance(table, {0, -1.49, 0}, 0), 0);   // the foot
    EXPECT_NEAR(signed_distance(table, {0, -2, 0}, 0), 0.5, 1e-15);
}

TEST(Ready, AnimalIsAsLongAsAskedAndGrowsWithIt)
{
    const Obstacle animal = make_animal(2), large = make_animal(6);
    check_obstacle(animal, "animal");
    EXPECT_GE(animal.shapes.size(), 12u);
    // Its ends along x: the first and last places that are inside, over all heights and widths.
    double low = 9, high = -9;
    for (double y = -1.2; y <= 0.6; y += 0.01) {
        for (double x = -1.2; x <= 1.2; x += 0.005) {
            if (signed_distance(animal, {x, y, 0}, 0) > 0) continue;
            low = std::min(low, x);
            high = std::max(high, x);
        }
    }
    EXPECT_NEAR(low, -1, 0.01);
    EXPECT_NEAR(high, 1, 0.01);
    // Its back is level with the origin, four feet stand on one ground, and there is room between.
    EXPECT_NEAR(signed_distance(animal, {-0.1, 0.25, 0}, 0), 0.25, 1e-12);
    for (const double x : {0.36, -0.52}) {
        for (const double z : {-0.16, 0.16}) {
            EXPECT_NEAR(signed_distance(animal, {x, -1.2, z}, 0), 0, 1e-12);
            EXPECT_LT(signed_distance(animal, {x, -1, z}, 0), 0);
        }
    }
    EXPECT_GT(signed_distance(animal, {0, -0.9, 0}, 0), 0);
    Random random(10);
    for (int i = 0; i < 50; ++i) {
        const Vec3d y = random_point(random, 2);
        EXPECT_NEAR(signed_distance(large, 3.0 * y, 0), 3 * signed_distance(animal, y, 0), 1e-13);
    }
}

// ---- Errors ----

std::string error_with(const Shape& shape)
{
    return error_of([&] { check_obstacle(solid({shape}), "hill"); });
}

TEST(ObstacleError, NamesWhatIsWrongWithAShape)
{
    EXPECT_EQ(error_of([] { check_obstacle(solid({}), "hill"); }),
              "hill: no shapes; give at least one");
    EXPECT_EQ(error_with(PlaneShape{{0, kNan, 0}, {0, 1, 0}}),
              "hill: plane with a point or normal that is not finite; give numbers");
    EXPECT_EQ(error_with(PlaneShape{{}, {0, 0, 0}}),
              "hill: plane with a normal of length 0; it must point somewhere");
    EXPECT_EQ(error_with(CapsuleShape{{kNan, 0, 0}, {}, 1}),
              "hill: capsule with an end that is not finite; give numbers");
    EXPECT_EQ(error_with(CapsuleShape{{}, {}, 0}),
              "hill: capsule of radius 0 m; it must be finite and positive");
    EXPECT_EQ(error_with(BoxShape{{kNan, 0, 0}, {1, 1, 1}, 0}),
              "hill: box with a centre that is not finite; give numbers");
    EXPECT_EQ(error_with(BoxShape{{}, {1, 0, 1}, 0}),
              "hill: box with half sides 1, 0, 1 m; they must be finite and positive");
    EXPECT_EQ(error_with(BoxShape{{}, {1, 0.5, 1}, 0.75}),
              "hill: box with edges rounded by 0.75 m; give 0 to 0.5 m, the least half side");
    EXPECT_EQ(error_with(BoxShape{{}, {1, 0.5, 1}, -0.1}),
              "hill: box with edges rounded by -0.1 m; give 0 to 0.5 m, the least half side");
}

TEST(ObstacleError, NamesWhatIsWrongWithAGrid)
{
    const auto good = [] {
        return sampled({2, 3, 4}, {}, 0.5, [](const Vec3d& y) { return y.y; });
    };
    EXPECT_EQ(error_with(GridShape{good()}), "(no error)");
    EXPECT_EQ(error_with(GridShape{}), "hill: a distance grid is missing; give one");
    const auto with = [&](auto change) {
        const auto grid = good();
        change(*grid);
        return error_with(GridShape{grid});
    };
    EXPECT_EQ(with([](DistanceGrid& g) {
                  g.size = {1, 6, 4};
              }),
              "hill: distance grid of 1 x 6 x 4 points; it needs two along each axis");
    EXPECT_EQ(with([](DistanceGrid& g) {
                  g.size = {5000, 5000, 5000};
              }),
              "hill: distance grid of 5000 x 5000 x 5000 points; use at most 2147483647 in all");
    EXPECT_EQ(with([](DistanceGrid& g) { g.distance.pop_back(); }),
              "hill: distance grid with 23 values for 2 x 3 x 4 points; give one each");
    EXPECT_EQ(
        with([](DistanceGrid& g) { g.spacing = 0; }),
        "hill: distance grid with spacing 0 m; origin and spacing must be finite, the spacing "
        "positive");
    EXPECT_EQ(with([](DistanceGrid& g) { g.distance[7] = float(kNan); }),
              "hill: distance 7 of the grid is not finite; every one must be");
}

TEST(ObstacleError, NamesWhatIsWrongWithFrictionOrKeys)
{
    const auto with = [](auto change) {
        Obstacle obstacle = solid({PlaneShape{}});
        change(obstacle);
        return error_of([&] { check_obstacle(obstacle, "hill"); });
    };
    EXPECT_EQ(with([](Obstacle&) {}), "(no error)");
    EXPECT_EQ(with([](Obstacle& o) { o.friction = -1; }),
              "hill: friction -1; it must be finite and not negative");
    EXPECT_EQ(with([](Obstacle& o) {
                  o.key_time = {};
                  o.key_pose = {};
              }),
              "hill: 0 key times and 0 key poses; give one pose for each time, at least one");
    EXPECT_EQ(with([](Obstacle& o) {
                  o.key_time = {0, 1};
              }),
              "hill: 2 key times and 1 key poses; give one pose for each time, at least one");
    EXPECT_EQ(with([](Obstacle& o) {
                  o.key_time = {1, 1};
                  o.key_pose.resize(2);
              }),
              "hill: key 1 is at 1 s; times must be finite and ascend");
    EXPECT_EQ(with([](Obstacle& o) { o.key_pose[0].turn.x = kNan; }),
              "hill: key 0: the pose is not finite; give numbers");
}

TEST(ObstacleError, OfReadyMadeOnes)
{
    EXPECT_EQ(error_of([] { make_table(1, 0.5, 0, 0.4); }),
              "table: 0.4 m high with a top of 0.5 m; it must be higher than its top");
    EXPECT_EQ(error_of([] { make_table(1, 0.5, 0.3, 1); }),
              "table: box with edges rounded by 0.3 m; give 0 to 0.25 m, the least half side");
    EXPECT_EQ(error_of([] { make_animal(0); }),
              "animal: 0 m long; the length must be finite and positive");
}

TEST(CheckObstacle, SizesFitIntoFloats)
{
    const Obstacle huge{"huge", {CapsuleShape{{}, {}, 1e300}}};
    EXPECT_NE(error_of([&] { check_obstacle(huge, "o"); }).find("stay below"), std::string::npos);
    Obstacle far{"far", {CapsuleShape{}}};
    far.key_pose = {{{0, 1e12, 0}, {}}};
    EXPECT_NE(error_of([&] { check_obstacle(far, "o"); }).find("stay below"), std::string::npos);
}

}  // namespace

}  // namespace springtime
