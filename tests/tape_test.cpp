// Tapes against each other: the wide ones against the reference, runs that remember little against
// runs that remember all, lanes against single lanes.
#include <cmath>
#include <limits>

#include "backends.h"
#include "backends/simd/simd.h"
#include "gradients.h"

namespace springtime {

namespace {

constexpr double kFloatEpsilon = std::numeric_limits<float>::epsilon();

void expect_same_bits(const Gradient& a, const Gradient& b)
{
    for (std::size_t kind = 0; kind < a.kinds.size(); ++kind) {
        for (std::size_t s = 0; s < a.kinds[kind].size(); ++s) {
            EXPECT_EQ(a.kinds[kind][s], b.kinds[kind][s]) << "kind " << kind << ", spring " << s;
        }
    }
}

void add_to(Gradient& sum, const Gradient& gradient)
{
    for (std::size_t kind = 0; kind < sum.kinds.size(); ++kind) {
        for (std::size_t s = 0; s < sum.kinds[kind].size(); ++s) {
            sum.kinds[kind][s] += gradient.kinds[kind][s];
        }
    }
}

// ---- The wide tapes ----

class WideTape : public testing::TestWithParam<KernelSet> {
  protected:
    std::unique_ptr<Tape<float>> make(const Scene& scene, const TapeOptions& options) const
    {
        return make_simd_tape(scene.cloth, scene.options, options, GetParam());
    }
    Gradient alone(const Scene& scene, int lane, const TapeOptions& options = kKeepAll) const
    {
        return tape_gradient(*make(scene, options), {{lane, scene}});
    }
};

INSTANTIATE_TEST_SUITE_P(Simd, WideTape, testing::ValuesIn(instruction_sets()),
                         [](const testing::TestParamInfo<KernelSet>& test) {
                             return std::string(test.param.name);
                         });

TEST_P(WideTape, StatesAreThoseOfTheReference)
{
    const Scene scene = windy_scene(500, 1);
    const auto wide = make(scene, kKeepAll);
    const int lane = 1, lanes = wide->lane_count();
    PlainRun<double> plain(scene);
    wide->begin(scene.steps);
    wide->load(lane, scene.start, scene.handles);
    for (int n = 1; n <= scene.steps; ++n) {
        wide->advance(1);
        plain.step();
        // A step rounds numbers of about one by half an epsilon a few times, some up and some down.
        // Seen: a quarter of it.
        const double tolerance = 4 * kFloatEpsilon * std::sqrt(n);
        const auto x = lane_of(wide->position(), lane, lanes);
        ASSERT_LE(largest_distance(x, plain.position), tolerance) << "step " << n;
        // The largest w^2 = 10 k / m is some 5000 / s^2, and w turns errors of x into those of v.
        const auto v = lane_of(wide->velocity(), lane, lanes);
        ASSERT_LE(largest_distance(v, plain.velocity), 70 * tolerance) << "step " << n;
        const auto a = lane_of(wide->acceleration(), lane, lanes);
        ASSERT_LE(largest_distance(a, plain.acceleration()), 5000 * tolerance) << "step " << n;
    }
}

TEST_P(WideTape, GradientIsThatOfTheReference)
{
    for (const int steps : {1, 127, 128, 129, 500}) {  // sums are flushed after every 128
        const Scene scene = windy_scene(steps, 2);
        // Every step there and every step back rounds a few times by half an epsilon, some up and
        // some down, and an entry may be a hundredth of what it is summed from. Seen: a third.
        const double tolerance = 100 * 4 * kFloatEpsilon * std::sqrt(2.0 * steps);
        const double error = gradient_error(alone(scene, 0), reference_gradient(scene));
        EXPECT_LE(error, tolerance) << steps << " steps";
    }
}

TEST_P(WideTape, GradientOfALawIsThatOfTheReference)
{
    for (const int steps : {1, 65, 500}) {
        for (const SpringLaw& law : {manifold_law(), law_named("full")}) {
            const Scene scene = law_scene(steps, 2, law);
            // As above, with about twice as many roundings in a spring. Seen: half of it.
            const double tolerance = 100 * 8 * kFloatEpsilon * std::sqrt(2.0 * steps);
            const double error = gradient_error(alone(scene, 0), reference_gradient(scene));
            EXPECT_LE(error, tolerance) << steps << " steps, " << law.knots.size() << " knots";
        }
    }
}

TEST_P(WideTape, ZerosThatStayHaveNoGradientAndChangeNoOther)
{
    for (const int steps : {1, 200}) {
        Scene scene = law_scene(steps, 4, law_named("full"));
        auto& isotropic = scene.cloth.springs.isotropic_damping;
        for (std::size_t s = 0; s < isotropic.size(); s += 3) isotropic[s] = 0;
        std::fill(scene.cloth.bends.damping.begin(), scene.cloth.bends.damping.end(), 0.0);
        Gradient expected = reference_gradient(scene);
        const double tolerance = 100 * 8 * kFloatEpsilon * std::sqrt(2.0 * steps);  // as above
        EXPECT_LE(gradient_error(alone(scene, 0), expected), tolerance) << steps << " steps";
        const ParameterValues values = parameters_of(scene.cloth);
        for (std::size_t kind = 0; kind < values.size(); ++kind) {
            for (std::size_t e = 0; e < values[kind].size(); ++e) {
                if (values[kind][e] == 0) expected.kinds[kind][e] = 0;
            }
        }
        const TapeOptions zeros_stay{kKeepAll.memory, true};
        const Gradient found = alone(scene, 0, zeros_stay);
        for (std::size_t kind = 0; kind < values.size(); ++kind) {
            if (largest_entry(expected.kinds[kind]) == 0) {
                EXPECT_EQ(largest_entry(found.kinds[kind]), 0);
            } else {
                EXPECT_LE(worst_relative_error(found.kinds[kind], expected.kinds[kind]), tolerance);
            }
        }
    }
}

TEST_P(WideTape, TakesNewParametersOfALaw)
{
    for (const bool isotropic : {true, false}) {
        Scene scene = law_scene(100, 7);
        if (!isotropic) scene.cloth.springs.isotropic_damping.clear();
        Scene other = scene;
        for (int kind = 0; kind < learned_count(scene.cloth); ++kind) {
            for (double& value : learned(other.cloth, kind)) value *= 0.7 + 0.1 * kind;
        }
        const auto tape = make(scene, kKeepLittle);
        tape->set_parameters(parameters_of(other.cloth));
        const Gradient gradient = tape_gradient(*tape, {{0, other}});
        expect_same_bits(gradient, alone(other, 0));
        EXPECT_GT(gradient_error(gradient, alone(scene, 0)), 0.1);
    }
}

TEST_P(WideTape, GradientOfAllLanesIsTheSumOfEach)
{
    std::map<int, Scene> lanes;
    for (int lane = 0; lane < GetParam().width; ++lane) lanes[lane] = windy_scene(100, 1 + lane);
    const auto tape = make(lanes[0], kKeepAll);
    const Gradient together = tape_gradient(*tape, lanes);
    Gradient sum(lanes[0].cloth);
    for (const auto& [lane, scene] : lanes) add_to(sum, alone(scene, lane));
    // Each lane is summed by itself in float, the same bits alone and in company; over lanes and
    // flushes it goes on in double, with 29 bits to spare.
    EXPECT_LE(gradient_error(together, sum), 1e-12);
}

TEST_P(WideTape, GradientOfALaneIsThatOfItsSceneAlone)
{
    std::map<int, Scene> lanes;
    for (int lane = 0; lane < GetParam().width; ++lane) lanes[lane] = law_scene(100, 1 + lane);
    const auto tape = make(lanes[0], kKeepAll);
    tape_gradient(*tape, lanes);
    for (const auto& [lane, scene] : lanes) {
        Gradient gradient(scene.cloth);
        tape->add_lane_gradient(lane, gradient.kinds);
        expect_same_bits(gradient, alone(scene, lane));
    }
}

TEST_P(WideTape, BitsDoNotDependOnTheLane)
{
    const Scene scene = windy_scene(100, 3);
    const Gradient first = alone(scene, 0);
    for (int lane = 1; lane < GetParam().width; ++lane) expect_same_bits(alone(scene, lane), first);
}

TEST_P(WideTape, LanesThatAreNotLoadedAddNothing)
{
    // Not even when the loss looks at them.
    const Scene scene = windy_scene(100, 4);
    const auto tape = make(scene, kKeepAll);
    const int lanes = tape->lane_count();
    tape->begin(scene.steps);
    tape->load(1, scene.start, scene.handles);
    tape->advance(scene.steps);
    Gradient with(scene.cloth), without = with;
    for (const bool look : {true, false}) {
        tape->begin_back();
        for (int lane = 0; lane < lanes; ++lane) {
            if (lane != 1 && !look) continue;
            add_to_lane(tape->position_adjoint(), lane, lanes, scene.loss.position);
            add_to_lane(tape->velocity_adjoint(), lane, lanes, scene.loss.velocity);
        }
        tape->retreat(scene.steps);
        Gradient& gradient = look ? with : without;
        tape->add_gradient(gradient.kinds);
        tape->advance(scene.steps);
    }
    EXPECT_GT(largest_entry(without.kinds[0]), 0);
    expect_same_bits(with, without);

    tape->begin(scene.steps);  // and nobody at all
    tape->advance(scene.steps);
    tape->begin_back();
    for (float& adjoint : tape->position_adjoint()) adjoint = 1;
    tape->retreat(scene.steps);
    Gradient nothing(scene.cloth);
    tape->add_gradient(nothing.kinds);
    EXPECT_EQ(largest_entry(nothing.kinds[0]), 0);
    EXPECT_EQ(largest_entry(nothing.kinds[1]), 0);
}

TEST_P(WideTape, LittleMemoryGivesTheSameBits)
{
    for (const int steps : {1, 2, 99, 100, 101, 500}) {
        const Scene scene = windy_scene(steps, 5);
        expect_same_bits(alone(scene, 0, kKeepLittle), alone(scene, 0, kKeepAll));
    }
}

TEST_P(WideTape, BeginForgetsEverything)
{
    const Scene scene = windy_scene(200, 6);
    const auto tape = make(scene, kKeepLittle);
    const Gradient first = tape_gradient(*tape, {{1, scene}});
    tape_gradient(*tape, {{0, windy_scene(300, 7)}, {1, windy_scene(300, 8)}});
    expect_same_bits(tape_gradient(*tape, {{1, scene}}), first);
}

TEST_P(WideTape, TakesNewParameters)
{
    const Scene scene = windy_scene(100, 7);
    Scene other = scene;
    for (double& k : other.cloth.springs.stiffness) k *= 0.7;
    for (double& b : other.cloth.springs.damping) b *= 1.3;
    const auto tape = make(scene, kKeepAll);
    tape_gradient(*tape, {{0, scene}});
    tape->set_parameters(parameters_of(other.cloth));
    expect_same_bits(tape_gradient(*tape, {{0, other}}), alone(other, 0));
}

// ---- Remembering ----

TEST(StretchLength, IsAllThatFitsOrTheRoot)
{
    EXPECT_EQ(stretch_length(100, 10, 1010), 100);  // 101 states of 10 bytes fit
    EXPECT_EQ(stretch_length(100, 10, 1009), 10);
    EXPECT_EQ(stretch_length(101, 10, 1009), 11);
    EXPECT_EQ(stretch_length(8000, 1, 1), 90);  // 89^2 = 7921 < 8000 <= 8100 = 90^2
    EXPECT_EQ(stretch_length(1, 1, 0), 1);
    EXPECT_EQ(stretch_length(0, 1, 1000), 1);
    // Kept states, those of a stretch and its last: n/r + 1 + r + 1 with r < sqrt(n) + 1.
    for (int steps = 1; steps < 100000; steps += 1 + steps / 7) {
        const int stretch = stretch_length(steps, 1, 0);
        const int states = (steps + stretch - 1) / stretch + stretch + 1;
        EXPECT_LE(states, 2 * std::sqrt(double(steps)) + 3) << steps << " steps";
        EXPECT_GE(stretch * stretch, steps);
        EXPECT_LT((stretch - 1) * (stretch - 1), steps);
    }
}

TEST(LastStretch, TakesTheMemoryThatTheOthersLeave)
{
    EXPECT_EQ(last_stretch(100, 10, 1010), 0);
    EXPECT_EQ(last_stretch(0, 1, 1000), 0);
    // Stretches of 45. Beside 45 kept states and one more 654 fit: 1350 = 30 * 45 >= 2000 - 654.
    EXPECT_EQ(last_stretch(2000, 1, 700), 1350);
    EXPECT_EQ(last_stretch(8000, 1, 1), 7920);  // no longer than the others
    for (int steps = 1; steps < 100000; steps += 1 + steps / 7) {
        const int root = stretch_length(steps, 1, 0);
        for (const int memory : {2 * root + 3, 5 * root, steps / 2 + 2 * root + 3}) {
            const int stretch = stretch_length(steps, 1, std::size_t(memory));
            const int last = last_stretch(steps, 1, std::size_t(memory));
            EXPECT_EQ(last % stretch, 0);
            const int states = last / stretch + 1 + steps - last + 1;
            EXPECT_LE(states, steps + 1 > memory ? memory : steps + 2);
        }
    }
}

TEST(ReferenceTape, LittleMemoryGivesTheSameBits)
{
    for (const int steps : {1, 2, 99, 100, 101, 500}) {
        const Scene scene = windy_scene(steps, 1);
        const auto little = make_reference_tape(scene.cloth, scene.options, kKeepLittle);
        expect_same_bits(tape_gradient(*little, {{0, scene}}), reference_gradient(scene));
    }
}

TEST(ReferenceTape, EightThousandStepsFitIntoTheRoot)
{
    // 8001 states of 4 particles, 192 bytes each, would be 1.5 MB: with less, 89 are kept and 91
    // make a stretch.
    Scene scene;
    scene.cloth = chain_cloth(4, 0.3, 0.1, 30, 0.05);
    scene.options.dt = 2e-3;
    scene.handles = {{0}, {}, {}};
    scene.start = with_handles(shaken_state(scene.cloth, 9), scene.handles, scene.options.dt);
    scene.steps = 8000;
    scene.loss = random_loss(scene.cloth, scene.handles, {0, 89, 90, 4000, 7999}, 1);
    const std::size_t bytes = 2 * 3 * sizeof(double) * scene.cloth.particle_count();
    const TapeOptions bounded{200 * bytes};
    EXPECT_EQ(stretch_length(scene.steps, bytes, bounded.memory), 90);
    const auto tape = make_reference_tape(scene.cloth, scene.options, bounded);
    expect_same_bits(tape_gradient(*tape, {{0, scene}}), reference_gradient(scene));
}

TEST(ReferenceTape, StatesOnTheWayBackAreThoseOfTheWayThere)
{
    const Scene scene = windy_scene(60, 2);  // stretches of 8: 7 whole ones and a half
    const auto tape = make_reference_tape(scene.cloth, scene.options, kKeepLittle);
    tape->begin(scene.steps);
    tape->load(0, scene.start, scene.handles);
    std::vector<std::vector<Vec3d>> positions;
    for (int n = 0; n < scene.steps; ++n) {
        positions.push_back(lane_of(tape->position(), 0, 1));
        tape->advance(1);
    }
    tape->begin_back();
    for (int n = scene.steps - 1; n >= 0; --n) {
        tape->retreat(1);
        EXPECT_EQ(largest_distance(lane_of(tape->position(), 0, 1), positions[n]), 0) << n;
    }
}

TEST(ReferenceTape, BeginForgetsEverything)
{
    const Scene scene = windy_scene(200, 3);
    const auto tape = make_reference_tape(scene.cloth, scene.options, kKeepLittle);
    const Gradient first = tape_gradient(*tape, {{0, scene}});
    tape_gradient(*tape, {{0, windy_scene(300, 4)}});
    expect_same_bits(tape_gradient(*tape, {{0, scene}}), first);
}

TEST(ReferenceTapeDeathTest, RefusesToLeaveItsSteps)
{
    const Scene scene = windy_scene(10, 3);
    const auto tape = make_reference_tape(scene.cloth, scene.options, kKeepAll);
    tape->begin(scene.steps);
    tape->load(0, scene.start, scene.handles);
    tape->advance(scene.steps);
    EXPECT_DEATH(tape->advance(1), "internal error");
    EXPECT_DEATH(tape->retreat(scene.steps + 1), "internal error");
}

TEST(ReferenceTape, TakesNewParameters)
{
    const Scene scene = windy_scene(100, 4);
    Scene other = scene;
    for (double& k : other.cloth.springs.stiffness) k *= 0.7;
    for (double& b : other.cloth.springs.damping) b *= 1.3;
    const auto tape = make_reference_tape(scene.cloth, scene.options, kKeepAll);
    tape->set_parameters(parameters_of(other.cloth));
    expect_same_bits(tape_gradient(*tape, {{0, other}}), reference_gradient(other));
    EXPECT_GT(gradient_error(reference_gradient(other), reference_gradient(scene)), 0.1);
}

TEST(ReferenceTape, GradientIsSummedUntilTheNextWayBack)
{
    const Scene scene = windy_scene(50, 5);
    const auto tape = make_reference_tape(scene.cloth, scene.options, kKeepAll);
    const Gradient once = tape_gradient(*tape, {{0, scene}});
    Gradient twice = once;
    tape->add_gradient(twice.kinds);  // adds to what is there
    for (std::size_t s = 0; s < once.kinds[0].size(); ++s)
        EXPECT_EQ(twice.kinds[0][s], 2 * once.kinds[0][s]);
    expect_same_bits(tape_gradient(*tape, {{0, scene}}), once);
}

// ---- Handles ----

TEST(TapeHandles, SpringsBetweenHandlesHaveNoInfluence)
{
    // Their forces act on particles whose path is prescribed.
    Scene scene = windy_scene(100, 6);
    scene.handles = {{0, 1, 7, 28, 29}, {}, {}};
    scene.start = with_handles(scene.start, scene.handles, scene.options.dt);
    scene.loss = random_loss(scene.cloth, scene.handles, {0, 50, 100}, 7);
    const Gradient reference = reference_gradient(scene);
    std::vector<Gradient> gradients{reference};
    for (const KernelSet& set : instruction_sets()) {
        const auto tape = make_simd_tape(scene.cloth, scene.options, kKeepAll, set);
        gradients.push_back(tape_gradient(*tape, {{0, scene}}));
    }
    const auto held = [&](int p) { return std::ranges::count(scene.handles.particles, p) > 0; };
    int between = 0;
    for (std::size_t s = 0; s < scene.cloth.springs.spring_count(); ++s) {
        const auto [a, b] = scene.cloth.springs.ends[s];
        if (!held(a) || !held(b)) {
            EXPECT_NE(reference.kinds[0][s], 0);
            continue;
        }
        ++between;
        for (const Gradient& gradient : gradients) {
            EXPECT_EQ(gradient.kinds[0][s], 0);
            EXPECT_EQ(gradient.kinds[1][s], 0);
        }
    }
    EXPECT_EQ(between, 4);  // 0-1, 0-7, 1-7 and 28-29
}

TEST(TapeHandles, AccelerateByNothing)
{
    const Scene scene = windy_scene(10, 7);
    const auto tape = make_reference_tape(scene.cloth, scene.options, kKeepAll);
    tape->begin(scene.steps);
    tape->load(0, scene.start, scene.handles);
    tape->advance(scene.steps);
    const auto a = lane_of(tape->acceleration(), 0, 1);
    for (const int p : scene.handles.particles) EXPECT_EQ(length(a[p]), 0);
}

}  // namespace

}  // namespace springtime
