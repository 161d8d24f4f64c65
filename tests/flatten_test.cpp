#include "data/flatten.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "error_of.h"

namespace springtime {
namespace {

// Points of a sheet, seven rows of ten, 0.1 m apart, where `place` puts them.
template <class Place>
std::vector<Vec3d> sheet_points(Place place)
{
    std::vector<Vec3d> points;
    for (int r = 0; r < 7; ++r) {
        for (int c = 0; c < 10; ++c) points.push_back(place(0.1 * c, 0.1 * r));
    }
    return points;
}

double flat_distance(SheetPoint a, SheetPoint b)
{
    return std::hypot(a.u - b.u, a.v - b.v);
}

// The largest difference between distances of the layout and of the sheet, over all pairs. [m]
double worst_distance(const Layout& layout)
{
    double worst = 0;
    for (std::size_t i = 0; i < layout.points.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            const SheetPoint a{0.1 * double(i % 10), 0.1 * double(i / 10)};
            const SheetPoint b{0.1 * double(j % 10), 0.1 * double(j / 10)};
            worst = std::max(worst, std::abs(flat_distance(layout.points[i], layout.points[j]) -
                                             flat_distance(a, b)));
        }
    }
    return worst;
}

TEST(Flatten, LevelSheetKeepsItsPlace)
{
    const auto points = sheet_points([](double u, double v) { return Vec3d{3 + u, 2, v - 1}; });
    const Layout layout = flatten(points, nearest_links(points, 8), "test");
    for (std::size_t i = 0; i < points.size(); ++i) {
        EXPECT_NEAR(layout.points[i].u, points[i].x - 3, 1e-12);
        EXPECT_NEAR(layout.points[i].v, points[i].z + 1, 1e-12);
    }
    EXPECT_NEAR(layout.length, 0.9, 1e-12);
    EXPECT_NEAR(layout.width, 0.6, 1e-12);
    EXPECT_EQ(layout.strain, 0);
}

TEST(Flatten, UprightSheetHasNorthAbove)
{
    const auto points = sheet_points([](double u, double v) { return Vec3d{u, 5 - v, 1}; });
    const Layout layout = flatten(points, nearest_links(points, 8), "test");
    EXPECT_NEAR(flat_distance(layout.points[0], {0, 0}), 0, 1e-12);
    EXPECT_NEAR(flat_distance(layout.points[69], {0.9, 0.6}), 0, 1e-12);
}

TEST(Flatten, TiltedSheetIsARigidMove)
{
    // Orthonormal directions that lie along no axis.
    const Vec3d a{2.0 / 3, 2.0 / 3, 1.0 / 3}, b{-2.0 / 3, 1.0 / 3, 2.0 / 3};
    const auto points = sheet_points([&](double u, double v) { return u * a + v * b; });
    const Layout layout = flatten(points, nearest_links(points, 8), "test");
    EXPECT_LT(worst_distance(layout), 1e-12);
    EXPECT_NEAR(layout.length, 0.9, 1e-12);
    EXPECT_LT(layout.points[0].u, layout.points[9].u);  // towards +x
}

// A cylinder of radius R unrolls without strain. Links are chords: an arc s is seen as
// 2 R sin(s/2R), shorter by (s/R)^2/24 of its length, which over the sheet adds up to as much.
TEST(Flatten, HalfCylinderUnrolls)
{
    const double radius = 0.9 / std::numbers::pi;  // the sheet goes half around
    const auto points = sheet_points([&](double u, double v) {
        return Vec3d{radius * std::sin(u / radius), -v, radius * std::cos(u / radius)};
    });
    const Layout layout = flatten(points, nearest_links(points, 4), "test");
    const double chord = std::pow(0.1 / radius, 2) / 24;
    EXPECT_NEAR(layout.length, 0.9 * (1 - chord), 2e-3);
    EXPECT_NEAR(layout.width, 0.6, 2e-3);
    EXPECT_LT(worst_distance(layout), 0.9 * chord + 2e-3);
    EXPECT_LT(layout.strain, chord);
}

TEST(Flatten, TrianglesServeAsLinks)
{
    std::vector<std::array<int, 3>> triangles;
    for (int r = 0; r + 1 < 7; ++r) {
        for (int c = 0; c + 1 < 10; ++c) {
            const int i = 10 * r + c;
            triangles.push_back({i, i + 1, i + 10});
            triangles.push_back({i + 1, i + 11, i + 10});
        }
    }
    const double radius = 0.9 / std::numbers::pi;
    const auto points = sheet_points([&](double u, double v) {
        return Vec3d{radius * std::sin(u / radius), v, radius * std::cos(u / radius)};
    });
    const auto links = triangle_links(triangles);
    EXPECT_EQ(links.size(), 7u * 9 + 6 * 10 + 6 * 9);  // along rows, along columns, across cells
    EXPECT_LT(worst_distance(flatten(points, links, "test")), 0.9 / 24 * 0.01 / (radius * radius));
}

// A hemisphere cannot be laid out without strain (Gauss): the strain says so.
TEST(Flatten, HemisphereIsStrained)
{
    const auto points = sheet_points([](double u, double v) {
        const double x = u - 0.45, z = v - 0.3;
        return Vec3d{x, std::sqrt(0.32 - x * x - z * z), z};
    });
    EXPECT_GT(flatten(points, nearest_links(points, 8), "test").strain, 0.02);
}

TEST(Flatten, RefusesPiecesAndPointsAtOnePlace)
{
    auto points = sheet_points([](double u, double v) { return Vec3d{u, u * u, v}; });
    const auto links = nearest_links(points, 4);
    auto apart = points;
    for (Vec3d& p : apart) {
        if (p.z > 0.35) p.z += 10;
    }
    EXPECT_NE(error_of([&] {
                  flatten(apart, nearest_links(apart, 4), "x.csv");
              }).find("x.csv: point 40 hangs together with no others"),
              std::string::npos);
    points[1] = points[0];
    EXPECT_NE(error_of([&] { flatten(points, links, "x.csv"); }).find("points 0 and 1"),
              std::string::npos);
}

}  // namespace
}  // namespace springtime
