// Meshes of sheets, and the cloths made of them.
#include "springtime/cloth.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "cloths.h"
#include "error_of.h"
#include "springtime/simulation.h"

namespace springtime {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
const Sheet kSheet{3, 2, 6};

// The elastic energy of a sheet whose points (u, v) have gone to (u + a u + b v, v + c v). [J]
double strained_energy(const Cloth& cloth, double a, double b, double c)
{
    State state = flat_state(cloth);
    for (Vec3d& x : state.position) x = x + Vec3d{a * x.x + b * x.z, 0, c * x.z};
    return energy_of(cloth, kEmptySpace, state).elastic;
}

double area_of(const std::vector<SheetPoint>& points, const std::array<int, 3>& triangle)
{
    const auto [a, b, c] = triangle;
    return 0.5 * ((points[b].u - points[a].u) * (points[c].v - points[a].v) -
                  (points[c].u - points[a].u) * (points[b].v - points[a].v));
}

class EveryCut : public testing::TestWithParam<MeshCut> {};

INSTANTIATE_TEST_SUITE_P(Mesh, EveryCut,
                         testing::Values(MeshCut::diagonal, MeshCut::antidiagonal,
                                         MeshCut::alternating),
                         [](const auto& test) { return std::string(name_of(test.param)); });

TEST_P(EveryCut, CoversTheSheetOnceTurningOneWay)
{
    const SheetMesh mesh = make_grid_mesh(kSheet, {3, 4}, GetParam());
    EXPECT_NO_THROW(check_mesh(mesh, "mesh"));
    ASSERT_EQ(mesh.triangles.size(), 2u * 2 * 3);
    double sum = 0;
    for (const auto& triangle : mesh.triangles) {
        // Cells of 1 m x 1 m, cut in halves; the sign is that of the first.
        EXPECT_NEAR(std::abs(area_of(mesh.points, triangle)), 0.5, 4 * kEpsilon);
        sum += area_of(mesh.points, triangle);
    }
    EXPECT_NEAR(std::abs(sum), 6, 20 * kEpsilon);
}

TEST_P(EveryCut, HasAHingeForEveryInteriorEdge)
{
    // V - E + F = 1 for a disc, and a boundary edge has one triangle: 3 F = 2 E - boundary.
    const SheetMesh mesh = make_grid_mesh(kSheet, {5, 7}, GetParam());
    const Cloth cloth = make_mesh_cloth(kSheet, mesh, {});
    const std::size_t boundary = 2 * (4 + 6), faces = mesh.triangles.size();
    EXPECT_EQ(cloth.hinges.hinge_count(), (3 * faces - boundary) / 2);
    const auto has = [&](std::array<int, 3> wanted) {
        for (const auto& t : mesh.triangles) {
            for (int i = 0; i < 3; ++i) {
                if (std::array{t[i], t[(i + 1) % 3], t[(i + 2) % 3]} == wanted) return true;
            }
        }
        return false;
    };
    std::set<std::pair<int, int>> seen;
    for (const auto& [a, b, c, d] : cloth.hinges.corners) {
        EXPECT_TRUE(has({a, b, c}));
        EXPECT_TRUE(has({b, a, d}));
        EXPECT_TRUE(seen.insert(std::minmax(a, b)).second);
    }
}

TEST(MeshCut, DecidesWhichCornersTheDiagonalsJoin)
{
    // On 3 x 3 points the cells are 0 1 4 3, 1 2 5 4, 3 4 7 6, 4 5 8 7.
    const auto diagonals = [](MeshCut cut) {
        const SheetMesh mesh = make_grid_mesh({2, 2, 1}, {3, 3}, cut);
        const Cloth cloth = make_mesh_cloth({2, 2, 1}, mesh, {});
        std::set<std::pair<int, int>> found;
        for (const auto& [a, b, c, d] : cloth.hinges.corners) {
            const SheetPoint p = cloth.rest[a], q = cloth.rest[b];
            if (p.u != q.u && p.v != q.v) found.insert(std::minmax(a, b));
        }
        return found;
    };
    using Pairs = std::set<std::pair<int, int>>;
    EXPECT_EQ(diagonals(MeshCut::diagonal), (Pairs{{0, 4}, {1, 5}, {3, 7}, {4, 8}}));
    EXPECT_EQ(diagonals(MeshCut::antidiagonal), (Pairs{{1, 3}, {2, 4}, {4, 6}, {5, 7}}));
    EXPECT_EQ(diagonals(MeshCut::alternating), (Pairs{{0, 4}, {2, 4}, {4, 6}, {4, 8}}));
}

TEST(MeshCloth, GivesEveryCornerAThirdOfItsTriangles)
{
    // A square of 2 m x 2 m and 6 kg, cut unevenly: 0 (0,0), 1 (2,0), 2 (2,2), 3 (0,2), 4 (1,0.5).
    // Areas 0.5, 1, 1.5, 1 of 4 m^2, at 1.5 kg/m^2.
    const SheetMesh mesh{{{0, 0}, {2, 0}, {2, 2}, {0, 2}, {1, 0.5}},
                         {{0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}},
                         std::nullopt};
    const Cloth cloth = make_mesh_cloth({2, 2, 6}, mesh, {});
    const double third = 0.5;  // of 1.5 kg/m^2
    const double expected[] = {third * 1.5, third * 1.5, third * 2.5, third * 2.5, third * 4};
    for (int p = 0; p < 5; ++p) EXPECT_NEAR(cloth.mass[p], expected[p], 8 * kEpsilon) << p;
    EXPECT_NEAR(std::accumulate(cloth.mass.begin(), cloth.mass.end(), 0.0), 6, 20 * kEpsilon);
    EXPECT_FALSE(cloth.grid);
}

TEST(MeshCloth, HingeStiffnessFollowsEdgeAndAreas)
{
    // K = 3 B |e|^2 / (A1 + A2): the edge from 1 to 4 has |e|^2 = 1.25 between areas 0.5 and 1.
    const SheetMesh mesh{{{0, 0}, {2, 0}, {2, 2}, {0, 2}, {1, 0.5}},
                         {{0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}},
                         std::nullopt};
    MeshMaterial material;
    material.bending = MaterialField::uniform(0.2);
    material.bending_time = 0.01;
    const Cloth cloth = make_mesh_cloth({2, 2, 6}, mesh, material);
    ASSERT_EQ(cloth.hinges.hinge_count(), 4u);
    int found = 0;
    for (std::size_t h = 0; h < 4; ++h) {
        const auto [a, b, c, d] = cloth.hinges.corners[h];
        if (std::minmax(a, b) != std::minmax(1, 4)) continue;
        ++found;
        EXPECT_NEAR(cloth.hinges.stiffness[h], 3 * 0.2 * 1.25 / 1.5, 8 * kEpsilon);
        EXPECT_NEAR(cloth.hinges.damping[h], 0.01 * 3 * 0.2 * 1.25 / 1.5, kEpsilon);
        EXPECT_EQ(std::minmax(c, d), std::minmax(0, 2));
    }
    EXPECT_EQ(found, 1);
}

TEST(MeshCloth, TakesTheMaterialAtCentroidsAndMiddlesOfEdges)
{
    // Halves of the sheet by u; cells of 0.5 m, so no centroid and no middle lies on the border
    // at 1.5 m but the middles of the column of edges there.
    MeshMaterial material;
    const auto halves = [](double west, double east) {
        return MaterialField::uniform(west).paint(
            {MaterialField::ColumnStripes{{{0.49, 1}}}, east, false});
    };
    material.shear_stiffness = halves(100, 200);
    material.area_stiffness = halves(300, 400);
    material.damping = halves(1, 2);
    material.bending = halves(0.1, 0.2);
    material.damping_kind = TriangleDamping::strain;
    const Cloth cloth =
        make_mesh_cloth(kSheet, make_grid_mesh(kSheet, {5, 7}, MeshCut::diagonal), material);
    EXPECT_EQ(cloth.triangles.damping_kind, TriangleDamping::strain);
    for (std::size_t t = 0; t < cloth.triangles.triangle_count(); ++t) {
        const auto [a, b, c] = cloth.triangles.corners[t];
        const bool east = cloth.rest[a].u + cloth.rest[b].u + cloth.rest[c].u > 4.5;
        EXPECT_EQ(cloth.triangles.shear_stiffness[t], east ? 200 : 100);
        EXPECT_EQ(cloth.triangles.area_stiffness[t], east ? 400 : 300);
        EXPECT_EQ(cloth.triangles.damping[t], east ? 2 : 1);
    }
    for (std::size_t h = 0; h < cloth.hinges.hinge_count(); ++h) {
        const auto [a, b, c, d] = cloth.hinges.corners[h];
        const SheetPoint p = cloth.rest[a], q = cloth.rest[b];
        const double square = (p.u - q.u) * (p.u - q.u) + (p.v - q.v) * (p.v - q.v);
        const double rigidity = p.u + q.u > 2.9 ? 0.2 : 0.1;
        EXPECT_NEAR(cloth.hinges.stiffness[h], 3 * rigidity * square / 0.25, 20 * kEpsilon);
    }
}

TEST(MeshCloth, SurfaceIsItsOwnOrThatOfTheGrid)
{
    const SheetMesh mesh = make_grid_mesh(kSheet, {3, 4}, MeshCut::alternating);
    EXPECT_EQ(surface_triangles(make_mesh_cloth(kSheet, mesh, {})), mesh.triangles);
    Cloth springs =
        make_grid_cloth(kSheet, {3, 4}, MaterialField::uniform(1), MaterialField::uniform(0));
    EXPECT_EQ(surface_triangles(springs).size(), 12u);
    springs.grid.reset();
    EXPECT_TRUE(surface_triangles(springs).empty());
}

// ---- Unsound meshes ----

SheetMesh square_mesh()
{
    return make_grid_mesh({1, 1, 1}, {2, 2}, MeshCut::diagonal);  // 0 2 3 and 0 3 1
}

std::string error_of_mesh(const SheetMesh& mesh)
{
    const std::string said = error_of([&] { check_mesh(mesh, "sheet.obj"); });
    // A cloth is never made of it either.
    EXPECT_NE(error_of([&] { make_mesh_cloth({1, 1, 1}, mesh, {}); }), "(no error)");
    return said;
}

TEST(BadMesh, WithoutTriangles)
{
    EXPECT_EQ(error_of_mesh({{{0, 0}}, {}, std::nullopt}),
              "sheet.obj: no triangles; a sheet needs at least one");
}

TEST(BadMesh, IndexOutOfRange)
{
    SheetMesh mesh = square_mesh();
    mesh.triangles[1][2] = 4;
    EXPECT_EQ(error_of_mesh(mesh),
              "sheet.obj: triangle 1 has corner 4; corners must lie in 0 to 3");
    mesh.triangles[1][2] = -1;
    EXPECT_EQ(error_of_mesh(mesh),
              "sheet.obj: triangle 1 has corner -1; corners must lie in 0 to 3");
}

TEST(BadMesh, PointThatIsNotFinite)
{
    SheetMesh mesh = square_mesh();
    mesh.points[2].v = NAN;
    EXPECT_EQ(error_of_mesh(mesh), "sheet.obj: point 2 is not finite");
}

TEST(BadMesh, DegenerateTriangle)
{
    SheetMesh mesh = square_mesh();
    mesh.points[1] = {0.5, 0.5};  // on the diagonal
    EXPECT_EQ(error_of_mesh(mesh),
              "sheet.obj: triangle 1 with corners 0, 3, 1 is degenerate: its area is 0 m^2; "
              "remove it, or merge its corners");
    mesh = square_mesh();
    mesh.triangles[1] = {0, 3, 3};
    EXPECT_NE(error_of_mesh(mesh).find("is degenerate"), std::string::npos);
}

TEST(BadMesh, UpsideDownTriangle)
{
    SheetMesh mesh = square_mesh();
    std::swap(mesh.triangles[1][0], mesh.triangles[1][1]);
    EXPECT_EQ(error_of_mesh(mesh),
              "sheet.obj: triangle 1 with corners 3, 0, 1 is upside down compared with the first; "
              "make all of them turn the same way, and the sheet flat without folds");
}

TEST(BadMesh, NonManifoldEdge)
{
    SheetMesh mesh = square_mesh();
    mesh.points.push_back({0.9, 0.1});
    mesh.triangles.push_back({0, 3, 4});
    EXPECT_EQ(error_of_mesh(mesh),
              "sheet.obj: the edge from point 0 to 3 is non-manifold: 3 triangles share it; a "
              "sheet has at most two there");
}

TEST_P(EveryCut, SmallStrainFeelsTheModuliOfTheSheet)
{
    // For a small strain e the energy per area is mu |e|^2 + (lambda - mu)/2 (tr e)^2. So a sheet
    // that is pulled by s and may contract sideways holds E h/2 s^2, with E h = 4 mu lambda /
    // (mu + lambda) and Poisson's ratio (lambda - mu)/(lambda + mu); one that is sheared by s
    // mu/2 s^2; one that grows by s in both directions 2 lambda s^2. The mean over s and -s leaves
    // an error of s^2 = 1e-8 relative, and as much again by rounding.
    const double mu = 200, lambda = 350, s = 1e-4;
    MeshMaterial material;
    material.shear_stiffness = MaterialField::uniform(mu);
    material.area_stiffness = MaterialField::uniform(lambda);
    const Cloth cloth =
        make_mesh_cloth(kSheet, make_grid_mesh(kSheet, {4, 6}, GetParam()), material);
    const double young = 4 * mu * lambda / (mu + lambda), nu = (lambda - mu) / (lambda + mu);
    const double area = kSheet.length * kSheet.width, rest = strained_energy(cloth, 0, 0, 0);
    const auto mean = [&](double a, double b, double c) {
        return (strained_energy(cloth, a, b, c) + strained_energy(cloth, -a, -b, -c)) / 2 - rest;
    };
    const double unit = area * s * s;
    EXPECT_NEAR(mean(s, 0, -nu * s), young / 2 * unit, 1e-6 * young * unit);
    EXPECT_NEAR(mean(0, s, 0), mu / 2 * unit, 1e-6 * mu * unit);
    EXPECT_NEAR(mean(s, 0, s), 2 * lambda * unit, 1e-6 * lambda * unit);
}

TEST(BadMesh, OverlappingTriangles)
{
    // Both turn the same way and share the edge from 0 to 1, so they lie on the same side of it.
    const SheetMesh mesh{{{0, 0}, {1, 0}, {0, 1}, {1, 1}}, {{0, 1, 2}, {0, 1, 3}}, std::nullopt};
    EXPECT_EQ(error_of_mesh(mesh),
              "sheet.obj: triangles 0 and 1 overlap: both lie on the same side of the edge from "
              "point 0 to 1; remove one");
}

TEST(BadMesh, LoosePoint)
{
    SheetMesh mesh = square_mesh();
    mesh.points.push_back({0.5, 0.5});
    EXPECT_EQ(error_of_mesh(mesh),
              "sheet.obj: point 4 belongs to no triangle, so it would have no mass; remove it");
}

TEST(BadMesh, BendingTimeThatIsNoTime)
{
    MeshMaterial material;
    material.bending_time = -1;
    EXPECT_EQ(error_of([&] {
                  make_mesh_cloth({1, 1, 1}, square_mesh(), material);
              }),
              "mesh: bending time -1 s; it must be finite and not negative");
}

TEST(MeshCloth, HingesMustLieBetweenTheirTriangles)
{
    const Sheet sheet{2, 2, 1};
    const Cloth good = make_mesh_cloth(sheet, make_grid_mesh(sheet, {3, 3}, MeshCut::diagonal), {});
    const auto message = [&](auto change) {
        Cloth cloth = good;
        change(cloth);
        return error_of([&] { check_cloth(cloth, "c"); });
    };
    EXPECT_NE(message([](Cloth& c) {
                  std::swap(c.triangles.corners[3][0], c.triangles.corners[3][1]);
              }).find("triangle 3 turns against triangle 0"),
              std::string::npos);
    EXPECT_NE(message([](Cloth& c) {
                  c.hinges.corners[0] = {0, 1, 2, 4};
              }).find("hinge 0 has its"),
              std::string::npos);  // 0, 1 and 2 lie on a line
    EXPECT_NE(message([](Cloth& c) {
                  c.hinges.corners[0] = {0, 1, 3, 4};
              }).find("opposite sides"),
              std::string::npos);
}

}  // namespace

}  // namespace springtime
