#include "geometry/flatten.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/random.h"
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

// Every point with those that come first when all others are sorted by distance.
TEST(NearestLinks, AreThoseOfASort)
{
    Random random(7);
    std::vector<Vec3d> points;
    for (int i = 0; i < 300; ++i) {
        points.push_back(
            {random.uniform(), 0.2 * random.uniform(), std::floor(5 * random.uniform())});
    }
    for (int i = 0; i < 5; ++i) points.push_back(points[i]);  // at the same place
    std::vector<Link> expected;
    for (int i = 0; i < int(points.size()); ++i) {
        std::vector<std::pair<double, int>> others;
        for (int j = 0; j < int(points.size()); ++j) {
            const Vec3d way = points[i] - points[j];
            if (j != i) others.emplace_back(dot(way, way), j);
        }
        std::sort(others.begin(), others.end());
        for (int k = 0; k < 6; ++k) {
            expected.push_back({std::min(i, others[k].second), std::max(i, others[k].second)});
        }
    }
    std::sort(expected.begin(), expected.end());
    expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
    EXPECT_EQ(nearest_links(points, 6), expected);
    EXPECT_EQ(nearest_links({{0, 0, 0}, {1, 0, 0}}, 6), (std::vector<Link>{{0, 1}}));
}

TEST(FlattenMesh, LevelSheetKeepsItsPlace)
{
    const auto points = sheet_points([](double u, double v) { return Vec3d{3 + u, 2, v - 1}; });
    const Layout layout = flatten_mesh(points, nearest_links(points, 8), "test");
    for (std::size_t i = 0; i < points.size(); ++i) {
        EXPECT_NEAR(layout.points[i].u, points[i].x - 3, 1e-12);
        EXPECT_NEAR(layout.points[i].v, points[i].z + 1, 1e-12);
    }
    EXPECT_NEAR(layout.length, 0.9, 1e-12);
    EXPECT_NEAR(layout.width, 0.6, 1e-12);
    EXPECT_EQ(layout.strain, 0);
}

// However the vertices are listed, and whichever side is longer.
TEST(FlattenMesh, AxesAreThoseOfTheMesh)
{
    const auto points = sheet_points([](double u, double v) { return Vec3d{0.6 - v, 0, 0.9 - u}; });
    const Layout layout = flatten_mesh(points, nearest_links(points, 8), "test");
    for (std::size_t i = 0; i < points.size(); ++i) {
        EXPECT_NEAR(layout.points[i].u, points[i].x, 1e-12);
        EXPECT_NEAR(layout.points[i].v, points[i].z, 1e-12);
    }
}

TEST(FlattenMesh, UprightSheetHasNorthAbove)
{
    const auto points = sheet_points([](double u, double v) { return Vec3d{u, 5 - v, 1}; });
    const Layout layout = flatten_mesh(points, nearest_links(points, 8), "test");
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
    EXPECT_NEAR(flat_distance(layout.points[0], {0, 0}), 0, 1e-12);  // the first is north-west
    EXPECT_NEAR(flat_distance(layout.points[69], {0.9, 0.6}), 0, 1e-12);
}

Vec3d turned_about(const Vec3d& axis, double angle, const Vec3d& p)  // Rodrigues'; |axis| = 1
{
    return std::cos(angle) * p + std::sin(angle) * cross(axis, p) +
           (1 - std::cos(angle)) * dot(axis, p) * axis;
}

// Which way the cloth faces in the world is another thing in every take.
TEST(Flatten, TurningInSpaceChangesNothing)
{
    // Bent, so that it must be unrolled, and of no symmetry: every point is off its grid by a bit.
    int n = 0;
    const auto points = sheet_points([&](double u, double v) {
        const double x = u + 0.01 * std::sin(7.0 * ++n), y = v + 0.01 * std::cos(5.0 * n);
        return Vec3d{0.7 * std::sin(x / 0.7), -y, 0.7 * std::cos(x / 0.7)};
    });
    const auto links = nearest_links(points, 8);
    const Layout straight = flatten(points, links, "test");
    EXPECT_GT(straight.margin, 0.05);
    for (const Vec3d axis : {Vec3d{0, 1, 0}, Vec3d{1, 0, 0}, Vec3d{0.6, 0, 0.8}}) {
        for (const double degrees : {90, 135, 180, 270}) {
            auto moved = points;
            for (Vec3d& p : moved) {
                p = turned_about(axis, degrees * std::numbers::pi / 180, p) + Vec3d{1, 2, 3};
            }
            const Layout layout = flatten(moved, links, "test");
            double worst = 0;
            for (std::size_t i = 0; i < points.size(); ++i) {
                worst = std::max(worst, flat_distance(layout.points[i], straight.points[i]));
            }
            // Relaxing stops at 1e-9 of a link for a step, of which many make the rest of the way.
            EXPECT_LT(worst, 1e-5) << degrees << " degrees";
        }
    }
}

// Listed backwards, from the south-east corner, the first point lies north-west again. The same of
// a square, where no side is the longer by itself: the first row is the north edge.
TEST(Flatten, TheFirstPointsLieNorthWest)
{
    for (const int cols : {10, 7}) {
        std::vector<Vec3d> points;
        for (int i = 0; i < 7 * cols; ++i) {
            const double x = 0.1 * (i % cols) + 2e-4 * std::sin(3.0 * i);
            const double z = 0.1 * (i / cols) + 2e-4 * std::cos(5.0 * i);
            points.push_back({x, 0.2 * z * z, z});
        }
        const std::vector<Vec3d> backward(points.rbegin(), points.rend());
        for (const auto& listed : {points, backward}) {
            const Layout layout = flatten(listed, nearest_links(listed, 8), "test");
            for (std::size_t i = 0; i < listed.size(); ++i) {
                const SheetPoint grid{0.1 * double(i % cols), 0.1 * double(i / cols)};
                // The bend makes it wider by (0.24)^2/6 of 0.6 m; half a cell is far more.
                EXPECT_LT(flat_distance(layout.points[i], grid), 0.02) << cols << " " << i;
            }
        }
    }
}

// The middle first, then two pairs of corners. Off the middle, of the sides: u = 0, -1/2, 1/2,
// -1/2, 1/2 and v = 0, -1/2, 1/2, 1/2, -1/2; the mean with weights 1 to 1/16 is closer to the
// middle in v.
TEST(Flatten, MarginIsWhatTheFirstPointsAreOffTheMiddle)
{
    const std::vector<Vec3d> points{{0.5, 0, 0.2}, {0, 0, 0}, {1, 0, 0.4}, {0, 0, 0.4}, {1, 0, 0}};
    const double v = (0.5 / 2 - 0.5 / 4 - 0.5 / 8 + 0.5 / 16) / (1 + 0.5 + 0.25 + 0.125 + 0.0625);
    EXPECT_NEAR(flatten(points, nearest_links(points, 3), "test").margin, v, 1e-12);
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
