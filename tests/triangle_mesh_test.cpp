#include "springtime/geometry.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "error_of.h"
#include "solids.h"

namespace springtime {
namespace {

std::string fault(const TriangleMesh& mesh)
{
    return error_of([&] { check_closed(mesh, "it"); });
}

// ---- Volume ----

TEST(ClosedMesh, VolumeOfACubeIsItsSideCubed)
{
    // Far from the origin too, where a sum of large cones would cancel badly.
    for (const Vec3d& middle : {Vec3d{}, Vec3d{1e6, -2e6, 3e6}}) {
        EXPECT_NEAR(volume_of(cube_mesh(2, middle)), 8, 1e-8);  // places are rounded to 5e-10
    }
}

TEST(ClosedMesh, VolumeOfASphereLiesBetweenTwoSpheres)
{
    const double r = 1.5;
    const TriangleMesh mesh = sphere_mesh(r, 4);
    const double inner = r - sagitta(mesh, r), third = 4 * M_PI / 3;
    EXPECT_GT(volume_of(mesh), third * inner * inner * inner);
    EXPECT_LT(volume_of(mesh), third * r * r * r);
}

// ---- Welding ----

TEST(Welded, JoinsEqualPointsAndDropsLooseOnes)
{
    TriangleMesh mesh;
    mesh.points = {{9, 9, 9}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 0, -0.0}, {0, 1, 0}, {1, 1, 0}};
    mesh.triangles = {{1, 2, 3}, {4, 6, 5}};
    const TriangleMesh joined = welded(mesh);
    ASSERT_EQ(joined.points.size(), 4u);
    EXPECT_EQ(joined.points[1].x, 1);
    EXPECT_EQ(joined.points[3].y, 1);
    EXPECT_EQ(joined.triangles, (std::vector<std::array<int, 3>>{{0, 1, 2}, {1, 3, 2}}));
}

TEST(ClosedMesh, RepeatedPointsAlongSeamsAreNoHole)
{
    const TriangleMesh whole = cube_mesh(1);
    TriangleMesh torn;
    for (const auto& triangle : whole.triangles) {
        for (const int corner : triangle) torn.points.push_back(whole.points[corner]);
        const int count = static_cast<int>(torn.points.size());
        torn.triangles.push_back({count - 3, count - 2, count - 1});
    }
    EXPECT_EQ(fault(torn), "(no error)");
}

// ---- Faults ----

TEST(ClosedMesh, SoundMeshesPass)
{
    EXPECT_EQ(fault(cube_mesh(1)), "(no error)");
    EXPECT_EQ(fault(sphere_mesh(2, 3)), "(no error)");
    TriangleMesh two = cube_mesh(1);
    const TriangleMesh other = cube_mesh(1, {5, 0, 0});
    two.points.insert(two.points.end(), other.points.begin(), other.points.end());
    for (const auto& [a, b, c] : other.triangles) two.triangles.push_back({a + 8, b + 8, c + 8});
    EXPECT_EQ(fault(two), "(no error)");
}

TEST(ClosedMesh, OpenSurface)
{
    TriangleMesh mesh = cube_mesh(2);
    mesh.triangles.pop_back();  // 1, 7, 5
    EXPECT_EQ(fault(mesh),
              "it: the surface is open: only one triangle has the edge from (1, -1, -1) to (1, -1, "
              "1); close the hole there");
}

TEST(ClosedMesh, EdgeWithThreeTriangles)
{
    TriangleMesh mesh = cube_mesh(2);
    mesh.points.push_back({0, 5, -3});
    mesh.triangles.push_back({0, 1, 8});
    EXPECT_EQ(fault(mesh),
              "it: the surface is non-manifold: 3 triangles share the edge from (-1, -1, -1) to "
              "(1, -1, -1); every edge of a solid has two: remove what is inside, or move touching "
              "parts apart");
}

TEST(ClosedMesh, OneFlippedTriangle)
{
    TriangleMesh mesh = cube_mesh(2);
    std::swap(mesh.triangles[0][0], mesh.triangles[0][1]);
    EXPECT_EQ(fault(mesh),
              "it: a triangle is flipped: the two at the edge from (-1, -1, -1) to (-1, 1, -1) "
              "disagree about which side is outside; turn one of them round");
}

TEST(ClosedMesh, InsideOut)
{
    TriangleMesh mesh = cube_mesh(2);
    for (auto& triangle : mesh.triangles) std::swap(triangle[0], triangle[1]);
    EXPECT_EQ(fault(mesh),
              "it: the surface is inside out: its volume is -8 m^3; turn all triangles round");
}

TEST(ClosedMesh, DegenerateTriangles)
{
    TriangleMesh mesh = cube_mesh(2);
    mesh.triangles.push_back({0, 0, 1});
    EXPECT_EQ(fault(mesh),
              "it: the triangle (-1, -1, -1), (-1, -1, -1), (1, -1, -1) is degenerate: its area is "
              "0 m^2; remove it, or merge its corners");
    mesh = cube_mesh(2);
    mesh.points.push_back({0, -1, -1});  // on the edge from 0 to 1
    mesh.triangles.push_back({0, 1, 8});
    EXPECT_NE(fault(mesh).find("is degenerate: its area is 0 m^2"), std::string::npos);
}

TEST(ClosedMesh, IndicesAndNumbers)
{
    EXPECT_EQ(fault({}), "it: no triangles; give a mesh with faces");
    TriangleMesh mesh = cube_mesh(2);
    mesh.triangles[3][1] = 8;
    EXPECT_EQ(fault(mesh), "it: triangle 3 has corner 8; corners must lie in 0 to 7");
    mesh.triangles[3][1] = -1;
    EXPECT_EQ(fault(mesh), "it: triangle 3 has corner -1; corners must lie in 0 to 7");
    mesh = cube_mesh(2);
    mesh.points[2].z = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(fault(mesh), "it: point 2 is (-1, 1, nan); finite numbers are needed");
}

}  // namespace
}  // namespace springtime
