#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "springtime/motion.h"

namespace springtime {

namespace {

using Points = std::vector<SheetPoint>;

constexpr Sheet kSheet{1.2, 0.8, 0.3};

Cloth grid_cloth(const Sheet& sheet, int rows, int cols)
{
    return make_grid_cloth(sheet, {rows, cols}, MaterialField::uniform(10),
                           MaterialField::uniform(0.1));
}

Points random_points(const Sheet& sheet, int count)
{
    Random random(3);
    Points points;
    for (int i = 0; i < count; ++i) {
        points.push_back({sheet.length * random.uniform(), sheet.width * random.uniform()});
    }
    return points;
}

// A value of the share of length and width, for every point.
template <class Field>
std::vector<Vec3d> field_over(const Sheet& sheet, const Points& points, Field field)
{
    std::vector<Vec3d> values;
    for (const SheetPoint& x : points)
        values.push_back(field(x.u / sheet.length, x.v / sheet.width));
    return values;
}

double largest_difference(const std::vector<Vec3d>& a, const std::vector<Vec3d>& b)
{
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, length(a[i] - b[i]));
    return largest;
}

Vec3d affine(double u, double v)
{
    return {1 + 2 * u - v, 3 * u + 0.5 * v, -u + 2 * v};
}

}  // namespace

TEST(LandmarkMap, IsExactWhereLandmarksAreParticles)
{
    for (const auto& [rows, cols] : {std::pair{5, 7}, {1, 9}, {9, 1}}) {
        const Cloth cloth = grid_cloth(kSheet, rows, cols);
        const LandmarkMap map(cloth, kSheet, cloth.rest);
        EXPECT_TRUE(map.exact());
        const auto field = field_over(kSheet, cloth.rest, affine);
        EXPECT_EQ(largest_difference(map.apply(field), field), 0);
    }
}

TEST(LandmarkMap, ReproducesAffineFieldsOnGridsAndMeshes)
{
    const Points landmarks = random_points(kSheet, 50);
    Cloth mesh = grid_cloth(kSheet, 5, 7);
    mesh.grid.reset();
    for (const Cloth& cloth : {grid_cloth(kSheet, 5, 7), mesh}) {
        const LandmarkMap map(cloth, kSheet, landmarks);
        EXPECT_FALSE(map.exact());
        EXPECT_LT(largest_difference(map.apply(field_over(kSheet, cloth.rest, affine)),
                                     field_over(kSheet, landmarks, affine)),
                  1e-8);  // weights below 1e-9 are dropped
    }
}

// A cell reproduces u v, too; four particles of a row any cubic.
TEST(LandmarkMap, IsBilinearInACellAndCubicAlongARow)
{
    const Points landmarks = random_points(kSheet, 50);
    const auto bilinear = [](double u, double v) { return Vec3d{u * v, 1 - 2 * u * v, u + v}; };
    const Cloth cell = grid_cloth(kSheet, 2, 2);
    EXPECT_LT(
        largest_difference(
            LandmarkMap(cell, kSheet, landmarks).apply(field_over(kSheet, cell.rest, bilinear)),
            field_over(kSheet, landmarks, bilinear)),
        1e-14);
    const auto cubic = [](double u, double) { return Vec3d{u * u * u, 1 - u * u, u}; };
    const Cloth rope = grid_cloth(kSheet, 1, 8);
    EXPECT_LT(largest_difference(
                  LandmarkMap(rope, kSheet, landmarks).apply(field_over(kSheet, rope.rest, cubic)),
                  field_over(kSheet, landmarks, cubic)),
              1e-13);
}

// A landmark keeps its share of the sheet, so a sheet of another size changes no weight.
TEST(LandmarkMap, GoesByShareOfTheSheet)
{
    const Points landmarks = random_points(kSheet, 20);
    const Sheet larger{1.3, 0.7, 0.3};
    const LandmarkMap same(grid_cloth(kSheet, 5, 7), kSheet, landmarks);
    const LandmarkMap other(grid_cloth(larger, 5, 7), kSheet, landmarks);
    for (std::size_t i = 0; i < landmarks.size(); ++i) {
        EXPECT_EQ(same.weights()[i].particle, other.weights()[i].particle);
        EXPECT_EQ(same.weights()[i].weight, other.weights()[i].weight);
    }
}

// y . A x = (A^T y) . x, lane by lane.
TEST(LandmarkMap, AdjointIsTheTransposedMap)
{
    constexpr std::size_t kLanes = 4;
    const Cloth cloth = grid_cloth(kSheet, 5, 7);
    const LandmarkMap map(cloth, kSheet, random_points(kSheet, 11));
    Random random(9);
    const auto numbers = [&](std::size_t points) {
        std::vector<double> values(points * 3 * kLanes);
        for (double& value : values) value = random.normal();
        return values;
    };
    const auto x = numbers(map.particle_count()), y = numbers(map.landmark_count());
    std::vector<double> ax(y.size()), aty(x.size());
    map.apply(x.data(), kLanes, ax.data());
    map.add_adjoint(y.data(), kLanes, aty.data());
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        double left = 0, right = 0;
        for (std::size_t i = lane; i < y.size(); i += kLanes) left += y[i] * ax[i];
        for (std::size_t i = lane; i < x.size(); i += kLanes) right += aty[i] * x[i];
        EXPECT_NEAR(left, right, 1e-12);
    }
}

}  // namespace springtime
