#include <gtest/gtest.h>

#include <map>

#include "exports.h"
#include "formats/exports/map_picture.h"
#include "formats/png.h"

namespace springtime {
namespace {

std::map<std::string, WeightMap> maps_of(const Cloth& cloth, MapScale scale = MapScale::linear)
{
    std::map<std::string, WeightMap> maps;
    for (WeightMap& map : weight_maps(cloth, scale)) maps[map.name] = map;
    return maps;
}

// A grid of 3 x 3 without springs; particle r * 3 + c lies at (c, r).
Cloth bare_grid()
{
    Cloth cloth = numbered_grid();
    cloth.springs = {};
    return cloth;
}

void join(Cloth& cloth, SpringFamily family, int a, int b, double stiffness)
{
    SpringSet& springs = cloth.springs;
    const SheetPoint p = cloth.rest[a], q = cloth.rest[b];
    springs.ends.push_back({a, b});
    springs.family.push_back(family);
    springs.rest_length.push_back(std::hypot(p.u - q.u, p.v - q.v));
    springs.stiffness.push_back(stiffness);
    springs.damping.push_back(stiffness / 100);
}

// All twelve structural springs, by hand.
TEST(WeightMaps, StretchOfAGridByHand)
{
    Cloth cloth = bare_grid();
    using enum SpringFamily;
    for (const auto& [a, b, k] : std::vector<std::tuple<int, int, double>>{{0, 1, 10},
                                                                           {1, 2, 20},
                                                                           {3, 4, 30},
                                                                           {4, 5, 40},
                                                                           {6, 7, 50},
                                                                           {7, 8, 60},  // warp
                                                                           {0, 3, 100},
                                                                           {3, 6, 200},
                                                                           {1, 4, 300},
                                                                           {4, 7, 400},
                                                                           {2, 5, 500},
                                                                           {5, 8, 600}})  // weft
        join(cloth, structural, a, b, k);
    const auto maps = maps_of(cloth);
    EXPECT_EQ(maps.size(), 6u);  // no shear, no bend
    const WeightMap& warp = maps.at("stretch_warp");
    EXPECT_EQ(warp.value, (std::vector<double>{10, 15, 20, 30, 35, 40, 50, 55, 60}));
    EXPECT_EQ(warp.low, 10);
    EXPECT_EQ(warp.high, 60);
    EXPECT_EQ(warp.unit, "N/m");
    for (int p = 0; p < 9; ++p) {
        EXPECT_FLOAT_EQ(warp.weight[p], float((warp.value[p] - 10) / 50));
    }
    EXPECT_EQ(maps.at("stretch_weft").value,
              (std::vector<double>{100, 300, 500, 150, 350, 550, 200, 400, 600}));
    EXPECT_EQ(maps.at("stretch").value,
              (std::vector<double>{55, 157.5, 260, 90, 192.5, 295, 125, 227.5, 330}));
    EXPECT_DOUBLE_EQ(maps.at("damping_stretch_weft").value[4], 3.5);
    EXPECT_EQ(maps.at("damping_stretch_weft").unit, "N s/m");
}

// Both diagonals of each cell; the middle particle has four.
TEST(WeightMaps, ShearTakesBothDiagonals)
{
    Cloth cloth = bare_grid();
    using enum SpringFamily;
    join(cloth, diagonal, 0, 4, 1);
    join(cloth, diagonal, 4, 8, 2);
    join(cloth, antidiagonal, 2, 4, 4);
    join(cloth, antidiagonal, 4, 6, 9);
    const WeightMap shear = maps_of(cloth).at("shear");
    EXPECT_EQ(shear.value[0], 1);
    EXPECT_EQ(shear.value[4], 4);
    // No diagonal ends at the north's middle: the mean of the nearest that have one, 0, 2 and 4,
    // all 1 m away.
    EXPECT_EQ(shear.value[1], 3);
}

// Bending springs of 3 x 3 skip the middle column: it takes the mean of both sides.
TEST(WeightMaps, WhereNoSpringEndsTheNearestCount)
{
    Cloth cloth = bare_grid();
    for (int r = 0; r < 3; ++r) join(cloth, SpringFamily::bending, 3 * r, 3 * r + 2, 10 * (r + 1));
    const auto maps = maps_of(cloth);
    EXPECT_EQ(maps.at("bend_warp").value,
              (std::vector<double>{10, 10, 10, 20, 20, 20, 30, 30, 30}));
    EXPECT_EQ(maps.at("bend").value, maps.at("bend_warp").value);
    EXPECT_EQ(maps.count("bend_weft"), 0u);
}

TEST(WeightMaps, AConstantMapIsOneEverywhere)
{
    const Cloth cloth =
        make_grid_cloth({1, 1, 1}, {4, 5}, MaterialField::uniform(0.1), MaterialField::uniform(0));
    for (const WeightMap& map : weight_maps(cloth)) {
        EXPECT_TRUE(map.constant()) << map.name;
        EXPECT_EQ(map.weight, std::vector<float>(20, 1));
    }
}

// w = ln(k / low) / ln(high / low), and a zero, which has no logarithm, is 0.
TEST(WeightMaps, LogarithmicScale)
{
    Cloth cloth = bare_grid();
    using enum SpringFamily;
    join(cloth, structural, 0, 1, 1);
    join(cloth, structural, 3, 4, 10);
    join(cloth, structural, 6, 7, 1000);
    join(cloth, structural, 2, 5, 0);
    join(cloth, structural, 2, 1, 0);
    const WeightMap map = maps_of(cloth, MapScale::logarithmic).at("stretch_warp");
    EXPECT_EQ(map.low, 0.5);  // particle 1: the mean of 1 and 0
    EXPECT_EQ(map.high, 1000);
    EXPECT_FLOAT_EQ(map.weight[3], float(std::log(20) / std::log(2000)));
    EXPECT_EQ(map.weight[6], 1);
    EXPECT_EQ(map.weight[2], 0);
    EXPECT_EQ(map.below_low, 1u);  // particle 2 alone; 5 takes the mean of 2 and 4, 8 that of 7
}

TEST(WeightMaps, RangesHaveMapsOfTheirOwn)
{
    Cloth cloth = numbered_grid();
    set_law(cloth, {{0, 0.1}, true});
    for (double& k : cloth.springs.ranges[0].stiffness) k *= 2;
    for (double& k : cloth.springs.ranges[1].stiffness) k *= 3;
    const auto maps = maps_of(cloth);
    for (const std::string name : {"stretch_warp", "shear", "bend_weft"}) {
        for (int p = 0; p < 9; ++p) {
            EXPECT_DOUBLE_EQ(maps.at(name + "_compression").value[p], 2 * maps.at(name).value[p]);
            EXPECT_DOUBLE_EQ(maps.at(name + "_range2").value[p], 3 * maps.at(name).value[p]);
        }
        EXPECT_EQ(maps.at(name + "_range2").strain, "from 0.1 to inf");
        EXPECT_EQ(maps.count("isotropic_damping_" + name), 1u);
    }
}

TEST(WeightMaps, BendsCountAtTheirMiddle)
{
    Cloth cloth = numbered_grid();  // 3 x 3
    set_law(cloth, {{}, false, true});
    ASSERT_EQ(cloth.bends.bend_count(), 8u);  // three rows, three columns, two diagonals
    for (std::size_t i = 0; i < 8; ++i) cloth.bends.stiffness[i] = 10 * (double(i) + 1);
    const auto maps = maps_of(cloth);
    // Rows 10, 20, 30 have their middles in the middle column, and the other columns take these.
    const std::vector<double> warp{10, 10, 10, 20, 20, 20, 30, 30, 30};
    EXPECT_EQ(maps.at("bending_stiffness_warp").value, warp);
    const std::vector<double> weft{40, 50, 60, 40, 50, 60, 40, 50, 60};
    EXPECT_EQ(maps.at("bending_stiffness_weft").value, weft);
    EXPECT_EQ(maps.at("bending_stiffness_diagonal").value, std::vector<double>(9, 75));
    EXPECT_EQ(maps.at("bending_stiffness_straight").value[4], (20 + 50) / 2);
    EXPECT_EQ(maps.at("bending_damping_warp").unit, "N s/m");
}

// A square of two triangles: the corners of the diagonal have both, the others one; the hinge has
// all four.
TEST(WeightMaps, TrianglesAndHinges)
{
    const Sheet sheet{1, 1, 0.2};
    Cloth cloth = make_mesh_cloth(sheet, make_grid_mesh(sheet, {2, 2}, MeshCut::diagonal), {});
    ASSERT_EQ(cloth.triangles.triangle_count(), 2u);
    ASSERT_EQ(cloth.hinges.hinge_count(), 1u);
    cloth.triangles.shear_stiffness = {100, 300};
    cloth.triangles.area_stiffness = {5, 5};
    const auto maps = maps_of(cloth);
    std::vector<double> expected(4, 0);
    for (const int t : {0, 1}) {
        for (const int corner : cloth.triangles.corners[t]) {
            expected[corner] = expected[corner] > 0 ? 200 : cloth.triangles.shear_stiffness[t];
        }
    }
    EXPECT_EQ(maps.at("shear_modulus").value, expected);
    EXPECT_TRUE(maps.at("area_modulus").constant());
    // K = 3 B |e|^2 / (A1 + A2) with |e|^2 = 2 and A1 + A2 = 1.
    for (const double bend : maps.at("bend").value) {
        EXPECT_DOUBLE_EQ(bend, cloth.hinges.stiffness[0] / 6);
    }
    EXPECT_EQ(maps.at("bend").unit, "N m");
    EXPECT_EQ(maps.size(), 5u);
}

// One material on a mesh of uneven hinges is one value.
TEST(WeightMaps, BendingOfHingesIsThatOfTheMaterial)
{
    const Sheet sheet{3, 1, 0.2};
    MeshMaterial material;
    material.bending = MaterialField::uniform(0.02);
    const Cloth cloth =
        make_mesh_cloth(sheet, make_grid_mesh(sheet, {4, 5}, MeshCut::alternating), material);
    const WeightMap bend = maps_of(cloth).at("bend");
    EXPECT_TRUE(bend.constant());
    EXPECT_DOUBLE_EQ(bend.high, 0.02);
}

// Between particles the image is bilinear: pixel x of n lies at u = (x + 1/2) / n.
TEST(WeightMaps, PicturesAreBilinear)
{
    const TempFolder folder;
    ClothExport options;
    options.format = ExportFormat::png;
    options.out = folder / "maps";
    options.size = 32;
    const Cloth cloth = numbered_grid();
    export_cloth(cloth, options);
    for (const WeightMap& map : weight_maps(cloth)) {
        const ValueMap picture = read_grey_png(folder / ("maps/" + map.name + ".png"));
        ASSERT_EQ(picture.rows, 32);
        ASSERT_EQ(picture.cols, 32);
        for (int y = 0; y < 32; ++y) {
            for (int x = 0; x < 32; ++x) {
                const double u = 2 * (x + 0.5) / 32, v = 2 * (y + 0.5) / 32;
                const int c = int(u), r = int(v);
                const double a = u - c, b = v - r;
                const auto w = [&](int row, int col) { return double(map.weight[row * 3 + col]); };
                const double expected = (1 - b) * ((1 - a) * w(r, c) + a * w(r, c + 1)) +
                                        b * ((1 - a) * w(r + 1, c) + a * w(r + 1, c + 1));
                // Half a step of 16 bits, and shares in float.
                EXPECT_NEAR(picture.values[y * 32 + x], expected, 0.5 / 65535 + 1e-6);
            }
        }
        EXPECT_NE(bytes_of(folder / ("maps/" + map.name + ".png")).find(map.name + ": 0 is "),
                  std::string::npos);
    }
}

// Values that are linear over the sheet stay so between the corners of any triangles.
TEST(WeightMaps, PicturesOfTrianglesAreLinear)
{
    ExportScene scene;
    scene.sheet = {1, 1, 1};
    scene.rest = {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {0.3, 0.6}, {0.7, 0.2}};
    scene.surface = make_surface(scene.rest, {});
    ASSERT_TRUE(scene.surface.quads.empty());
    std::vector<float> weights;
    for (const SheetPoint& p : scene.rest) weights.push_back(float(0.3 * p.u + 0.6 * p.v));
    const auto picture = MapPainter(scene, 20).paint(weights);
    for (int y = 0; y < 20; ++y) {
        for (int x = 0; x < 20; ++x) {
            const double expected = (0.3 * (x + 0.5) + 0.6 * (y + 0.5)) / 20;
            EXPECT_NEAR(picture[y * 20 + x] / 65535.0, expected, 0.5 / 65535 + 1e-6);
        }
    }
}

// A mesh that covers the west half of its sheet: each row of the east half continues its edge.
TEST(WeightMaps, PicturesContinueBeyondTheMesh)
{
    ExportScene scene;
    scene.sheet = {2, 1, 1};
    scene.rest = {{0, 0}, {1, 0}, {0, 1}, {1, 1}};
    scene.surface.triangles = {{0, 2, 1}, {2, 3, 1}};
    const auto picture = MapPainter(scene, 20).paint({0, 0, 1, 1});
    for (int y = 0; y < 20; ++y) {
        for (int x = 0; x < 20; ++x) EXPECT_EQ(picture[y * 20 + x], picture[y * 20]);
        EXPECT_NEAR(picture[y * 20] / 65535.0, (y + 0.5) / 20, 0.5 / 65535 + 1e-6);
    }
}

}  // namespace
}  // namespace springtime
