// Learning: the optimizer by hand, parameters that are known beforehand, and what goes wrong.
#include "springtime/learn.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <limits>
#include <string>

#include "error_of.h"
#include "learn/adam.h"
#include "learn/gradient.h"
#include "learn/loss.h"
#include "motion/clips.h"
#include "springtime/error.h"
#include "training.h"

namespace springtime {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// ---- The optimizer ----

TEST(Adam, TakesTheStepsWorkedOutByHand)
{
    // Means m and squares s with g = 1, -2, 0.5, a rate of 0.1, and biases taken out by
    // 1/(1 - 0.9^n) and 1/(1 - 0.999^n):
    //   n   m                       s                               step 0.1 m'/sqrt(s')
    //   1   0.1                     0.001                           0.1 * 1/1
    //   2   0.09 - 0.2 = -0.11      0.000999 + 0.004 = 0.004999     0.1 * (-0.11/0.19)
    //                                                               / sqrt(0.004999/0.001999)
    //   3   -0.099 + 0.05 = -0.049  0.004994001 + 0.00025           0.1 * (-0.049/0.271)
    //                               = 0.005244001                   / sqrt(0.005244001/0.002997001)
    const double first = 5 - 0.1;
    const double second = first + 0.1 * (0.11 / 0.19) / std::sqrt(0.004999 / 0.001999);
    const double third = second + 0.1 * (0.049 / 0.271) / std::sqrt(0.005244001 / 0.002997001);
    std::vector<double> x{5, 5}, mean(2), square(2);
    // 1 - 0.999^n loses three digits, and the tiny number beside the root is 1e-12 of it.
    const double tolerance = 1e-12;
    const auto step = [&](double gradient, int n) {
        adam_step(x, std::vector<double>{gradient, 0}, mean, square, 0.1, n);
    };
    step(1, 1);
    EXPECT_NEAR(x[0], first, tolerance);
    step(-2, 2);
    EXPECT_NEAR(x[0], second, tolerance);
    step(0.5, 3);
    EXPECT_NEAR(x[0], third, tolerance);
    EXPECT_NEAR(mean[0], -0.049, 1e-15);
    EXPECT_NEAR(square[0], 0.005244001, 1e-15);
    EXPECT_EQ(x[1], 5);  // never pulled at
}

TEST(CosineDecay, FallsFromOneToZero)
{
    EXPECT_EQ(cosine_decay(0, 60), 1);
    EXPECT_NEAR(cosine_decay(20, 60), 0.75, kEpsilon);  // (1 + cos 60 deg) / 2
    EXPECT_NEAR(cosine_decay(30, 60), 0.5, kEpsilon);
    EXPECT_NEAR(cosine_decay(40, 60), 0.25, kEpsilon);
    EXPECT_NEAR(cosine_decay(60, 60), 0, kEpsilon);
}

double rmse(const std::vector<double>& a, const std::vector<double>& b)
{
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return std::sqrt(sum / double(a.size()));
}

// ---- Two springs ----

// Four particles of 0.1 kg at the corners of a square of 1 m, and its two diagonals, which share no
// particle: each pair is an oscillator of its own. In steps of 2 ms in empty space.
constexpr GridOptions kCross{2, 2, false, true, true, false};
constexpr double kCrossStep = 2e-3;

Cloth cross_cloth(double k0, double k1, double b0, double b1)
{
    Cloth cloth =
        make_grid_cloth({1, 1, 0.4}, kCross, MaterialField::uniform(1), MaterialField::uniform(1));
    cloth.springs.stiffness = {k0, k1};
    cloth.springs.damping = {b0, b1};
    return cloth;
}

Rollout cross_rollout(const Cloth& cloth, int seed, std::size_t frames)
{
    Scene scene;
    scene.cloth = cloth;
    scene.start = rounded_for_floats(shaken_state(cloth, seed));
    scene.options = {kCrossStep, kEmptySpace, Device::reference};
    return recorded(scene, frames, 1);
}

Motion cross_motion(std::vector<Rollout> rollouts)
{
    MotionHeader header;
    const Cloth cloth = cross_cloth(1, 1, 1, 1);
    header.sheet = cloth.sheet;
    header.rest = cloth.rest;
    header.dt = kCrossStep;
    header.stride = 1;
    header.environment = kEmptySpace;
    return motion_of(header, std::move(rollouts));
}

TrainOptions cross_options(int iterations, int clip_steps, int batch)
{
    TrainOptions options;
    options.grid = kCross;
    options.passes = single_pass(iterations, {.force = 1, .impulse = 0});
    options.rounds = 1;
    options.clip_steps = clip_steps;
    options.batch = batch;
    options.stiffness_start = 40;
    options.damping_start = 0.4;
    options.device = Device::reference;
    options.threads = 1;
    return options;
}

// The same iterations written out, on all clips at once: Adam from zero in every pass, with rates
// relative to the start that fall like a cosine, in the second round from half as high.
struct PlainAdam {
    bool logarithmic;
    std::vector<double> mean{0, 0}, square{0, 0};

