// Free sheets fall on things and come to rest on them.
#include <gtest/gtest.h>

#include <algorithm>

#include "springtime/cloth.h"
#include "springtime/files.h"
#include "springtime/simulation.h"

namespace springtime {

namespace {

constexpr double kThickness = 0.03;  // [m]
const Sheet kSheet{15.5, 15.5, 30};
const Environment kAir{{0, -9.81, 0}, 3.2, {}};

Cloth fem_sheet(int side)
{
    return make_mesh_cloth(kSheet, make_grid_mesh(kSheet, {side, side}, MeshCut::diagonal), {});
}

Cloth spring_sheet(int side)
{
    return make_grid_cloth(kSheet, {.rows = side, .cols = side}, MaterialField::uniform(200),
                           MaterialField::uniform(0.5));
}

struct Draped {
    bool settled;
    double deepest, highest;  // [m]: into the obstacle, and of the sheet
};

Draped drape(const Cloth& cloth, const std::string& obstacle)
{
    SimulationOptions options{1e-3 / stable_substeps(cloth, kAir, 1e-3), kAir, {}};
    options.obstacles = read_obstacles(obstacle, {7.75, {0, -0.2, 0}});
    options.thickness = kThickness;
    Simulation simulation(cloth, flat_state(cloth), {}, options);
    Draped result{settle(simulation, rest_rule(kSheet), 60).settled, -1e9, -1e9};
    for (const Vec3d& x : simulation.state().position) {
        result.deepest = std::max(result.deepest, -signed_distance(options.obstacles[0], x, 60));
        result.highest = std::max(result.highest, x.y);
    }
    return result;
}

// All shapes but their notches are convex, where a particle ends at the thickness or farther off;
// in a notch the push out of one shape can lead into another by the way of one step, here far below
// the thickness.
class Drape : public testing::TestWithParam<std::string> {};

TEST_P(Drape, SettlesOutsideOfTheObstacle)
{
    for (const bool fem : {false, true}) {
        for (const int side : {16, 32}) {
            const Draped draped = drape(fem ? fem_sheet(side) : spring_sheet(side), GetParam());
            EXPECT_TRUE(draped.settled) << side << (fem ? " fem" : " springs");
            EXPECT_LE(draped.deepest, 0) << side << (fem ? " fem" : " springs");
        }
    }
}

INSTANTIATE_TEST_SUITE_P(On, Drape, testing::Values("table", "sphere", "animal"),
                         [](const auto& test) { return test.param; });

TEST(DrapeFine, SettlesOnTheTable)
{
    for (const Cloth& cloth : {fem_sheet(61), spring_sheet(61)}) {
        const Draped draped = drape(cloth, "table");
        EXPECT_TRUE(draped.settled);
        EXPECT_LE(draped.deepest, -kThickness + 1e-4);        // floats at a few metres, seen 1e-6
        EXPECT_GE(draped.highest, -0.2 + kThickness - 1e-4);  // it lies on the top
    }
}

}  // namespace

}  // namespace springtime
