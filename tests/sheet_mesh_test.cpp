#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "error_of.h"
#include "solids.h"
#include "springtime/cloth.h"
#include "springtime/geometry.h"

namespace springtime {
namespace {

// A grid laid into space: origin + u du + v dv.
TriangleMesh placed(const SheetMesh& sheet, const Vec3d& origin, const Vec3d& du, const Vec3d& dv)
{
    TriangleMesh mesh;
    for (const SheetPoint& p : sheet.points) mesh.points.push_back(origin + p.u * du + p.v * dv);
    mesh.triangles = sheet.triangles;
    return mesh;
}

SheetMesh long_grid()
{
    return make_grid_mesh({3, 2, 1}, {4, 7}, MeshCut::alternating);
}

void expect_same(const SheetMesh& found, const SheetMesh& expected, double tolerance)
{
    EXPECT_EQ(found.triangles, expected.triangles);
    ASSERT_EQ(found.points.size(), expected.points.size());
    for (std::size_t p = 0; p < found.points.size(); ++p) {
        EXPECT_NEAR(found.points[p].u, expected.points[p].u, tolerance) << p;
        EXPECT_NEAR(found.points[p].v, expected.points[p].v, tolerance) << p;
    }
}

TEST(SheetMesh, LevelMeshesKeepXAndZ)
{
    const SheetMesh grid = long_grid();
    const TriangleMesh mesh = placed(grid, {-4, 7, 2}, {1, 0, 0}, {0, 0, 1});
    expect_same(sheet_mesh(mesh, "it"), grid, 1e-14);  // the origin is taken off again
}

TEST(SheetMesh, UprightMeshesHaveNorthAbove)
{
    const SheetMesh grid = long_grid();
    const TriangleMesh mesh = placed(grid, {1, 5, -3}, {1, 0, 0}, {0, -1, 0});
    expect_same(sheet_mesh(mesh, "it"), grid, 1e-14);
}

TEST(SheetMesh, ARotatedGridIsFoundAgain)
{
    // Around a skew axis, by angles that leave u on the side of +x.
    for (const SheetMesh& grid :
         {long_grid(), make_grid_mesh({2, 2, 1}, {5, 5}, MeshCut::diagonal)}) {
        for (const double angle : {0.3, -0.7, 0.6}) {
            const Vec3d k = unit({0.5, 0.9, -0.4});
            const auto turned = [&](const Vec3d& x) {  // Rodrigues
                return std::cos(angle) * x + std::sin(angle) * cross(k, x) +
                       (1 - std::cos(angle)) * dot(k, x) * k;
            };
            const TriangleMesh mesh =
                placed(grid, {3, -1, 8}, turned({1, 0, 0}), turned({0, 0, 1}));
            // Places of about 10 m are rounded to 2e-15; over the half metre of a side of the
            // hull that tilts u by 1e-14.
            expect_same(sheet_mesh(mesh, "it"), grid, 1e-13);
        }
    }
}

TEST(SheetMesh, LongWayIsULikeTheLongerSideOfTheRectangleAround)
{
    // An ell, whose hull has edges that are none of its own.
    const double s = std::sqrt(0.5);
    SheetMesh ell;
    ell.points = {{0, 0}, {3, 0}, {3, 1}, {1, 1}, {1, 2}, {0, 2}};
    ell.triangles = {{0, 3, 1}, {1, 3, 2}, {0, 5, 3}, {3, 5, 4}};
    const TriangleMesh mesh = placed(ell, {}, {s, s, 0}, {0, 0, 1});
    const SheetMesh found = sheet_mesh(mesh, "it");
    expect_same(found, ell, 1e-14);
    const Sheet sheet = sheet_around(found, 4);
    EXPECT_NEAR(sheet.length, 3, 1e-14);
    EXPECT_NEAR(sheet.width, 2, 1e-14);
    EXPECT_EQ(sheet.mass, 4);
}

TEST(SheetMesh, SeamsAreWeldedAndLoosePointsDropped)
{
    const SheetMesh grid = make_grid_mesh({1, 1, 1}, {2, 2}, MeshCut::diagonal);
    TriangleMesh mesh = placed(grid, {}, {1, 0, 0}, {0, 0, 1});
    mesh.points.push_back(mesh.points[0]);
    mesh.points.push_back({0.5, 0, 0.5});  // in no triangle
    mesh.triangles[1][0] = 4;              // was 0
    ASSERT_EQ(grid.triangles[1][0], 0);
    expect_same(sheet_mesh(mesh, "it"), grid, 0);
}

TEST(SheetMesh, Errors)
{
    const auto fault = [](const TriangleMesh& mesh) {
        return error_of([&] { sheet_mesh(mesh, "it"); });
    };
    TriangleMesh bent = placed(long_grid(), {}, {1, 0, 0}, {0, 0, 1});
    bent.points[9].y = 0.25;
    // The diagonal of the box is sqrt(3^2 + 2^2 + 0.25^2) = 3.614.
    EXPECT_EQ(fault(bent),
              "it: the mesh is not flat: the point (1, 0.25, 0.666667) lies 0.25 m off its plane; "
              "a sheet may deviate by 3.61e-05 m, so flatten it first");
    TriangleMesh line;
    line.points = {{0, 0, 0}, {1, 1, 1}, {3, 3, 3}};
    line.triangles = {{0, 1, 2}};
    EXPECT_EQ(fault(line), "it: all points lie on one line; a sheet needs an area");
    EXPECT_EQ(fault({}), "it: no triangles; give a mesh with faces");
    TriangleMesh folded = placed(long_grid(), {}, {1, 0, 0}, {0, 0, 1});
    std::swap(folded.triangles[5][0], folded.triangles[5][1]);
    EXPECT_NE(fault(folded).find("it: triangle 5 "), std::string::npos);
    EXPECT_NE(fault(folded).find("is upside down"), std::string::npos);
}

}  // namespace
}  // namespace springtime
