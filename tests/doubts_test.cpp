#include <gtest/gtest.h>

#include "cloths.h"
#include "error_of.h"
#include "springtime/cloth.h"

namespace springtime {
namespace {

// 3 x 4 particles, 1 m apart.
Cloth sound_cloth()
{
    return make_grid_cloth({3, 2, 1.2}, {3, 4}, MaterialField::uniform(50),
                           MaterialField::uniform(0.5));
}

// The only doubt about a cloth.
std::string doubt(const Cloth& cloth)
{
    const std::vector<std::string> doubts = doubts_of(cloth);
    EXPECT_EQ(doubts.size(), 1u);
    return doubts.empty() ? "" : doubts.front();
}

TEST(Doubts, ThereAreNoneAboutWhatWeMake)
{
    EXPECT_TRUE(doubts_of(sound_cloth()).empty());
    EXPECT_TRUE(doubts_of(chain_cloth(5, 0.1, 0.01, 50, 1, Grid{1, 5})).empty());
}

TEST(Doubts, SpringsThatAreThereTwice)
{
    Cloth cloth = sound_cloth();
    SpringSet& springs = cloth.springs;
    const auto repeat = [&](std::size_t s) {
        springs.ends.push_back({springs.ends[s][1], springs.ends[s][0]});
        springs.family.push_back(springs.family[s]);
        springs.rest_length.push_back(springs.rest_length[s]);
        springs.stiffness.push_back(1);
        springs.damping.push_back(1);
    };
    const std::size_t count = springs.spring_count();
    repeat(2);
    repeat(5);
    EXPECT_TRUE(
        mentions(doubt(cloth), {fmt::format("springs 2 and {}", count), "and 1 more such"}));
}

TEST(Doubts, RestLengthsUnlikeTheDistance)
{
    for (const double length : {0.0, 0.4, 2.1, 1e9}) {
        Cloth cloth = sound_cloth();
        cloth.springs.rest_length[0] = length;  // its ends are 1 m apart
        EXPECT_TRUE(mentions(doubt(cloth), {"spring 0", "1 m apart"}));
    }
    Cloth cloth = sound_cloth();
    cloth.springs.rest_length[0] = 0.8;
    EXPECT_TRUE(doubts_of(cloth).empty());
}

TEST(Doubts, ParticlesAtOnePlace)
{
    Cloth cloth = chain_cloth(4, 0.1, 0.01, 50, 1);
    cloth.rest[3] = cloth.rest[1];
    cloth.springs.rest_length[2] = 0.1;
    EXPECT_TRUE(mentions(doubt(cloth), {"particles 1 and 3"}));
}

TEST(Doubts, MassesUnlikeTheSheets)
{
    Cloth cloth = sound_cloth();
    cloth.sheet.mass = 2.4;
    EXPECT_TRUE(mentions(doubt(cloth), {"1.2 kg together", "2.4 kg"}));
}

TEST(Doubts, ASheetThatIsNoFabric)
{
    EXPECT_TRUE(mentions(doubt_about_mass({0.3, 0.3, 30}).value_or(""), {"333 kg/m^2"}));
    EXPECT_FALSE(doubt_about_mass({0.3, 0.3, 0.03}));
    EXPECT_TRUE(doubt_about_mass({300, 300, 0.03}));  // in millimetres
}

TEST(Doubts, AGridThatRestPositionsContradict)
{
    Cloth cloth = sound_cloth();
    cloth.grid = Grid{4, 3};
    const std::vector<std::string> doubts = doubts_of(cloth);
    ASSERT_EQ(doubts.size(), 1u);
    EXPECT_TRUE(mentions(doubts[0], {"particle 2 lies", "row 0 and column 2 of the grid 4 x 3"}));
    cloth = sound_cloth();
    cloth.sheet.length = 2;
    EXPECT_TRUE(mentions(doubt(cloth), {"over 3 m along u", "over 2 m"}));
}

}  // namespace
}  // namespace springtime
