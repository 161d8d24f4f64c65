#include "springtime/cloth.h"
#include "springtime/geometry.h"
#include "springtime/simulation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "error_of.h"

namespace springtime {

namespace {

const Vec3d kA{0, 0, 0}, kB{2, 0, 0}, kC{0, 0, 1};

Vec3d random_point(Random& random, double reach)
{
    const auto number = [&] { return reach * (2 * random.uniform() - 1); };
    return {number(), number(), number()};
}

TEST(TriangleDistance, IsThatOfTheFaceTheEdgesAndTheCorners)
{
    EXPECT_DOUBLE_EQ(triangle_distance({0.5, 3, 0.25}, kA, kB, kC), 3);              // above
    EXPECT_DOUBLE_EQ(triangle_distance({0.5, -3, 0.25}, kA, kB, kC), 3);             // below
    EXPECT_DOUBLE_EQ(triangle_distance({1, 3, -4}, kA, kB, kC), 5);                  // beside AB
    EXPECT_DOUBLE_EQ(triangle_distance({-2, 3, -6}, kA, kB, kC), 7);                 // off A
    EXPECT_DOUBLE_EQ(triangle_distance({5, 4, 0}, kA, kB, kC), 5);                   // off B
    EXPECT_NEAR(triangle_distance({2, 0, 1}, kA, kB, kC), 2 / std::sqrt(5), 1e-15);  // beside BC
    EXPECT_DOUBLE_EQ(triangle_distance({3, 0, 0}, kA, kB, kB), 1);  // no area: a segment
    EXPECT_DOUBLE_EQ(triangle_distance({3, 4, 0}, kA, kA, kA), 5);  // a point
}

// The nearest of many points spread over the triangle is at most half their spacing farther away
// than the nearest of all.
TEST(TriangleDistance, AgreesWithPointsSpreadOverTheTriangle)
{
    Random random(3);
    constexpr int kPieces = 60;
    for (int round = 0; round < 50; ++round) {
        const Vec3d a = random_point(random, 1), b = random_point(random, 1),
                    c = random_point(random, 1), point = random_point(random, 2);
        double nearest = HUGE_VAL;
        for (int i = 0; i <= kPieces; ++i) {
            for (int j = 0; i + j <= kPieces; ++j) {
                const Vec3d on =
                    a + (double(i) / kPieces) * (b - a) + (double(j) / kPieces) * (c - a);
                nearest = std::min(nearest, length(point - on));
            }
        }
        const double found = triangle_distance(point, a, b, c);
        const double spacing = (length(b - a) + length(c - a)) / kPieces;
        EXPECT_LE(found, nearest + 1e-12);
        EXPECT_GE(found, nearest - spacing);
    }
}

TEST(SurfaceDistance, LooksAtEveryTriangle)
{
    const Cloth cloth = make_grid_cloth({3, 2, 1}, {.rows = 7, .cols = 9},
                                        MaterialField::uniform(1), MaterialField::uniform(0));
    State state = flat_state(cloth);
    Random random(5);
    for (Vec3d& x : state.position) x += 0.3 * random_point(random, 1);
    const TriangleMesh surface = surface_of(cloth, state);
    ASSERT_EQ(surface.triangles.size(), 2u * 6 * 8);
    std::vector<Vec3d> points;
    double sum = 0, squares = 0, largest = 0;
    for (int i = 0; i < 40; ++i) {
        points.push_back(random_point(random, 2));
        double nearest = HUGE_VAL;
        for (const auto& [a, b, c] : surface.triangles) {
            nearest = std::min(nearest, triangle_distance(points.back(), surface.points[a],
                                                          surface.points[b], surface.points[c]));
        }
        sum += nearest;
        squares += nearest * nearest;
        largest = std::max(largest, nearest);
    }
    const SurfaceDistance distance = surface_distance(points, surface);
    EXPECT_NEAR(distance.mean, sum / 40, 1e-14);
    EXPECT_NEAR(distance.rms, std::sqrt(squares / 40), 1e-14);
    EXPECT_DOUBLE_EQ(distance.largest, largest);
}

TEST(SurfaceDistance, OfASheetToItselfIsZeroAndToALiftedOneItsHeight)
{
    const Cloth cloth = make_grid_cloth({3, 2, 1}, {.rows = 5, .cols = 5},
                                        MaterialField::uniform(1), MaterialField::uniform(0));
    State state = flat_state(cloth);
    const TriangleMesh surface = surface_of(cloth, state);
    EXPECT_EQ(surface_distance(state.position, surface).largest, 0);
    for (Vec3d& x : state.position) x += Vec3d{0.4, 0.25, 0};  // 0.4 m beyond the rim at one end
    const SurfaceDistance distance = surface_distance(state.position, surface);
    EXPECT_DOUBLE_EQ(distance.largest, std::hypot(0.4, 0.25));
    EXPECT_NEAR(distance.mean, (4 * 0.25 + std::hypot(0.4, 0.25)) / 5, 1e-15);
}

TEST(SurfaceDistance, NeedsASurface)
{
    Cloth loose;
    loose.rest = {{0, 0}};
    EXPECT_NE(error_of([&] {
                  surface_of(loose, State{0, {{0, 0, 0}}, {{0, 0, 0}}});
              }).find("neither triangles nor a grid"),
              std::string::npos);
    EXPECT_NE(error_of([] { surface_distance({}, {}); }).find("at least one of each"),
              std::string::npos);
}

}  // namespace

}  // namespace springtime
