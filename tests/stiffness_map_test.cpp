#include <gtest/gtest.h>

#include <cmath>

#include "error_of.h"
#include "springtime/cloth.h"
#include "springtime/evaluate.h"

namespace springtime {
namespace {

constexpr Sheet kSheet{3, 2, 1};

// Stiffness that is linear over the sheet. [N/m]
double linear(double u, double v)
{
    return 100 + 40 * u - 25 * v;
}

template <class Particles>
double linear_at(const Cloth& cloth, const Particles& particles)
{
    double sum = 0;
    for (const int p : particles) sum += linear(cloth.rest[p].u, cloth.rest[p].v);
    return sum / double(particles.size());
}

Cloth linear_springs(const GridOptions& grid, double sign = 1)
{
    Cloth cloth =
        make_grid_cloth(kSheet, grid, MaterialField::uniform(1), MaterialField::uniform(1));
    for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
        const bool bending = cloth.springs.family[s] == SpringFamily::bending;
        cloth.springs.stiffness[s] =
            bending ? 1e6 : 300 + sign * linear_at(cloth, cloth.springs.ends[s]);
    }
    return cloth;
}

Cloth linear_triangles(const Grid& grid)
{
    Cloth cloth =
        make_mesh_cloth(kSheet, make_grid_mesh(kSheet, grid, MeshCut::alternating), MeshMaterial{});
    for (std::size_t t = 0; t < cloth.triangles.triangle_count(); ++t) {
        cloth.triangles.shear_stiffness[t] = linear_at(cloth, cloth.triangles.corners[t]);
    }
    return cloth;
}

double centre_value(int row, int col, const Grid& cells)
{
    return linear((col + 0.5) / cells.cols * kSheet.length,
                  (row + 0.5) / cells.rows * kSheet.width);
}

// The elements of a cell lie around its centre in pairs, so the mean of a linear function over
// them is its value at the centre.
TEST(StiffnessMap, HasTheCentreValueOfALinearStiffness)
{
    const Grid cells{4, 6};
    const ValueMap springs = stiffness_map(linear_springs({5, 7}), cells);
    const ValueMap triangles = stiffness_map(linear_triangles({5, 7}), cells);
    for (int r = 0; r < cells.rows; ++r) {
        for (int c = 0; c < cells.cols; ++c) {
            const std::size_t i = std::size_t(r) * cells.cols + c;
            EXPECT_NEAR(springs.values[i], 300 + centre_value(r, c, cells), 1e-9);
            EXPECT_NEAR(triangles.values[i], centre_value(r, c, cells), 1e-9);
        }
    }
}

TEST(StiffnessMap, FillsCellsWithoutElementsFromTheNearest)
{
    const ValueMap map = stiffness_map(linear_triangles({2, 2}), {20, 20});
    for (const double value : map.values) EXPECT_GT(value, 0);
}

TEST(StiffnessMap, CorrelationKnowsScaleAndSign)
{
    const Cloth source = linear_triangles({5, 7});
    EXPECT_NEAR(map_correlation(linear_springs({5, 7}), source), 1, 1e-12);
    EXPECT_NEAR(map_correlation(linear_springs({5, 7}, -1), source), -1, 1e-12);
    const Cloth uniform =
        make_grid_cloth(kSheet, {5, 7}, MaterialField::uniform(5), MaterialField::uniform(1));
    EXPECT_TRUE(std::isnan(map_correlation(uniform, source)));
}

TEST(StiffnessMap, NeedsAGrid)
{
    Cloth cloth = linear_springs({5, 7});
    cloth.grid.reset();
    EXPECT_NE(error_of([&] { map_correlation(cloth, cloth); }).find("must be a grid"),
              std::string::npos);
}

}  // namespace
}  // namespace springtime
