#include "geometry/polygon.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

namespace springtime {
namespace {

using Triangles = std::vector<std::array<int, 3>>;

struct Areas {
    Vec3d sum;           // of the vectors, which for any cut is that of the polygon
    double lengths = 0;  // equal to that of the sum only if no triangle is upside down
};

Areas areas_of(const std::vector<Vec3d>& corners, const Triangles& triangles)
{
    Areas areas;
    for (const auto& [a, b, c] : triangles) {
        const Vec3d area = 0.5 * cross(corners[b] - corners[a], corners[c] - corners[a]);
        areas.sum += area;
        areas.lengths += length(area);
    }
    return areas;
}

// Cuts a polygon of the plane from wherever it may lie in space.
class Anywhere : public testing::Test {
  protected:
    void expect_cut(const std::vector<Vec3d>& flat, double area)
    {
        for (int trial = 0; trial < 200; ++trial) {
            const Vec3d shift{spread_(random_), spread_(random_), spread_(random_)};
            const double a = spread_(random_), b = spread_(random_);
            std::vector<Vec3d> corners;
            for (const Vec3d& p : flat) {
                const Vec3d q{std::cos(a) * p.x - std::sin(a) * p.y,
                              std::sin(a) * p.x + std::cos(a) * p.y, p.z};
                corners.push_back(shift + Vec3d{q.x, std::cos(b) * q.y - std::sin(b) * q.z,
                                                std::sin(b) * q.y + std::cos(b) * q.z});
            }
            const Triangles triangles = cut_polygon(corners);
            ASSERT_EQ(triangles.size(), corners.size() - 2);
            const Areas areas = areas_of(corners, triangles);
            ASSERT_NEAR(length(areas.sum), area, 1e-9);
            ASSERT_NEAR(areas.lengths, area, 1e-9) << "trial " << trial;
            // On the side of the polygon: the turned z axis.
            ASSERT_NEAR(-std::sin(b) * areas.sum.y + std::cos(b) * areas.sum.z, area, 1e-9);
        }
    }

    std::mt19937 random_{1};
    std::uniform_real_distribution<double> spread_{-5, 5};
};

TEST_F(Anywhere, Ell)
{
    expect_cut({{0, 0, 0}, {2, 0, 0}, {2, 1, 0}, {1, 1, 0}, {1, 2, 0}, {0, 2, 0}}, 3);
}

TEST_F(Anywhere, Star)
{
    std::vector<Vec3d> star;
    for (int i = 0; i < 14; ++i) {
        const double angle = std::numbers::pi * i / 7, radius = i % 2 ? 0.3 : 1;
        star.push_back({radius * std::cos(angle), radius * std::sin(angle), 0});
    }
    // Fourteen triangles from the middle.
    expect_cut(star, 14 * 0.5 * 0.3 * std::sin(std::numbers::pi / 7));
}

TEST_F(Anywhere, SpiralWhoseRimIsFullOfReflexCorners)
{
    std::vector<Vec3d> spiral;
    double area = 0;
    for (int i = 0; i <= 60; ++i) {
        const double t = 0.2 * i;
        spiral.push_back({(1 + t) * std::cos(t), (1 + t) * std::sin(t), 0});
    }
    for (int i = 60; i >= 0; --i) {
        const double t = 0.2 * i;
        spiral.push_back({(0.5 + t) * std::cos(t), (0.5 + t) * std::sin(t), 0});
    }
    for (std::size_t i = 0; i < spiral.size(); ++i) {  // the shoelace formula
        const Vec3d &p = spiral[i], &q = spiral[(i + 1) % spiral.size()];
        area += 0.5 * (p.x * q.y - p.y * q.x);
    }
    expect_cut(spiral, area);
}

TEST_F(Anywhere, HoleThatIsJoinedToTheRimByADoubleEdge)
{
    expect_cut({{0, 0, 0},
                {3, 0, 0},
                {3, 3, 0},
                {0, 3, 0},
                {0, 0, 0},
                {1, 1, 0},
                {1, 2, 0},
                {2, 2, 0},
                {2, 1, 0},
                {1, 1, 0}},
               8);
}

TEST(Polygon, QuadIsDividedAlongItsShorterDiagonal)
{
    const Triangles once =
        cut_polygon(std::vector<Vec3d>{{0, 0, 0}, {1, 0, 0}, {2, 1, 0}, {1, 1, 0}});
    for (const auto& triangle : once) {
        EXPECT_EQ(std::count(triangle.begin(), triangle.end(), 1), 1);
        EXPECT_EQ(std::count(triangle.begin(), triangle.end(), 3), 1);
    }
    const Triangles other =
        cut_polygon(std::vector<Vec3d>{{1, 0, 0}, {2, 1, 0}, {1, 1, 0}, {0, 0, 0}});
    for (const auto& triangle : other) {
        EXPECT_EQ(std::count(triangle.begin(), triangle.end(), 0), 1);
        EXPECT_EQ(std::count(triangle.begin(), triangle.end(), 2), 1);
    }
}

// Whatever it is made of, an edge of the polygon is in one triangle and every other in two, so that
// a closed surface stays closed.
TEST(Polygon, RimIsKeptWithoutArea)
{
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<std::vector<Vec3d>> polygons{
        {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}, {4, 0, 0}},          // a line
        {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},                     // a point
        {{0, 0, 0}, {1, 1, 0}, {1, 0, 0}, {0, 1, 0}},                     // crosses itself
        {{0, 0, 0}, {1, 0, nan}, {1, 1, 0}, {nan, nan, nan}, {0, 1, 0}},  // missing
        {{1e308, 0, 0}, {0, 1e308, 0}, {-1e308, 0, 0}, {0, -1e308, 0}, {1, 1, 1}},  // overflows
    };
    for (const std::vector<Vec3d>& corners : polygons) {
        const int n = int(corners.size());
        const Triangles triangles = cut_polygon(corners);
        ASSERT_EQ(triangles.size(), corners.size() - 2);
        std::vector<int> uses(corners.size() * corners.size());
        for (const auto& [a, b, c] : triangles) {
            ++uses[n * a + b], ++uses[n * b + c], ++uses[n * c + a];
        }
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < n; ++j) {
                const int rim = j == (i + 1) % n;
                EXPECT_EQ(uses[n * i + j] - uses[n * j + i], rim - (i == (j + 1) % n));
            }
        }
    }
}

}  // namespace
}  // namespace springtime
