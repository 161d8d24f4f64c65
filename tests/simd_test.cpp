// The wide steppers against the reference, and what must hold between their lanes.
#include <cmath>
#include <limits>

#include "backends.h"
#include "backends/simd/grid_stepper.h"
#include "cloths.h"
#define SPRINGTIME_ISA pack_test
#include "backends/simd/pack.h"

namespace springtime {

namespace {

const SimulationOptions kOptions{1e-3, {{0, -9.81, 0}, 1, {1, 0, 0.5}}, Device::automatic};

std::vector<Backend> simd_backends()
{
    auto backends = all_backends();
    backends.erase(backends.begin());  // the reference itself
    return backends;
}

State reference_run(const Cloth& cloth, const State& start, const Handles& handles, int steps)
{
    return advanced(all_backends().front(), cloth, start, handles, kOptions, steps);
}

// A step in float rounds some positions and forces by half an epsilon of `size`, some up and some
// down: 200 steps add up like a random walk. Seen: at most a sixth of this.
double rounding(const State& state)
{
    const double size = std::max(1.0, largest_length(state.position));
    return 4 * std::numeric_limits<float>::epsilon() * std::sqrt(200.0) * size;
}

// ---- Against the reference ----

class GridShapes : public testing::TestWithParam<Grid> {};

INSTANTIATE_TEST_SUITE_P(Simd, GridShapes,
                         testing::Values(Grid{2, 2}, Grid{1, 21}, Grid{21, 1}, Grid{3, 5},
                                         Grid{7, 17}, Grid{16, 16}, Grid{33, 9}, Grid{32, 32}),
                         [](const testing::TestParamInfo<Grid>& test) {
                             return std::to_string(test.param.rows) + "x" +
                                    std::to_string(test.param.cols);
                         });

TEST_P(GridShapes, AgreeWithTheReferenceForAllFamilies)
{
    const int rows = GetParam().rows, cols = GetParam().cols;
    for (int subset = 0; subset < 16; ++subset) {
        const Cloth cloth = uneven_grid(
            {rows, cols, bool(subset & 1), bool(subset & 2), bool(subset & 4), bool(subset & 8)});
        ASSERT_TRUE(GridStepper::fits(cloth));
        const State start = shaken_state(cloth, 10 + subset);
        const Handles pins{{0, cols - 1}, {}, {}};
        const State expected = reference_run(cloth, start, pins, 200);
        for (const Backend& backend : simd_backends()) {
            const State end = advanced(backend, cloth, start, pins, kOptions, 200);
            EXPECT_LE(largest_distance(end.position, expected.position), rounding(expected))
                << backend.name << ", families " << subset;
            EXPECT_EQ(end.time, expected.time);
        }
    }
}

TEST_P(GridShapes, AgreeWithTheReferenceForALaw)
{
    const int rows = GetParam().rows, cols = GetParam().cols;
    const SpringLaw compression{{0}, true, false}, bends{{}, false, true};
    for (const SpringLaw& law : {manifold_law(), law_named("full"), compression, bends}) {
        Cloth cloth = uneven_grid({rows, cols, true, true, true, true});
        add_uneven_law(cloth, law);
        ASSERT_TRUE(GridStepper::fits(cloth));
        const State start = shaken_state(cloth, 4);
        const Handles pins{{0, cols - 1}, {}, {}};
        const State expected = reference_run(cloth, start, pins, 200);
        for (const Backend& backend : simd_backends()) {
            const State end = advanced(backend, cloth, start, pins, kOptions, 200);
            EXPECT_LE(largest_distance(end.position, expected.position), rounding(expected))
                << backend.name;
        }
    }
}

TEST_P(GridShapes, AgreeWithTheReferenceAlongMovingHandles)
{
    const int rows = GetParam().rows, cols = GetParam().cols;
    const Cloth cloth = uneven_grid({rows, cols, true, true, true, true});
    const State start = shaken_state(cloth, 3);
    const int last = rows * cols - 1;
    const Vec3d a = start.position[1], b = start.position[last];
    const Handles handles{
        {1, last}, {0, 0.07, 0.15}, {a, b, a + Vec3d{0, 0.1, 0}, b, a, b + Vec3d{0.1, 0, 0.1}}};
    const State expected = reference_run(cloth, start, handles, 200);
    for (const Backend& backend : simd_backends()) {
        const State end = advanced(backend, cloth, start, handles, kOptions, 200);
        EXPECT_LE(largest_distance(end.position, expected.position), rounding(expected))
            << backend.name;
    }
}

void expect_agreement_without_grid_code(const Cloth& cloth)
{
    EXPECT_FALSE(GridStepper::fits(cloth));
    const State start = shaken_state(cloth, 5);
    const State expected = reference_run(cloth, start, {{0}, {}, {}}, 200);
    for (const Backend& backend : simd_backends()) {
        const State end = advanced(backend, cloth, start, {{0}, {}, {}}, kOptions, 200);
        EXPECT_LE(largest_distance(end.position, expected.position), rounding(expected))
            << backend.name;
    }
}

void add_spring(Cloth& cloth, int a, int b)
{
    cloth.springs.ends.push_back({a, b});
    cloth.springs.family.push_back(SpringFamily::structural);
    cloth.springs.rest_length.push_back(0.6);
    cloth.springs.stiffness.push_back(70);
    cloth.springs.damping.push_back(1);
}

TEST(SimdFallback, DuplicateSpringCountsTwice)
{
    Cloth cloth = uneven_grid({5, 7, true, true, true, true});
    ASSERT_TRUE(GridStepper::fits(cloth));
    add_spring(cloth, 9, 8);  // 8 to 9 is there already
    expect_agreement_without_grid_code(cloth);
}

TEST(SimdFallback, SpringAlongAnOddOffset)
{
    Cloth cloth = uneven_grid({5, 7, true, true, true, true});
    add_spring(cloth, 3, 18);  // two down, one right
    expect_agreement_without_grid_code(cloth);
}

TEST(SimdFallback, SpringAcrossTheEdgeIsNotANeighbour)
{
    Cloth cloth = uneven_grid({5, 7, true, true, true, true});
    add_spring(cloth, 6, 7);  // numbers follow each other, but one ends row 0 and one begins row 1
    expect_agreement_without_grid_code(cloth);
}

TEST(SimdFallback, ClothWithoutAGrid)
{
    Cloth cloth = uneven_grid({5, 7, true, true, true, true});
    cloth.grid.reset();
    expect_agreement_without_grid_code(cloth);
}

TEST(SimdGrid, TakesSpringsInEitherDirection)
{
    // The order of its ends does not change a spring.
    Cloth cloth = uneven_grid({5, 7, true, true, true, true}), turned = cloth;
    for (auto& ends : turned.springs.ends) std::swap(ends[0], ends[1]);
    ASSERT_TRUE(GridStepper::fits(turned));
    const State start = shaken_state(cloth, 6);
    for (const Backend& backend : simd_backends()) {
        const State a = advanced(backend, cloth, start, {}, kOptions, 50);
        const State b = advanced(backend, turned, start, {}, kOptions, 50);
        EXPECT_EQ(largest_distance(a.position, b.position), 0) << backend.name;
    }
}

// ---- Lanes ----

class Lanes : public testing::TestWithParam<KernelSet> {
  protected:
    const Cloth cloth_ = uneven_grid({6, 7, true, true, true, true});
    const Handles pins_{{0, 6}, {}, {}};

