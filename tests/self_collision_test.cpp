// Pairs of particles that come close: which there are, and what is done to them.
#include "sim/self_collision.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "backends.h"
#include "cloths.h"
#include "obstacles.h"

namespace springtime {

namespace {

constexpr double kStep = 1e-3;

struct Points {
    const std::vector<Vec3d>& x;
    const Vec3d& position(int p) const { return x[p]; }
};

// All pairs of particles, one after the other.
std::vector<ClosePairs::Pair> brute_force(const Cloth& cloth, const std::vector<Vec3d>& x,
                                          double distance)
{
    std::vector<ClosePairs::Pair> pairs;
    for (int a = 0; a < int(x.size()); ++a) {
        for (int b = a + 1; b < int(x.size()); ++b) {
            const double du = cloth.rest[a].u - cloth.rest[b].u;
            const double dv = cloth.rest[a].v - cloth.rest[b].v;
            if (std::hypot(du, dv) < std::numbers::pi / 2 * distance) continue;
            if (length(x[a] - x[b]) < distance) pairs.push_back({a, b});
        }
    }
    return pairs;
}

// ---- Which pairs ----

TEST(ClosePairs, AreThoseThatAllPairsTellOnAWayThroughSpace)
{
    const Cloth cloth = uneven_grid({20, 20, true, true, true, true});
    for (const double distance : {0.05, 0.3, 0.8}) {
        ClosePairs pairs(cloth, distance);
        Random random(2);
        std::vector<Vec3d> x(cloth.particle_count());
        for (Vec3d& p : x) p = {3 * random.uniform(), 3 * random.uniform(), 3 * random.uniform()};
        std::size_t found = 0;
        for (int step = 0; step < 60; ++step) {
            const auto expected = brute_force(cloth, x, distance);
            EXPECT_EQ(pairs.find(Points{x}), expected);
            found += expected.size();
            for (Vec3d& p : x) {
                for (int axis = 0; axis < 3; ++axis)
                    p[axis] += 0.02 * (random.uniform() - 0.5) + 0.01;
            }
        }
        EXPECT_GT(found, 50u);
        EXPECT_GT(pairs.rebuild_count(), 1u);
        EXPECT_LT(pairs.rebuild_count(), 40u);  // not in every step
    }
}

TEST(ClosePairs, AreFoundAnewOnlyAfterHalfTheSkin)
{
    const Cloth cloth = chain_cloth(2, 2, 1, 0, 0);
    ASSERT_DOUBLE_EQ(cloth.sheet.length * cloth.sheet.width, 4);
    // Two particles on 4 m^2 are sqrt(2) m apart on average; the skin is half of that, 0.707 m.
    ClosePairs pairs(cloth, 0.5);
    std::vector<Vec3d> x{{0, 0, 0}, {2, 0, 0}};
    pairs.find(Points{x});
    x[1].x = 2 - 0.35;
    pairs.find(Points{x});
    EXPECT_EQ(pairs.rebuild_count(), 1u);
    x[1].x = 2 - 0.36;
    pairs.find(Points{x});
    EXPECT_EQ(pairs.rebuild_count(), 2u);
}

TEST(ClosePairs, NeighboursInTheSheetAreNone)
{
    // 0.5 m cells. At 0.4 m neighbours are those within 0.63 m: along the grid, not across.
    const Cloth cloth = make_grid_cloth({0.5, 0.5, 1}, {2, 2, true, true, true, true},
                                        MaterialField::uniform(1), MaterialField::uniform(0));
    ClosePairs pairs(cloth, 0.4);
    const std::vector<Vec3d> x(4);  // all in one place
    EXPECT_EQ(pairs.find(Points{x}), (std::vector<ClosePairs::Pair>{{0, 3}, {1, 2}}));
}

// ---- What is done ----

TEST(PairChange, KeepsMomentumAndCentreOfMass)
{
    Random random(3);
    const auto any = [&] {
        return Vec3d{2 * random.uniform() - 1, 2 * random.uniform() - 1, 2 * random.uniform() - 1};
    };
    Cloth cloth = chain_cloth(12, 5, 1, 0, 0);  // no neighbours at 1 m
    for (double& mass : cloth.mass) mass = 0.1 + random.uniform();
    std::vector<Vec3d> x, v;
    for (int p = 0; p < 12; ++p) {
        x.push_back(0.5 * any());
        v.push_back(any());
    }
    const auto weighted = [&](const std::vector<Vec3d>& a) {
        Vec3d sum;
        for (std::size_t p = 0; p < a.size(); ++p) sum += cloth.mass[p] * a[p];
        return sum;
    };
    const auto energy = [&] {
        double sum = 0;
        for (std::size_t p = 0; p < v.size(); ++p) sum += cloth.mass[p] / 2 * dot(v[p], v[p]);
        return sum;
    };
    struct Particles {
        std::vector<Vec3d>&x, &v;
        const Vec3d& position(int p) const { return x[p]; }
        const Vec3d& velocity(int p) const { return v[p]; }
        void move(int p, const Vec3d& by, const Vec3d& faster) const
        {
            x[p] += by;
            v[p] += faster;
        }
    };
    const Vec3d momentum = weighted(v), centre = weighted(x);
    const double before = energy();
    SelfCollision self(cloth, 1, kStep);
    self.apply(Particles{x, v});
    EXPECT_LE(length(weighted(v) - momentum), 1e-14);
    EXPECT_LE(length(weighted(x) - centre), 1e-14);
    EXPECT_LT(energy(), before);
    // A handle stays where it is, and the other one makes all the way.
    x = {{0, 0, 0}, {0.4, 0, 0}};
    x.resize(12, {50, 0, 0});
    for (int p = 2; p < 12; ++p) x[p].y = 5 * p;
    v.assign(12, {});
    self.hold(std::array{0});
    self.apply(Particles{x, v});
    EXPECT_EQ(length(x[0]), 0);
    EXPECT_NEAR(x[1].x, 1, 1e-15);
}

class SelfCollisionOn : public testing::TestWithParam<Backend> {
  protected:
    double rounding(double size) const { return 8 * GetParam().epsilon * size; }
};

INSTANTIATE_TEST_SUITE_P(All, SelfCollisionOn, testing::ValuesIn(all_backends()), backend_name);

TEST_P(SelfCollisionOn, HeadOnMeetingIsInelastic)
{
    // Masses 1 and 3 at speeds 2 and -1: afterwards both go at (2 - 3)/4, side by side.
    for (const auto& grid : chain_grids(2)) {
        Cloth cloth = chain_cloth(2, 3, 1, 0, 0, grid);
        cloth.mass = {1, 3};
        SimulationOptions options{kStep, kEmptySpace, Device::automatic, {}, 0, 0.5};
        const State start{0, {{0, 0, 0}, {1.1, 0, 0}}, {{2, 0, 0}, {-1, 0, 0}}};
        const State end = advanced(GetParam(), cloth, start, {}, options, 400);
        for (const Vec3d& v : end.velocity) {
            EXPECT_LE(length(v - Vec3d{-0.25, 0, 0}), rounding(1) / kStep);
        }
        EXPECT_NEAR(length(end.position[1] - end.position[0]), 0.5, rounding(2));
        const double centre = (end.position[0].x + 3 * end.position[1].x) / 4;
        EXPECT_NEAR(centre, 3 * 1.1 / 4 - 0.25 * 0.4, 100 * rounding(1));
    }
}

// Two square sheets that no spring joins, one above the other; they are 10 m apart in the cloth.
Cloth two_sheets(int side, double spacing)
{
    Cloth cloth;
    cloth.sheet = {spacing * (side - 1) + 10, spacing * (side - 1), 0.1 * side * side * 2};
    for (const double shift : {0.0, 10.0}) {
        const Sheet sheet{spacing * (side - 1), spacing * (side - 1), 0.1 * side * side};
        const Cloth one = make_grid_cloth(sheet, {side, side, true, true, true, true},
                                          MaterialField::uniform(50), MaterialField::uniform(0.5));
        const int first = int(cloth.particle_count());
        for (const SheetPoint& p : one.rest) cloth.rest.push_back({p.u + shift, p.v});
        cloth.mass.insert(cloth.mass.end(), one.mass.begin(), one.mass.end());
        for (std::size_t s = 0; s < one.springs.spring_count(); ++s) {
            const auto [a, b] = one.springs.ends[s];
            cloth.springs.ends.push_back({a + first, b + first});
            cloth.springs.family.push_back(one.springs.family[s]);
            cloth.springs.rest_length.push_back(one.springs.rest_length[s]);
            cloth.springs.stiffness.push_back(one.springs.stiffness[s]);
            cloth.springs.damping.push_back(one.springs.damping[s]);
        }
    }
    return cloth;
}

TEST_P(SelfCollisionOn, SheetDroppedOnAnotherKeepsItsDistance)
{
    // The lower one lies on the floor, and the upper falls on it, particle on particle. A pair that
    // is put apart can be pushed together again by the pairs after it, by no more than the way of
    // a step: sqrt(2 g 0.3 m) 1 ms = 2.4 mm.
    const int side = 6, count = side * side;
    const double spacing = 0.25, distance = 0.2;
    const Cloth cloth = two_sheets(side, spacing);
    State start = flat_state(cloth);
    for (int p = 0; p < 2 * count; ++p) {
        const int q = p % count;
        start.position[p] = {spacing * (q % side), p < count ? 0.0 : 0.5, spacing * (q / side)};
    }
    const SimulationOptions options{
        kStep, {{0, -9.81, 0}, 1, {}}, Device::automatic, {solid({PlaneShape{}})}, 0, distance};
    const auto stepper = GetParam().make(cloth, options);
    const int lane = stepper->lane_count() - 1;
    stepper->load(lane, start, {});
    State state = start;
    double least = 1;
    for (int step = 0; step < 1000; ++step) {
        stepper->advance(1);
        stepper->store(lane, state);
        for (const auto& [a, b] : brute_force(cloth, state.position, distance)) {
            least = std::min(least, length(state.position[a] - state.position[b]));
        }
        for (const Vec3d& x : state.position) ASSERT_GE(x.y, -rounding(1));
    }
    EXPECT_GE(least, distance - 2.5e-3);
    for (int p = 0; p < count; ++p) {
        EXPECT_NEAR(state.position[p].y, 0, 1e-4);
        EXPECT_NEAR(state.position[p + count].y, distance, 1e-3);  // it lies on the other
    }
}

TEST_P(SelfCollisionOn, AgreesWithTheReference)
{
    // A sheet laid double, with speeds that press it together.
    const Cloth cloth = uneven_grid({8, 9, true, true, true, true});
    State start = shaken_state(cloth, 4);
    for (Vec3d& x : start.position) {
        if (x.x < 0) x = {-x.x + 0.1, x.y + 0.4, x.z};
    }
    const SimulationOptions options{
        kStep, {{0, -9.81, 0}, 1, {}}, Device::automatic, {solid({PlaneShape{{0, -0.3, 0}}})}, 0.01,
        0.3};
    const State expected = advanced(all_backends().front(), cloth, start, {}, options, 200);
    const State end = advanced(GetParam(), cloth, start, {}, options, 200);
    EXPECT_LE(largest_distance(end.position, expected.position), 200 * rounding(1));
}

TEST_P(SelfCollisionOn, IsTheSameHoweverTheWayIsCut)
{
    // The list of pairs is younger after a load, and that must not show.
    const Cloth cloth = uneven_grid({8, 9, true, true, true, true});
    State start = shaken_state(cloth, 5);
    for (Vec3d& x : start.position) {
        if (x.x < 0) x = {-x.x + 0.1, x.y + 0.4, x.z};
    }
    const SimulationOptions options{kStep, {{0, -9.81, 0}, 1, {}}, Device::automatic, {}, 0, 0.3};
    const State whole = advanced(GetParam(), cloth, start, {}, options, 90);
    State cut = start;
    for (int part = 0; part < 9; ++part) {
        cut = advanced(GetParam(), cloth, cut, {}, options, 10);
    }
    EXPECT_EQ(largest_distance(whole.position, cut.position), 0);
    EXPECT_EQ(largest_distance(whole.velocity, cut.velocity), 0);
}

// The gap that a sheet has most of: a particle over the middle of a cell. It comes to rest at the
// distance d of all four corners, h = sqrt(d^2 - a^2/2) above them; with d below a/sqrt(2) it would
// fall through.
TEST_P(SelfCollisionOn, ACellOfTheSizeOfTheDistanceHoldsWhatFallsOnItsMiddle)
{
    constexpr double kCell = 0.5;
    Cloth cloth;
    cloth.sheet = {10, 10, 1};
    cloth.rest = {{0, 0}, {kCell, 0}, {0, kCell}, {kCell, kCell}, {9, 9}};
    cloth.mass.assign(5, 0.1);
    State start{
        0,
        {{0, 0, 0}, {kCell, 0, 0}, {0, 0, kCell}, {kCell, 0, kCell}, {kCell / 2, 0.6, kCell / 2}},
        std::vector<Vec3d>(5)};
    const Handles held{{0, 1, 2, 3}, {}, {}};
    SimulationOptions options{kStep, {{0, -9.81, 0}, 1, {}}, Device::automatic, {}, 0, kCell};
    const State end = advanced(GetParam(), cloth, start, held, options, 3000);
    const double height = std::sqrt(0.5) * kCell;
    EXPECT_NEAR(end.position[4].y, height, 1e-3);  // it sinks by dt^2 g a step and is put back
    options.self_distance = 0.69 * kCell;
    EXPECT_LT(advanced(GetParam(), cloth, start, held, options, 3000).position[4].y, -1);
}

}  // namespace

}  // namespace springtime
