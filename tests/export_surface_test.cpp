#include "formats/exports/surface.h"
#include "geometry/delaunay.h"

#include <gtest/gtest.h>

#include <set>

#include "exports.h"

namespace springtime {
namespace {

// Positive when the front of the level sheet looks up.
double area_up(const std::vector<SheetPoint>& p, const std::array<int, 3>& t)
{
    const SheetPoint a = p[t[0]], b = p[t[1]], c = p[t[2]];
    return -0.5 * ((b.u - a.u) * (c.v - a.v) - (c.u - a.u) * (b.v - a.v));
}

double total_area(const std::vector<SheetPoint>& points,
                  const std::vector<std::array<int, 3>>& triangles)
{
    double area = 0;
    for (const auto& t : triangles) {
        EXPECT_GT(area_up(points, t), 0);
        area += area_up(points, t);
    }
    return area;
}

TEST(ExportSurface, GridIsFoundInAnyOrder)
{
    const Sheet sheet{3, 2, 1};
    std::vector<SheetPoint> points = grid_points(sheet, {3, 4});
    std::reverse(points.begin(), points.end());
    std::swap(points[2], points[7]);
    const auto grid = find_grid(points);
    ASSERT_TRUE(grid);
    EXPECT_EQ(grid->rows, 3);
    EXPECT_EQ(grid->cols, 4);
    const ExportSurface surface = make_surface(points, {});
    EXPECT_EQ(surface.quads.size(), 6u);
    EXPECT_NEAR(total_area(points, surface.triangles), 6, 1e-12);  // m^2: rounding of 12 terms
    points[4].u += 0.01;
    EXPECT_FALSE(find_grid(points));
}

TEST(ExportSurface, TwoPointsAtOnePlaceAreNoGrid)
{
    EXPECT_FALSE(find_grid({{0, 0}, {1, 0}, {0, 1}, {0, 1}}));
    EXPECT_FALSE(find_grid({{0, 0}, {1, 0}, {2, 0}}));
}

TEST(ExportSurface, TrianglesOfTheClothComeFirst)
{
    const Cloth mesh = uneven_mesh({3, 4}, MeshCut::alternating, TriangleDamping::strain);
    const ExportSurface surface = make_surface(mesh.rest, mesh);
    EXPECT_TRUE(surface.quads.empty());
    EXPECT_EQ(surface.triangles, mesh.triangles.corners);
    EXPECT_NEAR(total_area(mesh.rest, surface.triangles), 1.5, 1e-12);
    Cloth turned = mesh;
    for (auto& t : turned.triangles.corners) std::swap(t[0], t[1]);
    EXPECT_NEAR(total_area(mesh.rest, make_surface(mesh.rest, turned).triangles), 1.5, 1e-12);
}

// The circle through the corners of a Delaunay triangle holds no other point, and the triangles
// fill the convex hull.
TEST(ExportSurface, DelaunayCirclesAreEmpty)
{
    Random random(5);
    std::vector<SheetPoint> points{{0, 0}, {1, 0}, {0, 1}, {1, 1}};
    for (int i = 0; i < 60; ++i) {
        points.push_back({0.2 + 0.6 * random.uniform(), 0.2 + 0.6 * random.uniform()});
    }
    const auto triangles = delaunay_triangles(points);
    EXPECT_NEAR(total_area(points, triangles), 1, 1e-12);  // points keep off the rim: no slivers
    for (const auto& t : triangles) {
        const SheetPoint a = points[t[0]], b = points[t[1]], c = points[t[2]];
        for (std::size_t p = 0; p < points.size(); ++p) {
            if (std::count(t.begin(), t.end(), int(p)) > 0) continue;
            const auto row = [&](const SheetPoint& q) {
                const double u = q.u - points[p].u, v = q.v - points[p].v;
                return std::array{u, v, u * u + v * v};
            };
            const auto x = row(a), y = row(b), z = row(c);
            const double inside = x[0] * (y[1] * z[2] - y[2] * z[1]) -
                                  x[1] * (y[0] * z[2] - y[2] * z[0]) +
                                  x[2] * (y[0] * z[1] - y[1] * z[0]);
            // Points lie on a lattice of 2^-28 for the triangulation. Negative: outside, as the
            // triangles turn from v to u.
            EXPECT_GT(inside, -1e-8);
        }
    }
    std::set<int> used;
    for (const auto& t : triangles) used.insert(t.begin(), t.end());
    EXPECT_EQ(used.size(), points.size());
}

// All circles of a grid go through four points: each square is cut at its lowest number, whatever
// the order, and a point that comes again changes nothing.
TEST(ExportSurface, DelaunayCutsSquaresAtTheirFirstPoint)
{
    const std::vector<SheetPoint> points{{1, 1}, {0, 0}, {1, 0}, {2, 0}, {0, 1}, {2, 1}, {1, 1}};
    const std::vector<std::array<int, 3>> expected{{0, 1, 4}, {0, 2, 1}, {0, 3, 2}, {0, 5, 3}};
    EXPECT_EQ(delaunay_triangles(points), expected);
    EXPECT_NEAR(total_area(points, expected), 2, 1e-15);
}

// The middle of the south side lies 1 mm inside: its triangle with the corners is a sliver.
TEST(ExportSurface, SliversAtTheRimAreLeftOut)
{
    const std::vector<SheetPoint> points{{0, 0}, {2, 0}, {0, 2}, {2, 2}, {1, 1.999}, {1, 0.9}};
    const auto triangles = delaunay_triangles(points);
    for (const auto& t : triangles) {
        EXPECT_GT(area_up(points, t), 0.01);
    }
    EXPECT_NEAR(total_area(points, triangles), 4 - 0.5 * 2 * 0.001, 1e-12);
}

TEST(ExportSurface, PointsAtOnePlaceHaveNoSurface)
{
    const TempFolder folder;
    EXPECT_TRUE(delaunay_triangles({{0, 0}, {1, 1}, {2, 2}, {3, 3}}).empty());
    EXPECT_EQ(make_surface({{3, 3}, {0, 0}, {2, 2}, {1, 1}}, {}).curve,
              (std::vector<int>{0, 2, 3, 1}));
    MotionHeader header = grid_header({3, 4});
    header.rest = {{0.1, 0}, {0.1, 0}, {0.1, 0}};
    const Motion motion = motion_of(header, {random_rollout(2, 3)});
    EXPECT_EQ(error_of([&] { export_motion(motion, export_to(ExportFormat::obj, folder / "m")); }),
              "motion: 3 landmarks at one place have no surface; export csv or npz");
    EXPECT_EQ(export_motion(motion, export_to(ExportFormat::npz, folder / "m.npz")).face_count, 0u);
}

TEST(ExportSurface, SourceClothIsTakenWhereItsParticlesAreTheLandmarks)
{
    const TempFolder folder;
    MotionHeader header = grid_header({3, 4});
    const Cloth mesh =
        make_mesh_cloth(header.sheet, make_grid_mesh(header.sheet, {3, 4}, MeshCut::diagonal), {});
    header.source_cloth = cloth_to_json(mesh);
    MotionExport options = export_to(ExportFormat::obj, folder / "m");
    options.overwrite = true;
    const Rollout rollout = random_rollout(1, 12);
    ExportReport report = export_motion(motion_of(header, {rollout}), options);
    EXPECT_EQ(report.surface, "triangles of the cloth");
    EXPECT_EQ(report.face_count, 12u);
    header.rest[5].u += 0.01;
    report = export_motion(motion_of(header, {rollout}), options);
    EXPECT_EQ(report.surface, "Delaunay triangles between the points");
    EXPECT_EQ(report.remarks.front(),
              "the landmarks are not the particles of the source cloth, so "
              "its surface is not taken");
    header.source_cloth = "{}";
    report = export_motion(motion_of(header, {rollout}), options);
    EXPECT_TRUE(report.remarks.front().starts_with("the source cloth cannot be read (motion: "));
}

}  // namespace
}  // namespace springtime