    void move(std::vector<double>& parameters, const std::vector<double>& gradient, double rate,
              int step)
    {
        for (std::size_t s = 0; s < parameters.size(); ++s) {
            const double g = logarithmic ? parameters[s] * gradient[s] : gradient[s];
            mean[s] = 0.9 * mean[s] + 0.1 * g;
            square[s] = 0.999 * square[s] + 0.001 * g * g;
            const double direction = mean[s] / (1 - std::pow(0.9, step)) /
                                     std::sqrt(square[s] / (1 - std::pow(0.999, step)));
            if (logarithmic)
                parameters[s] *= std::exp(-rate * direction);
            else
                parameters[s] -= rate * direction;
        }
    }
};

TEST(Train, IterationsAreThoseOfAdamOnTheGradient)
{
    const Cloth truth = cross_cloth(30, 50, 0.6, 0.3), surrogate = cross_cloth(1, 1, 1, 1);
    std::vector<Rollout> rollouts;
    for (int seed = 1; seed <= 4; ++seed) rollouts.push_back(cross_rollout(truth, seed, 21));
    for (const bool logarithmic : {false, true}) {
        TrainOptions options = cross_options(0, 20, 3);
        options.passes = dual_pass(4, 3, {.force = 2, .impulse = 3});
        options.rounds = 2;
        options.round_decay = 0.5;
        options.logarithmic = logarithmic;
        const TrainResult result = train(cross_motion(rollouts), options, nullptr, {});

        std::vector<Rollout> clips;
        for (const std::size_t r :
             split_rollouts(4, options.validation_share, options.seed).training)
            clips.push_back(rollouts[r]);
        BatchGradient batch(surrogate, {kCrossStep, kEmptySpace, Device::reference}, 1, 1);
        std::vector<double> k{40, 40}, b{0.4, 0.4};
        const double k_rate = 0.1 * (logarithmic ? 1 : 40),
                     b_rate = 0.075 * (logarithmic ? 1 : 0.4);
        for (int round = 0; round < 2; ++round) {
            PlainAdam stiffness{logarithmic}, damping{logarithmic};
            const auto gradient = [&] {
                return batch.run(clips, {k, b}, {.force = 2, .impulse = 3}, true).gradient;
            };
            const auto decay = [&](double part) {
                return (round == 0 ? 1 : 0.5) * (1 + std::cos(std::acos(-1) * part)) / 2;
            };
            for (int i = 0; i < 4; ++i)
                stiffness.move(k, gradient().kinds[0], k_rate * decay(i / 4.0), i + 1);
            for (int i = 0; i < 3; ++i)
                damping.move(b, gradient().kinds[1], b_rate * decay(i / 3.0), i + 1);
        }
        // Adam adds 1e-12 to roots of some 0.01, and batches have the clips in another order.
        EXPECT_LE(worst_relative_error(result.state.parameters[0], k), 1e-9);
        EXPECT_LE(worst_relative_error(result.state.parameters[1], b), 1e-9);
    }
}

TEST(Train, FindsTheOptimumOfTwoSprings)
{
    const Cloth truth = cross_cloth(30, 50, 0.6, 0.3);
    std::vector<Rollout> rollouts;
    for (int seed = 1; seed <= 4; ++seed) rollouts.push_back(cross_rollout(truth, seed, 41));
    const Motion motion = cross_motion(rollouts);
    const TrainResult result = train(motion, cross_options(300, 40, 3), nullptr, {});
    // Targets of up to some 3 N are rounded to float, that is by 2e-7 N, and a strain of some 0.05
    // m and a rate of some 1 m/s turn that into 4e-6 N/m and 2e-7 N s/m.
    EXPECT_NEAR(result.state.parameters[0][0], 30, 1e-5);
    EXPECT_NEAR(result.state.parameters[0][1], 50, 1e-5);
    EXPECT_NEAR(result.state.parameters[1][0], 0.6, 1e-6);
    EXPECT_NEAR(result.state.parameters[1][1], 0.3, 1e-6);
}

TEST(Train, SettlesAmidRolloutsThatContradictEachOther)
{
    // Two rollouts of one step with the same start, at rest, but from cloths of 30 and 50 N/m.
    // f = k e at the given strain e, so the loss is a sum of (k - 30)^2 and (k - 50)^2 with the
    // same factor, but for what the step itself changes: k dt^2 / m = 2e-3 of e. So 40 is best, and
    // both of the extremes are 10 away.
    const std::uint64_t seed = 5;
    const RolloutSplit split = split_rollouts(3, 0.05, seed);
    ASSERT_EQ(split.training.size(), 2u);
    std::vector<Rollout> rollouts(3);
    for (std::size_t r = 0; r < 3; ++r) {
        const double k = r == split.training[0] ? 30 : r == split.training[1] ? 50 : 90;
        Scene scene;
        scene.cloth = cross_cloth(k, k, 0.4, 0.4);
        scene.start = rounded_for_floats(shaken_state(scene.cloth, 1));
        scene.start.velocity.assign(4, {});
        scene.options = {kCrossStep, kEmptySpace, Device::reference};
        rollouts[r] = recorded(scene, 2, 1);
    }
    TrainOptions options = cross_options(300, 1, 2);
    options.passes[0].learn = Learn::stiffness;
    options.stiffness_start = 25;
    options.seed = seed;
    const TrainResult result = train(cross_motion(rollouts), options, nullptr, {});
    EXPECT_NEAR(result.state.parameters[0][0], 40, 0.05);  // 2e-3 of the 20 between them
    EXPECT_NEAR(result.state.parameters[0][1], 40, 0.05);
    EXPECT_EQ(result.state.parameters[1], (std::vector<double>{0.4, 0.4}));
}

TEST(Train, LogarithmsFindTheSameOptimum)
{
    const Cloth truth = cross_cloth(30, 50, 0.6, 0.3);
    std::vector<Rollout> rollouts;
    for (int seed = 1; seed <= 4; ++seed) rollouts.push_back(cross_rollout(truth, seed, 41));
    TrainOptions options = cross_options(300, 40, 3);
    options.logarithmic = true;
    const TrainResult result = train(cross_motion(rollouts), options, nullptr, {});
    EXPECT_NEAR(result.state.parameters[0][0], 30, 1e-5);
    EXPECT_NEAR(result.state.parameters[0][1], 50, 1e-5);
    EXPECT_NEAR(result.state.parameters[1][0], 0.6, 1e-6);
    EXPECT_NEAR(result.state.parameters[1][1], 0.3, 1e-6);
}

TEST(Train, PenaltyHoldsNegativeParametersBack)
{
    // Targets of a spring that pushes where it should pull, k = -5 N/m: without a penalty it is cut
    // off at zero; with one it goes below, as far as the loss outweighs the penalty.
    std::vector<Rollout> rollouts;
    for (int seed = 1; seed <= 4; ++seed)
        rollouts.push_back(cross_rollout(cross_cloth(-5, 50, 0.6, 0.3), seed, 11));
    TrainOptions options = cross_options(300, 10, 3);
    options.stiffness_start = 5;
    const TrainResult cut = train(cross_motion(rollouts), options, nullptr, {});
    EXPECT_EQ(cut.state.parameters[0][0], 0);
    options.passes[0].weights.negative_stiffness = 1e-9;
    const TrainResult free = train(cross_motion(rollouts), options, nullptr, {});
    EXPECT_NEAR(free.state.parameters[0][0], -5, 1e-2);
    EXPECT_EQ(free.cloth.springs.stiffness[0], 0);  // a cloth has none below zero
    // L = A (k + 5)^2 + w relu(-k) with A = mean(e^2)/2, some 2e-3 m^2 for strains e of some 0.06
    // m: beyond w = 10 A = 0.02 even the first step below zero does not pay.
    options.passes[0].weights.negative_stiffness = 0.1;
    Diary diary;
    const TrainResult held = train(cross_motion(rollouts), options, nullptr, write_to(diary));
    EXPECT_NEAR(held.state.parameters[0][0], 0, 0.1);
    double seen = 0;
    for (std::size_t i = 1; i < diary.logs.size(); ++i) {
        const double below = std::max(0.0, -diary.states[i - 1].parameters[0][0]);
        EXPECT_NEAR(diary.logs[i].loss.negativity, 0.1 * below, 1e-12);
        seen = std::max(seen, below);
        const LossTerms& loss = diary.logs[i].loss;
        EXPECT_NEAR(loss.total, loss.force + loss.negativity, 1e-12 * loss.total);
    }
    EXPECT_GT(seen, 0);
}

// ---- A patchwork ----

struct Errors {
    double stiffness, damping;  // RMSE
};

Errors errors_of(const std::vector<double>& stiffness, const std::vector<double>& damping)
{
    const Cloth truth = patchwork();
    return {rmse(stiffness, truth.springs.stiffness), rmse(damping, truth.springs.damping)};
}

// By how much learning makes the errors of the start smaller.
struct Gain {
    Errors times;
    Diary diary;
    TrainResult result;
};

Gain learn_patchwork(const Motion& motion, const TrainOptions& options)
{
    Gain gain;
    gain.result = train(motion, options, nullptr, write_to(gain.diary));
    const TrainState& state = gain.result.state;
    // The start is the same for all springs.
    const std::vector<double> k(state.parameters[0].size(), state.stiffness_scale);
    const std::vector<double> b(state.parameters[1].size(), state.damping_scale);
    const Errors start = errors_of(k, b);
    const Errors end =
        errors_of(gain.result.cloth.springs.stiffness, gain.result.cloth.springs.damping);
    gain.times = {start.stiffness / end.stiffness, start.damping / end.damping};
    return gain;
}

TEST(Train, DualPassRecoversAPatchwork)
{
    TrainOptions options = quick_options(6, 6, dual_pass(40, 30, {}));
    options.rounds = 2;
    const Gain gain = learn_patchwork(patchwork_motion(), options);
    EXPECT_GE(gain.times.stiffness, 10);
    EXPECT_GE(gain.times.damping, 10);
    EXPECT_LE(gain.result.validation_rmse, 1e-3);  // [m] of a sheet of 2.5 m
    // The cloth is that of the best validation, and the log tells of it.
    const TrainState& state = gain.result.state;
    EXPECT_EQ(gain.result.cloth.springs.stiffness, state.best[0]);
    EXPECT_EQ(gain.result.cloth.springs.damping, state.best[1]);
    EXPECT_EQ(gain.diary.states[state.best_iteration - 1].parameters[0], state.best[0]);
    double best = HUGE_VAL;
    for (const TrainLog& log : gain.diary.logs) {
        const bool due = (log.iteration + 1) % options.validate_every == 0;
        const int step = log.iteration % 70;
        EXPECT_EQ(log.validation_rmse.has_value(), due || step == 39 || step == 69)
            << log.iteration;
        best = std::min(best, log.validation_rmse.value_or(best));
        EXPECT_EQ(log.round, log.iteration / 70);
        EXPECT_EQ(log.pass, step < 40 ? 0 : 1);
        const auto& after = gain.diary.states[log.iteration];
        EXPECT_EQ(log.bounds[0].low,
                  *std::min_element(after.parameters[0].begin(), after.parameters[0].end()));
        EXPECT_EQ(log.bounds[1].high,
                  *std::max_element(after.parameters[1].begin(), after.parameters[1].end()));
    }
    EXPECT_EQ(gain.result.validation_rmse, best);
    EXPECT_EQ(gain.diary.logs.size(), 140u);
}

TEST(Train, SinglePassRecoversAPatchwork)
{
    const Gain gain =
        learn_patchwork(patchwork_motion(), quick_options(6, 6, single_pass(100, {})));
    EXPECT_GE(gain.times.stiffness, 10);
    EXPECT_GE(gain.times.damping, 10);
}

TEST(Train, PositionLossComesNearAPatchwork)
{
    const LossWeights position{.force = 0, .impulse = 0, .position = 1};
    const Gain gain =
        learn_patchwork(patchwork_motion(), quick_options(6, 6, single_pass(100, position)));
    EXPECT_GE(gain.times.stiffness, 10);
    EXPECT_GE(gain.times.damping, 2);
}

TEST(Train, LogarithmsRecoverAPatchworkAndStayPositive)
{
    TrainOptions options = quick_options(6, 6, single_pass(100, {}));
    options.logarithmic = true;
    const Gain gain = learn_patchwork(patchwork_motion(), options);
    EXPECT_GE(gain.times.stiffness, 10);
    EXPECT_GE(gain.times.damping, 10);
    for (const TrainLog& log : gain.diary.logs) {
        EXPECT_GT(log.bounds[0].low, 0);
        EXPECT_GT(log.bounds[1].low, 0);
    }
}

TEST(Train, FrozenParametersStayToTheBit)
{
    TrainOptions options = quick_options(6, 6, dual_pass(5, 4, {}));
    options.rounds = 2;
    Diary diary;
    train(patchwork_motion(), options, nullptr, write_to(diary));
    ASSERT_EQ(diary.states.size(), 18u);
    EXPECT_EQ(diary.states[0].parameters[1], diary.states[0].best[1]);  // the start, so far
    EXPECT_NE(diary.states[0].parameters[0], diary.states[0].best[0]);
    for (std::size_t i = 1; i < diary.states.size(); ++i) {
        const bool stiffness_turn = diary.logs[i].pass == 0;
        EXPECT_EQ(diary.states[i].parameters[0] == diary.states[i - 1].parameters[0],
                  !stiffness_turn)
            << i;
        EXPECT_EQ(diary.states[i].parameters[1] == diary.states[i - 1].parameters[1],
                  stiffness_turn)
            << i;
    }
}

// ---- Laws ----

// The patchwork, softer in compression, with some isotropic damping.
Cloth law_patchwork()
{
    Cloth cloth = patchwork();
    set_law(cloth, {{0}, true});
    cloth.springs.ranges[0].stiffness = at_springs(
        cloth, MaterialField::uniform(8).paint({MaterialField::RowStripes{{{0.2, 0.6}}}, 16}));
    cloth.springs.isotropic_damping =
        at_springs(cloth, MaterialField::uniform(0.05).paint({MaterialField::Checker{2}, 0.15}));
    return cloth;
}

TEST(TrainLaw, RecoversEveryKindOfParameter)
{
    const Cloth truth = law_patchwork();
    const Motion motion = generated_motion(truth, short_falls(12, 1.2));
    for (const bool logarithmic : {false, true}) {
        TrainOptions options = quick_options(6, 6, single_pass(400, {}));
        options.law = {{0}, true};
        options.logarithmic = logarithmic;
        options.stiffness_start = 30;
        options.damping_start = 0.8;
        Diary diary;
        const TrainResult result = train(motion, options, nullptr, write_to(diary));
        const SpringSet& found = result.cloth.springs;
        ASSERT_EQ(learned_count(result.cloth), 4);
        const double start[] = {30, 0.8, 30, logarithmic ? 0.008 : 0};
        // Along a spring both dashpots do the same, so damping is told apart last. Seen: 2.6.
        const double gain[] = {5, 2, 5, 5};
        for (int kind = 0; kind < 4; ++kind) {
            const std::vector<double> even(found.spring_count(), start[kind]);
            const double before = rmse(even, learned(truth, kind));
            const double after = rmse(learned(result.cloth, kind), learned(truth, kind));
            EXPECT_GE(before / after, gain[kind])
                << "kind " << kind << ", logarithmic " << logarithmic;
        }
        EXPECT_EQ(diary.logs.back().bounds.size(), 4u);
        EXPECT_EQ(diary.logs.back().bounds[2].low,
                  *std::min_element(result.state.parameters[2].begin(),
                                    result.state.parameters[2].end()));
        // A spring that is the same in tension and compression cannot follow it as well.
        options.law = {};
        EXPECT_GE(train(motion, options, nullptr, {}).validation_rmse, 3 * result.validation_rmse);
    }
}

TEST(TrainLaw, PassesLearnAllStiffnessesOrAllDampings)
{
    TrainOptions options = quick_options(6, 6, dual_pass(2, 2, {}));
    options.law = {{-0.01, 0}, true};
    options.stiffness_start = 30;
    options.damping_start = 0.8;
    Diary diary;
    const TrainResult result = train(patchwork_motion(), options, nullptr, write_to(diary));
    ASSERT_EQ(diary.states.size(), 4u);
    for (int kind = 0; kind < 5; ++kind) {
        const bool damping = kind == 1 || kind == 4;
        const auto at = [&](std::size_t i) { return diary.states[i].parameters[kind]; };
        EXPECT_EQ(at(0) == at(1), damping) << kind;   // the stiffness pass
        EXPECT_EQ(at(1) == at(2), !damping) << kind;  // the damping pass
    }
    // A run that is taken up in the middle goes on to the same bits.
    expect_same_bits(train(patchwork_motion(), options, &diary.states[2], {}), result);
    options.law.isotropic = false;
    EXPECT_EQ(error_of([&] { train(patchwork_motion(), options, &diary.states[2], {}); }),
              "train: the checkpoint has 158 springs with 5 kinds of parameters, but a 6 x 6 grid "
              "has 158 with 4; resume with the settings of the run");
}

TEST(TrainLaw, BeginsFromAClothWithoutOneOrWithTheSame)
{
    TrainOptions options = quick_options(6, 6, {{Learn::damping, 1, false, {}}});
    options.law = {{0}, false};
    options.start = patchwork();
    const auto compression = [&] {
        return train(patchwork_motion(), options, nullptr, {}).state.parameters[2];
    };
    EXPECT_EQ(compression(), patchwork().springs.stiffness);
    options.start = law_patchwork();
    EXPECT_TRUE(mentions(error_of(compression), {"1 stiffness ranges", "an isotropic", "0 bends"}));
    options.law.isotropic = true;
    EXPECT_EQ(compression(), law_patchwork().springs.ranges[0].stiffness);
    options.stiffness_start = 12;
    EXPECT_EQ(compression(), std::vector<double>(patchwork().springs.spring_count(), 12));
}

// ---- Other motion ----

TEST(Train, TakesSecondDifferencesWhereAccelerationsAreMissing)
{
    // Rollouts as long as a clip, so that the differences of both are the same.
    const Cloth cloth = patchwork();
    const Motion stored = generated_motion(cloth, short_falls(6, 0.2));
    Motion without = stored, filled = stored;
    without.read = [&](std::size_t rollout, std::size_t first, std::size_t count) {
        Rollout result = stored.read(rollout, first, count);
        result.acceleration.clear();
        return result;
    };
    filled.read = [&](std::size_t rollout, std::size_t first, std::size_t count) {
        Rollout result = stored.read(rollout, first, count);
        result.acceleration =
            difference_acceleration(result, cloth.particle_count(), stored.header.frame_interval());
        return result;
    };
    const TrainOptions options = quick_options(6, 6, dual_pass(4, 4, {}));
    const TrainResult result = train(without, options, nullptr, {});
    expect_same_bits(result, train(filled, options, nullptr, {}));
    EXPECT_NE(result.state.parameters[0], train(stored, options, nullptr, {}).state.parameters[0]);
}

TEST(Train, RecoversAPatchworkWithoutStoredAccelerations)
{
    // Every step is stored, so that the differences are those of the scheme but for rounding:
    // positions of up to 2 m in float give 4 * 1.2e-7 / dt^2 = 0.1 m/s^2 at 2 ms.
    GenerateOptions falls = short_falls(12, 0.6);
    falls.stride = 1;
    Motion motion = generated_motion(patchwork(), falls);
    motion.read = [read = motion.read](std::size_t rollout, std::size_t first, std::size_t count) {
        Rollout result = read(rollout, first, count);
        result.acceleration.clear();
        return result;
    };
    const Gain gain = learn_patchwork(motion, quick_options(6, 6, single_pass(100, {})));
    EXPECT_GE(gain.times.stiffness, 5);
    EXPECT_GE(gain.times.damping, 5);
}

TEST(Train, LearnsASurrogateOfAnotherResolution)
{
    const Motion motion =
        generated_motion(make_grid_cloth({2, 2, 2.5}, {5, 5, true, true, true, true},
                                         MaterialField::uniform(40), MaterialField::uniform(0.8)),
                         short_falls(6, 0.6));
    TrainOptions options = quick_options(7, 6, single_pass(60, {}));
    options.clip_steps = 50;
    options.batch = 5 * 6;  // all clips of the training rollouts, so that losses compare
    Diary diary;
    const TrainResult result = train(motion, options, nullptr, write_to(diary));
    EXPECT_EQ(result.cloth.particle_count(), 42u);
    // What is left is what no net of this grid can do. Seen: 0.59.
    EXPECT_LE(diary.logs.back().loss.total, 0.75 * diary.logs.front().loss.total);
    EXPECT_LT(result.validation_rmse, *diary.logs[7].validation_rmse);
}

// ---- What goes wrong ----

TEST(Train, NamesWhereAClipBlowsUp)
{
    // From where floats overflow late to where they do at once.
    for (const double stiffness : {1.3e4, 3e4, 1e5, 1e6, 1e9, 1e12}) {
        TrainOptions options = quick_options(6, 6, single_pass(1, {}));
        options.stiffness_start = stiffness;
        options.damping_start = 1;
        std::string message;
        try {
            train(patchwork_motion(), options, nullptr, {});
        } catch (const Failure& failure) {
            message = failure.what();
        }
        int rollout = -1, frame = -1, step = -1, particle = -1;
        std::sscanf(message.c_str(),
                    "train: iteration 0: the state leaves all bounds in rollout %d, clip from "
                    "frame %d, step %d, particle %d;",
                    &rollout, &frame, &step, &particle);
        ASSERT_GE(std::min({rollout, frame, step, particle}), 0) << message;
        // There, and no step before, a particle crosses the sheet of 2.5 m x 2.5 m in one step.
        const Motion& motion = patchwork_motion();
        const Rollout clip = motion.read(rollout, frame, 1);
        Scene scene;
        scene.cloth = make_surrogate(motion.header, options.grid, stiffness, 1);
        scene.start = clip.state(0, motion.header.frame_interval());
        scene.handles = clip.handles;
        scene.options = {motion.header.dt, motion.header.environment, Device::reference};
        PlainRun<double> run(scene);
        const double limit = 2.5 * std::sqrt(2.0) / motion.header.dt;
        while (largest_length(run.velocity) <= limit && run.steps < 100) run.step();
        EXPECT_EQ(run.steps, step) << message;
        EXPECT_GT(length(run.velocity[particle]), limit) << message;
    }
}

// The message of the Error, and the field that it names.
std::pair<std::string, std::string> error_of(const TrainOptions& options)
{
    try {
        train(patchwork_motion(), options, nullptr, {});
    } catch (const Error& error) {
        return {error.what(), error.field()};
    }
    return {"no error", ""};
}

TEST(Train, RefusesOptionsThatMakeNoSense)
{
    const TrainOptions good = quick_options(6, 6, dual_pass(2, 2, {}));
    ASSERT_EQ(error_of(good).first, "no error");
    const auto expect_refused = [&](const char* field, const char* value, auto change) {
        TrainOptions options = good;
        change(options);
        const auto [text, named] = error_of(options);
        EXPECT_EQ(named, field) << text;
        EXPECT_NE(text.find(value), std::string::npos) << text << ", " << value;
    };
    using Options = TrainOptions;
    expect_refused("passes", "0 passes", [](Options& o) { o.passes.clear(); });
    expect_refused("passes", "0 rounds", [](Options& o) { o.rounds = 0; });
    expect_refused("passes", "2 passes", [](Options& o) { o.passes = dual_pass(0, 0, {}); });
    expect_refused("passes", "-2", [](Options& o) { o.passes = dual_pass(5, -2, {}); });
    expect_refused("passes", "-0.5",
                   [](Options& o) { o.passes = dual_pass(2, 2, {.force = 1, .impulse = -0.5}); });
    expect_refused("passes", "impulse 0",
                   [](Options& o) { o.passes = single_pass(2, {.force = 0, .impulse = 0}); });
    expect_refused("batch", "0", [](Options& o) { o.batch = 0; });
    expect_refused("clip_steps", "4 steps", [](Options& o) { o.clip_steps = 4; });
    expect_refused("substeps", "0", [](Options& o) { o.substeps = Substeps{0}; });
    expect_refused("round_decay", "0", [](Options& o) { o.round_decay = 0; });
    expect_refused("stiffness_rate", "nan",
                   [](Options& o) { o.stiffness_rate = std::numeric_limits<double>::quiet_NaN(); });
    expect_refused("damping_rate", "0", [](Options& o) { o.damping_rate = 0; });
    expect_refused("stiffness_start", "-3", [](Options& o) { o.stiffness_start = -3; });
    expect_refused("damping_start", "0", [](Options& o) { o.damping_start = 0; });
    expect_refused("slow_seconds", "-1", [](Options& o) { o.slow_seconds = -1; });
    expect_refused("validate_every", "0", [](Options& o) { o.validate_every = 0; });
    expect_refused("validation_rollouts", "0", [](Options& o) { o.validation_rollouts = 0; });
}

}  // namespace

}  // namespace springtime