    std::unique_ptr<Stepper> batch() const { return make_simd_batch(cloth_, kOptions, GetParam()); }
    State start(int seed) const { return with_handles(shaken_state(cloth_, seed), pins_, 1e-3); }
    State stored(const Stepper& stepper, int lane) const
    {
        State state = flat_state(cloth_);
        stepper.store(lane, state);
        return state;
    }
    static void expect_same_bits(const State& a, const State& b)
    {
        EXPECT_EQ(largest_distance(a.position, b.position), 0);
        EXPECT_EQ(largest_distance(a.velocity, b.velocity), 0);
        EXPECT_EQ(a.time, b.time);
    }
};

INSTANTIATE_TEST_SUITE_P(Simd, Lanes, testing::ValuesIn(instruction_sets()),
                         [](const testing::TestParamInfo<KernelSet>& test) {
                             return std::string(test.param.name);
                         });

TEST_P(Lanes, BitsDoNotDependOnTheLaneNorOnTheOthers)
{
    const auto alone = batch();
    alone->load(0, start(1), pins_);
    alone->advance(100);
    const State expected = stored(*alone, 0);
    for (int lane = 0; lane < alone->lane_count(); ++lane) {
        const auto crowd = batch();
        for (int other = 0; other < crowd->lane_count(); ++other)
            crowd->load(other, start(other == lane ? 1 : 100 + other), pins_);
        crowd->advance(100);
        expect_same_bits(stored(*crowd, lane), expected);
    }
}

TEST_P(Lanes, BlowUpStaysInItsLane)
{
    const auto alone = batch(), beside = batch();
    alone->load(1, start(1), pins_);
    beside->load(1, start(1), pins_);
    State broken = start(2);
    broken.velocity[20].y = std::numeric_limits<double>::quiet_NaN();
    beside->load(0, broken, pins_);
    alone->advance(100);
    beside->advance(100);
    EXPECT_TRUE(std::isnan(stored(*beside, 0).position[30].x));  // it spread in its own lane
    expect_same_bits(stored(*beside, 1), stored(*alone, 1));
}

TEST_P(Lanes, LoadingOneLaneLeavesTheOthersAlone)
{
    const auto plain = batch(), reloaded = batch();
    plain->load(1, start(1), pins_);
    reloaded->load(1, start(1), pins_);
    plain->advance(100);
    reloaded->advance(50);
    reloaded->load(0, start(2), {});
    reloaded->advance(50);
    expect_same_bits(stored(*reloaded, 1), stored(*plain, 1));
    EXPECT_DOUBLE_EQ(stored(*reloaded, 0).time, 0.05);
}

TEST_P(Lanes, UnloadedLanesStayPut)
{
    const auto stepper = batch();
    stepper->load(0, start(1), pins_);
    stepper->advance(100);
    for (int lane = 1; lane < stepper->lane_count(); ++lane) {
        const State state = stored(*stepper, lane);
        EXPECT_EQ(largest_length(state.position), 0);
        EXPECT_EQ(largest_length(state.velocity), 0);
    }
}

TEST_P(Lanes, SingleStepperOfAListHasTheBitsOfALane)
{
    Cloth list = cloth_;
    list.grid.reset();
    const auto single = make_simd_single(list, kOptions, GetParam());
    EXPECT_EQ(single->lane_count(), 1);
    const auto many = batch();
    EXPECT_EQ(many->lane_count(), GetParam().width);
    single->load(0, start(1), pins_);
    many->load(2, start(1), pins_);
    single->advance(100);
    many->advance(100);
    expect_same_bits(stored(*single, 0), stored(*many, 2));
}

TEST_P(Lanes, NameTellsTheInstructionSet)
{
    EXPECT_EQ(batch()->name(), std::string("cpu/") + GetParam().name);
    EXPECT_EQ(make_simd_single(cloth_, kOptions, GetParam())->name(),
              std::string("cpu/") + GetParam().name);
}

// ---- Functions of packs ----

TEST(Pack, AngleIsThatOfTheStandardLibraryInAllQuadrants)
{
    // The polynomial is good to a few 1e-8 of the angle, and four roundings of up to 6e-8 come on
    // top: quotient, sum, and the parts of a turn. Small angles keep their relative precision.
    using pack_test::Pack;
    const auto angle = [](float y, float x) {
        float result[pack_test::kWidth];
        atan2(Pack(y), Pack(x)).store(result);
        return result[pack_test::kWidth - 1];
    };
    for (int degree = -18000; degree <= 18000; ++degree) {
        for (const float size : {1e-12f, 1.0f, 1e12f}) {
            const double turn = degree * (M_PI / 18000);
            const float x = size * float(std::cos(turn)), y = size * float(std::sin(turn));
            const double exact = std::atan2(double(y), double(x));
            ASSERT_NEAR(angle(y, x), exact, 1e-9 + 2.5e-7 * std::abs(exact)) << degree;
        }
    }
    EXPECT_EQ(angle(0, 0), 0);
    EXPECT_EQ(angle(0, 2), 0);
    EXPECT_FLOAT_EQ(angle(0, -2), float(M_PI));
    EXPECT_FLOAT_EQ(angle(3, 0), float(M_PI / 2));
    EXPECT_FLOAT_EQ(angle(-3, 0), float(-M_PI / 2));
    for (const float tiny : {1e-3f, 1e-6f, 1e-20f}) {
        EXPECT_NEAR(angle(tiny, 1), std::atan2(tiny, 1.0f), 1e-7 * tiny);
    }
}

}  // namespace

}  // namespace springtime
