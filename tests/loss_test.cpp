// Every term of the loss against numbers worked out by hand and against plain loops that add up
// forces step by step; its gradient against central differences.
#include "learn/loss.h"
#include "error_of.h"

#include <gtest/gtest.h>

#include <limits>

#include "learn/gradient.h"
#include "motions.h"

namespace springtime {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kFloatEpsilon = std::numeric_limits<float>::epsilon();

template <class Real>
LossTerms loss_on(Tape<Real>& tape, const Cloth& cloth, double dt, int stride,
                  const std::vector<Rollout>& clips, const LossWeights& weights,
                  ParameterGradient* gradient = nullptr, double scale = 1)
{
    std::vector<const Rollout*> lanes;
    for (const Rollout& clip : clips) lanes.push_back(&clip);
    tape.set_parameters(parameters_of(cloth));
    return ClipLoss(cloth, dt, stride, weights)
        .run(tape, std::span<const Rollout* const>(lanes), scale, gradient);
}

LossTerms reference_loss(const Cloth& cloth, const SimulationOptions& options, int stride,
                         const Rollout& clip, const LossWeights& weights,
                         ParameterGradient* gradient = nullptr)
{
    return loss_on(*make_reference_tape(cloth, options), cloth, options.dt, stride, {clip}, weights,
                   gradient);
}

LossTerms fast_loss(const Cloth& cloth, const SimulationOptions& options, int stride,
                    const Rollout& clip, const LossWeights& weights,
                    ParameterGradient* gradient = nullptr)
{
    return loss_on(*make_fast_tape(cloth, options), cloth, options.dt, stride, {clip}, weights,
                   gradient);
}

constexpr LossWeights kForce{.force = 1, .impulse = 0}, kImpulse{.force = 0, .impulse = 1},
    kPosition{.force = 0, .impulse = 0, .position = 1},
    kAllTerms{.force = 0.7, .impulse = 30, .position = 500};

// ---- By hand ----

// Two particles of 2 kg at 0 and 2 m, joined by a spring with L = 1 m, k = 8 N/m, b = 1 N s/m, at
// rest in empty space, in steps of 1/8 s. They mirror each other. With d their distance and r its
// rate, the spring pulls with f = 8 (d - 1) + r, and v += f/16, x += v/8 for the left one:
//   step    x          v         d          r         f
//   0       0          0         2          0         8
//   1       0.0625     0.5       1.875      -1        6
//   2       0.171875   0.875     1.65625    -1.75     3.5
//   3       0.30859375 1.09375   1.3828125  -2.1875   0.875
const Cloth kPair = chain_cloth(2, 1, 2, 8, 1);
const SimulationOptions kPairOptions{0.125, kEmptySpace, Device::automatic};

// A target for the left particle at a frame; the right one mirrors it.
struct PairFrame {
    double position, velocity, acceleration;
};

Rollout pair_target(const std::vector<PairFrame>& frames)
{
    Rollout target;
    for (const PairFrame& frame : frames) {
        ++target.frame_count;
        append_vectors(target.position, {{frame.position, 0, 0}, {2 - frame.position, 0, 0}});
        append_vectors(target.velocity, {{frame.velocity, 0, 0}, {-frame.velocity, 0, 0}});
        append_vectors(target.acceleration,
                       {{frame.acceleration, 0, 0}, {-frame.acceleration, 0, 0}});
    }
    return target;
}

struct PairCase {
    int stride;
    std::vector<PairFrame> target;
    LossTerms expected;  // per unit of each weight
};

// f^ = 2 a^ is 2 N at first and 4 N at last; J^ = 2 (0.25 - 0) + (4 - 2)/16 = 0.625 N s.
std::vector<PairCase> pair_cases()
{
    const PairFrame first{0, 0, 1}, last{0.5, 0.25, 2};
    std::vector<PairCase> cases;
    // One step: f - f^ is 6 and 2, J = (8 + 6)/16 = 0.875, x - x^ = 0.0625 - 0.5.
    cases.push_back({1, {first, last}, {2 * (36 + 4.0) / 4, 0.25 * 0.25, 2 * 0.19140625 / 4}});
    // Two steps: f - f^ is 6, 6 + 2 and -0.5, J = (8/2 + 6 + 3.5/2)/8 = 1.46875, x - x^ = -0.1875
    // and -0.328125.
    cases.push_back({1,
                     {first, {0.25, 0.125, -1}, last},
                     {2 * (36 + 64 + 0.25) / 6, 0.84375 * 0.84375,
                      2 * (0.1875 * 0.1875 + 0.328125 * 0.328125) / 6}});
    // One frame of three steps: f - f^ is 6 and -3.125, J = (8/2 + 6 + 3.5 + 0.875/2)/8 =
    // 1.7421875, x - x^ = -0.19140625.
    cases.push_back(
        {3,
         {first, last},
         {2 * (36 + 3.125 * 3.125) / 4, 1.1171875 * 1.1171875, 2 * 0.19140625 * 0.19140625 / 4}});
    return cases;
}

// All numbers of the table have few bits; 1/l rounds, and some 10 operations follow.
void expect_terms(const LossTerms& terms, const LossTerms& expected, double epsilon)
{
    EXPECT_NEAR(terms.force, expected.force, 20 * epsilon * 40);
    EXPECT_NEAR(terms.impulse, expected.impulse, 20 * epsilon);
    EXPECT_NEAR(terms.position, expected.position, 20 * epsilon);
}

TEST(ClipLoss, IsThatOfAPairByHand)
{
    const LossWeights ones{.force = 1, .impulse = 1, .position = 1};
    for (const PairCase& test : pair_cases()) {
        const Rollout target = pair_target(test.target);
        expect_terms(reference_loss(kPair, kPairOptions, test.stride, target, ones), test.expected,
                     kEpsilon);
        expect_terms(fast_loss(kPair, kPairOptions, test.stride, target, ones), test.expected,
                     kFloatEpsilon);
    }
}

TEST(ClipLoss, WeighsItsTerms)
{
    const LossWeights weights{.force = 3, .impulse = 5, .position = 7};
    for (const PairCase& test : pair_cases()) {
        const LossTerms terms =
            reference_loss(kPair, kPairOptions, test.stride, pair_target(test.target), weights);
        expect_terms(terms, test.expected, kEpsilon);  // themselves without weights
        EXPECT_NEAR(
            terms.total,
            3 * test.expected.force + 5 * test.expected.impulse + 7 * test.expected.position,
            20 * kEpsilon * 200);
        EXPECT_EQ(terms.negativity, 0);  // of the parameters, not of a clip
    }
}

TEST(ClipLoss, TermsAloneAreThoseTheyAreTogether)
{
    for (const PairCase& test : pair_cases()) {
        const Rollout target = pair_target(test.target);
        const auto total = [&](const LossWeights& weights) {
            return reference_loss(kPair, kPairOptions, test.stride, target, weights).total;
        };
        EXPECT_NEAR(total(kForce), test.expected.force, 20 * kEpsilon * 40);
        EXPECT_NEAR(total(kImpulse), test.expected.impulse, 20 * kEpsilon);
        EXPECT_NEAR(total(kPosition), test.expected.position, 20 * kEpsilon);
    }
}

TEST(ClipLoss, LeavesHandlesOutOfEveryTerm)
{
    // The right one is held, so the left one has f = 8, then v = 0.5, x = 0.0625 and f = 8 * 0.9375
    // - 0.5 = 7: f - f^ is 6 and 3, J = 15/16, J^ = 0.625. Means are still over both particles.
    Rollout target = pair_target({{0, 0, 1}, {0.5, 0.25, 2}});
    target.handles.particles = {1};
    const LossTerms expected{(36 + 9.0) / 4, 0.3125 * 0.3125 / 2, 0.4375 * 0.4375 / 4};
    const LossWeights ones{.force = 1, .impulse = 1, .position = 1};
    ParameterGradient gradient(kPair), with_nonsense(kPair);
    const LossTerms terms = reference_loss(kPair, kPairOptions, 1, target, ones, &gradient);
    expect_terms(terms, expected, kEpsilon);
    // What the target says about the handle after the start does not count.
    for (int axis = 0; axis < 3; ++axis) {
        target.position[9 + axis] = target.velocity[9 + axis] = 1e6f;
        target.acceleration[3 + axis] = target.acceleration[9 + axis] = -1e6f;
    }
    EXPECT_EQ(reference_loss(kPair, kPairOptions, 1, target, ones, &with_nonsense).total,
              terms.total);
    EXPECT_EQ(with_nonsense.kinds[0], gradient.kinds[0]);
    EXPECT_EQ(with_nonsense.kinds[1], gradient.kinds[1]);
    EXPECT_NE(gradient.kinds[0][0], 0);
}

TEST(ClipLoss, GradientOfOneStepIsThatByHand)
{
    // By k: f_0 = k (d - 1) changes by 1, so v_1 by 1/16, x_1 by 1/128, d_1 by -1/64, r_1 by -1/8,
    // and f_1 = k (d_1 - 1) + b r_1 by 0.875 - 8/64 - 1/8 = 0.625. f - f^ is 6 and 2, J - J^ 0.25,
    // x - x^ -0.4375; each counts twice, and J changes by (1 + 0.625)/16.
    // By b: only f_1 changes, by r_1 = -1, and J by -1/16.
    const Rollout target = pair_target({{0, 0, 1}, {0.5, 0.25, 2}});
    const auto gradient_of = [&](const LossWeights& weights) {
        ParameterGradient gradient(kPair);
        reference_loss(kPair, kPairOptions, 1, target, weights, &gradient);
        return gradient;
    };
    const double tolerance = 100 * kEpsilon * 10;  // some 50 operations on numbers up to 10
    EXPECT_NEAR(gradient_of(kForce).kinds[0][0], 2 * 2 * (6 * 1 + 2 * 0.625) / 4, tolerance);
    EXPECT_NEAR(gradient_of(kForce).kinds[1][0], 2 * 2 * (2 * -1.0) / 4, tolerance);
    EXPECT_NEAR(gradient_of(kImpulse).kinds[0][0], 2 * 0.25 * 1.625 / 16, tolerance);
    EXPECT_NEAR(gradient_of(kImpulse).kinds[1][0], 2 * 0.25 * -1 / 16, tolerance);
    EXPECT_NEAR(gradient_of(kPosition).kinds[0][0], 2 * 2 * -0.4375 / 128 / 4, tolerance);
    EXPECT_NEAR(gradient_of(kPosition).kinds[1][0], 0, tolerance);
}

TEST(Negativity, IsWhatLiesBelowZeroTimesTheWeight)
{
    const std::vector<double> parameters{3, -0.5, 0, -2, 1};
    std::vector<double> gradient{10, 20, 30, 40, 50};
    EXPECT_EQ(negativity(parameters, 4, gradient), 4 * 2.5);
    EXPECT_EQ(gradient, (std::vector<double>{10, 20 - 4, 30, 40 - 4, 50}));
}

// ---- By plain loops over all steps ----

// The trapezoid rule over all steps. [N s] on every particle; zero on handles.
std::vector<Vec3d> plain_impulse(PlainRun<double> run, const Cloth& cloth, int steps)
{
    std::vector<Vec3d> impulse(cloth.particle_count());
    for (int step = 0; step <= steps; ++step) {
        if (step > 0) run.step();
        const double part = step == 0 || step == steps ? 0.5 : 1;
        const auto a = run.acceleration();
        for (std::size_t p = 0; p < a.size(); ++p)
            impulse[p] += part * run.dt * cloth.mass[p] * a[p];
    }
    return impulse;
}

Vec3d vector_of(const std::vector<float>& values, std::size_t index)
{
    return {values[3 * index], values[3 * index + 1], values[3 * index + 2]};
}

// What a clip tells of it: the steps sum to m (v_T - v_0), and half of the ends is left.
std::vector<Vec3d> clip_impulse(const Rollout& clip, const Cloth& cloth, double dt)
{
    std::vector<Vec3d> impulse(cloth.particle_count());
    const std::size_t last = (clip.frame_count - 1) * impulse.size();
    for (std::size_t p = 0; p < impulse.size(); ++p) {
        const Vec3d v = vector_of(clip.velocity, last + p) - vector_of(clip.velocity, p);
        const Vec3d a = vector_of(clip.acceleration, last + p) - vector_of(clip.acceleration, p);
        impulse[p] = cloth.mass[p] * (v + dt / 2 * a);
    }
    for (const int p : clip.handles.particles)
        if (!std::isnan(impulse[p].x)) impulse[p] = {};
    return impulse;
}

double mean(double sum, std::size_t count)
{
    return sum / double(count);
}

// Over what is seen.
LossTerms plain_terms(PlainRun<double> run, const Cloth& cloth, const Rollout& clip, int stride,
                      const std::vector<Vec3d>& target_impulse)
{
    const std::size_t count = run.position.size(), frames = clip.frame_count;
    auto impulse = plain_impulse(run, cloth, int(frames - 1) * stride);
    LossTerms terms;
    std::size_t impulses = 0, forces = 0, positions = 0;
    for (std::size_t p = 0; p < count; ++p) {
        if (std::isnan(target_impulse[p].x)) continue;
        const Vec3d off = impulse[p] - target_impulse[p];
        terms.impulse += dot(off, off);
        ++impulses;
    }
    std::vector<bool> held(count, false);
    for (const int p : clip.handles.particles) held[p] = true;
    for (std::size_t frame = 0; frame < frames; ++frame) {
        for (int i = 0; i < stride && frame > 0; ++i) run.step();
        const auto a = run.acceleration();
        for (std::size_t p = 0; p < count; ++p) {
            const std::size_t i = frame * count + p;
            const Vec3d f = cloth.mass[p] * (a[p] - vector_of(clip.acceleration, i));
            const Vec3d x = run.position[p] - vector_of(clip.position, i);
            const bool tells_force = !std::isnan(f.x), tells_position = !std::isnan(x.x);
            forces += tells_force;
            positions += tells_position;
            if (tells_force && !held[p]) terms.force += dot(f, f);
            if (tells_position && !held[p]) terms.position += dot(x, x);
        }
    }
    terms.impulse = mean(terms.impulse, impulses);
    terms.force = mean(terms.force, forces);
    terms.position = mean(terms.position, positions);
    return terms;
}

// A windy clip, and a cloth that would move otherwise.
struct WindyClip {
    explicit WindyClip(std::size_t frames, int frame_stride, int seed)
        : truth(windy_scene(int(frames - 1) * frame_stride, seed)), guess(truth)
    {
        stride = frame_stride;
        // Floats hold the start, but for the handles, which a clip takes from their path.
        truth.start = guess.start =
            with_handles(rounded_for_floats(truth.start), truth.handles, truth.options.dt);
        clip = recorded(truth, frames, stride);
        Random random(50 + seed);
        for (auto* values : {&guess.cloth.springs.stiffness, &guess.cloth.springs.damping})
            for (double& value : *values) value *= 0.8 + 0.4 * random.uniform();
    }

    Scene truth, guess;
    Rollout clip;
    int stride = 1;
};

// Every seventh particle is lost in each frame after the first, another one each time, handles
// among them, and the accelerations of two at the start.
void lose_some(Rollout& clip)
{
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    const std::size_t count = clip.landmark_count();
    for (std::size_t i = count; i < clip.frame_count * count; ++i) {
        if ((i / count + i % count) % 7 != 0) continue;
        for (auto* values : {&clip.position, &clip.velocity, &clip.acceleration})
            std::fill_n(values->begin() + std::ptrdiff_t(3 * i), 3, kNan);
    }
    for (const std::ptrdiff_t p : {9, 20}) std::fill_n(clip.acceleration.begin() + 3 * p, 3, kNan);
}

class PlainLoops : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Loss, PlainLoops, testing::Values(1, 3, 10),
                         testing::PrintToStringParamName());

TEST_P(PlainLoops, GiveTheSameTerms)
{
    const WindyClip windy(4, GetParam(), 1);
    const Cloth& cloth = windy.guess.cloth;
    const PlainRun<double> run(windy.guess), truth(windy.truth);
    const auto told = clip_impulse(windy.clip, cloth, run.dt);
    const LossTerms expected = plain_terms(run, cloth, windy.clip, windy.stride, told);
    const LossTerms terms =
        reference_loss(cloth, windy.guess.options, windy.stride, windy.clip, kAllTerms);
    // Rounding, where J and J^ are some hundred times as large as their difference.
    EXPECT_NEAR(terms.force / expected.force, 1, 1e-12);
    EXPECT_NEAR(terms.position / expected.position, 1, 1e-12);
    EXPECT_NEAR(terms.impulse / expected.impulse, 1, 1e-11);
    // What the frames tell of the target's impulse is what it was, step by step, but for floats
    // of velocities up to some 3 m/s and accelerations up to some 500 m/s^2 times dt/2.
    const auto was = plain_impulse(truth, cloth, 3 * windy.stride);
    EXPECT_LE(largest_distance(told, was), 0.15 * 3.5 * kFloatEpsilon);
    EXPECT_GE(largest_length(was), 0.1);
}

TEST_P(PlainLoops, GiveTheSameTermsThroughGaps)
{
    WindyClip windy(4, GetParam(), 1);
    const LossTerms whole =
        reference_loss(windy.guess.cloth, windy.guess.options, windy.stride, windy.clip, kAllTerms);
    lose_some(windy.clip);
    const Cloth& cloth = windy.guess.cloth;
    const PlainRun<double> run(windy.guess);
    const LossTerms expected =
        plain_terms(run, cloth, windy.clip, windy.stride, clip_impulse(windy.clip, cloth, run.dt));
    const LossTerms terms =
        reference_loss(cloth, windy.guess.options, windy.stride, windy.clip, kAllTerms);
    EXPECT_NEAR(terms.force / expected.force, 1, 1e-12);
    EXPECT_NEAR(terms.position / expected.position, 1, 1e-12);
    EXPECT_NEAR(terms.impulse / expected.impulse, 1, 1e-11);
    EXPECT_GT(std::abs(terms.force / whole.force - 1), 1e-4);  // the lost ones did count
    EXPECT_GT(std::abs(terms.position / whole.position - 1), 1e-4);
    EXPECT_GT(std::abs(terms.impulse / whole.impulse - 1), 1e-4);
}

double weighted_terms(const LossWeights& weights, const LossTerms& terms)
{
    return weights.force * terms.force + weights.impulse * terms.impulse +
           weights.position * terms.position;
}

// As with the adjoint: at h = 1e-4 both errors of the difference are small.
void expect_gradient_by_differences(const WindyClip& windy)
{
    const Cloth& cloth = windy.guess.cloth;
    PlainRun<double> run(windy.guess);
    const auto target = clip_impulse(windy.clip, cloth, run.dt);
    const std::size_t springs = cloth.springs.spring_count();
    for (const LossWeights& weights : {kForce, kImpulse, kPosition, kAllTerms}) {
        const auto loss = [&] {
            return weighted_terms(weights,
                                  plain_terms(run, cloth, windy.clip, windy.stride, target));
        };
        const auto derivative = [&](double& parameter) {
            const double h = 1e-4, middle = parameter;
            parameter = middle * (1 + h);
            const double up = loss();
            parameter = middle * (1 - h);
            const double down = loss();
            parameter = middle;
            return (up - down) / (2 * h * middle);
        };
        Gradient expected(cloth);
        for (std::size_t s = 0; s < springs; ++s) {
            expected.kinds[0][s] = derivative(run.table.stiffness[s]);
            expected.kinds[1][s] = derivative(run.table.damping[s]);
        }
        ParameterGradient gradient(cloth);
        reference_loss(cloth, windy.guess.options, windy.stride, windy.clip, weights, &gradient);
        EXPECT_LE(worst_relative_error(gradient.kinds[0], expected.kinds[0]), 2e-6);
        EXPECT_LE(worst_relative_error(gradient.kinds[1], expected.kinds[1]), 2e-6);
    }
}

TEST_P(PlainLoops, GiveTheGradientByCentralDifferences)
{
    WindyClip windy(4, GetParam(), 2);
    expect_gradient_by_differences(windy);
    lose_some(windy.clip);
    expect_gradient_by_differences(windy);
}

TEST_P(PlainLoops, ReferenceAndFastTapeAgree)
{
    // A gradient is a sum of residuals times sensitivities. Residuals are small differences of f =
    // m a up to 75 N, m v up to 0.5 N s and x up to 2 m, each some epsilons off in float, and
    // relative to their own size that is what gradients are off; an entry may be a hundredth of
    // what it is summed from.
    const WindyClip windy(4, GetParam(), 3);
    const auto run = [&](auto loss, const LossWeights& weights, ParameterGradient& gradient) {
        return loss(windy.guess.cloth, windy.guess.options, windy.stride, windy.clip, weights,
                    &gradient);
    };
    for (const auto& [weights, size] :
         {std::pair{kForce, 75.0}, std::pair{kImpulse, 0.5}, std::pair{kPosition, 2.0}}) {
        ParameterGradient exact(windy.guess.cloth), fast(windy.guess.cloth);
        const LossTerms exact_terms = run(reference_loss, weights, exact);
        const LossTerms fast_terms = run(fast_loss, weights, fast);
        const double error = kFloatEpsilon * size / std::sqrt(exact_terms.total);
        EXPECT_NEAR(fast_terms.total / exact_terms.total, 1, 4 * error);
        EXPECT_LE(worst_relative_error(fast.kinds[0], exact.kinds[0]), 100 * error);
        EXPECT_LE(worst_relative_error(fast.kinds[1], exact.kinds[1]), 100 * error);
    }
}

TEST(ClipLoss, GradientIsLinearInWeightsAndScale)
{
    const WindyClip windy(3, 3, 4);
    const auto tape = make_reference_tape(windy.guess.cloth, windy.guess.options);
    const auto add = [&](const LossWeights& weights, double scale, ParameterGradient& to) {
        loss_on(*tape, windy.guess.cloth, windy.guess.options.dt, windy.stride, {windy.clip},
                weights, &to, scale);
    };
    ParameterGradient together(windy.guess.cloth), sum(windy.guess.cloth);
    add(kAllTerms, 2, together);
    add(kForce, 2 * kAllTerms.force, sum);
    add(kImpulse, 2 * kAllTerms.impulse, sum);
    add(kPosition, 2 * kAllTerms.position, sum);
    // Rounding of some 100 operations; small entries are differences of larger ones.
    EXPECT_LE(worst_relative_error(together.kinds[0], sum.kinds[0]), 1e-11);
    EXPECT_LE(worst_relative_error(together.kinds[1], sum.kinds[1]), 1e-11);
}

// ---- Several clips ----

// Of one cloth, with handles of their own.
std::vector<Rollout> several_clips(int count)
{
    std::vector<Rollout> clips;
    for (int seed = 1; seed <= count; ++seed) {
        WindyClip windy(3, 3, seed);
        clips.push_back(windy.clip);
    }
    return clips;
}

TEST(ClipLoss, OfSeveralClipsIsTheSum)
{
    const WindyClip windy(3, 3, 1);
    const auto tape = make_fast_tape(windy.guess.cloth, windy.guess.options);
    auto clips = several_clips(tape->lane_count() - 1);
    lose_some(clips[1]);  // clips with more and with fewer gaps, side by side
    const double dt = windy.guess.options.dt;
    ParameterGradient together(windy.guess.cloth), alone(windy.guess.cloth);
    const LossTerms terms =
        loss_on(*tape, windy.guess.cloth, dt, windy.stride, clips, kAllTerms, &together);
    LossTerms sum;
    for (const Rollout& clip : clips) {
        const LossTerms one =
            loss_on(*tape, windy.guess.cloth, dt, windy.stride, {clip}, kAllTerms, &alone);
        sum.force += one.force;
        sum.impulse += one.impulse;
        sum.position += one.position;
        sum.total += one.total;
    }
    // Lanes are the same to the bit; only the sums over them, in double, have another order.
    EXPECT_NEAR(terms.force / sum.force, 1, 1e-13);
    EXPECT_NEAR(terms.impulse / sum.impulse, 1, 1e-13);
    EXPECT_NEAR(terms.position / sum.position, 1, 1e-13);
    EXPECT_NEAR(terms.total / sum.total, 1, 1e-13);
    // Gradients are summed over lanes in float.
    EXPECT_LE(worst_relative_error(together.kinds[0], alone.kinds[0]), 100 * kFloatEpsilon);
    EXPECT_LE(worst_relative_error(together.kinds[1], alone.kinds[1]), 100 * kFloatEpsilon);
}

BatchGradient::Result batch_result(const WindyClip& windy, const std::vector<Rollout>& clips,
                                   Device device, int threads)
{
    SimulationOptions options = windy.guess.options;
    options.device = device;
    BatchGradient batch(windy.guess.cloth, options, windy.stride, threads);
    return batch.run(clips, parameters_of(windy.guess.cloth), kAllTerms, true);
}

TEST(BatchGradient, IsTheMeanOverClips)
{
    const WindyClip windy(3, 3, 1);
    const int lanes = make_fast_tape(windy.guess.cloth, windy.guess.options)->lane_count();
    const auto clips = several_clips(2 * lanes + 3);  // three groups, the last one not full
    LossTerms mean;
    ParameterGradient gradient(windy.guess.cloth);
    const auto tape = make_reference_tape(windy.guess.cloth, windy.guess.options);
    const double share = 1 / double(clips.size());
    for (const Rollout& clip : clips) {
        const LossTerms one = loss_on(*tape, windy.guess.cloth, windy.guess.options.dt,
                                      windy.stride, {clip}, kAllTerms, &gradient, share);
        mean.force += share * one.force;
        mean.impulse += share * one.impulse;
        mean.position += share * one.position;
        mean.total += share * one.total;
    }
    for (const Device device : {Device::reference, Device::cpu}) {
        const double terms = device == Device::reference ? 1e-13 : 1e-4;  // as above
        const double entries = device == Device::reference ? 1e-12 : 1e-3;
        const auto result = batch_result(windy, clips, device, 2);
        EXPECT_NEAR(result.loss.force / mean.force, 1, terms);
        EXPECT_NEAR(result.loss.impulse / mean.impulse, 1, terms);
        EXPECT_NEAR(result.loss.position / mean.position, 1, terms);
        EXPECT_NEAR(result.loss.total / mean.total, 1, terms);
        EXPECT_LE(worst_relative_error(result.gradient.kinds[0], gradient.kinds[0]), entries);
        EXPECT_LE(worst_relative_error(result.gradient.kinds[1], gradient.kinds[1]), entries);
    }
}

TEST(BatchGradient, DoesNotDependOnThreads)
{
    const WindyClip windy(3, 3, 1);
    const int lanes = make_fast_tape(windy.guess.cloth, windy.guess.options)->lane_count();
    const auto clips = several_clips(2 * lanes + 3);
    for (const Device device : {Device::reference, Device::cpu}) {
        const auto one = batch_result(windy, clips, device, 1);
        for (const int threads : {2, 3}) {
            const auto several = batch_result(windy, clips, device, threads);
            EXPECT_EQ(several.loss.total, one.loss.total);
            EXPECT_EQ(several.gradient.kinds[0], one.gradient.kinds[0]);
            EXPECT_EQ(several.gradient.kinds[1], one.gradient.kinds[1]);
        }
    }
}

TEST(BatchGradient, MotionRmseIsTheRootOfTheMeanSquaredDistance)
{
    // The pair of above: in one step both are 0.4375 m off in the second of two frames. A clip of
    // its own motion is not off at all.
    SimulationOptions options = kPairOptions;
    options.device = Device::reference;
    BatchGradient batch(kPair, options, 1, 1);
    const std::vector<Rollout> clips{pair_target({{0, 0, 0}, {0.5, 0, 0}}),
                                     pair_target({{0, 0, 0}, {0.0625, 0, 0}})};
    EXPECT_NEAR(batch.motion_rmse(clips, parameters_of(kPair)), std::sqrt(2 * 0.4375 * 0.4375 / 8),
                20 * kEpsilon);
}

// ---- Where nothing is left to learn ----

TEST(ClipLoss, IsZeroForWhatTheTapeItselfDid)
{
    // The same floats on both sides: not even rounding differs.
    const WindyClip windy(5, 7, 1);
    const Cloth& cloth = windy.truth.cloth;
    const auto tape = make_fast_tape(cloth, windy.truth.options);
    const int lane = 0, lanes = tape->lane_count();
    Rollout clip;
    clip.handles = windy.truth.handles;
    tape->begin(4 * 7);
    tape->load(lane, windy.truth.start, clip.handles);
    for (; clip.frame_count < 5; ++clip.frame_count) {
        if (clip.frame_count > 0) tape->advance(7);
        append_vectors(clip.position, lane_of(tape->position(), lane, lanes));
        append_vectors(clip.velocity, lane_of(tape->velocity(), lane, lanes));
        append_vectors(clip.acceleration, lane_of<float>(tape->acceleration(), lane, lanes));
    }
    const std::size_t springs = cloth.springs.spring_count();
    ParameterGradient gradient(cloth);
    const LossTerms terms = fast_loss(cloth, windy.truth.options, 7, clip, kAllTerms, &gradient);
    EXPECT_EQ(terms.total, 0);
    EXPECT_EQ(gradient.kinds[0], std::vector<double>(springs));
    EXPECT_EQ(gradient.kinds[1], std::vector<double>(springs));
    // The smallest change of one spring shows.
    Cloth other = cloth;
    other.springs.stiffness[20] *= 1 + 4 * kFloatEpsilon;
    EXPECT_GT(fast_loss(other, windy.truth.options, 7, clip, kAllTerms).total, 0);
}

TEST(ClipLoss, IsAllButZeroForTheTrueParameters)
{
    // Frames in float: f is off by m a eps/2 with accelerations of up to some 500 m/s^2, x by half
    // an epsilon of up to 2 m, and J as above.
    const WindyClip windy(5, 7, 1);
    const LossTerms terms =
        reference_loss(windy.truth.cloth, windy.truth.options, 7, windy.clip, kAllTerms);
    const auto square = [](double value) { return value * value; };
    EXPECT_LE(terms.force, 3 * square(0.15 * 250 * kFloatEpsilon));
    EXPECT_LE(terms.impulse, 3 * square(0.15 * 3.5 * kFloatEpsilon));
    EXPECT_LE(terms.position, 3 * square(kFloatEpsilon));
    const LossTerms guess =
        reference_loss(windy.guess.cloth, windy.guess.options, 7, windy.clip, kAllTerms);
    EXPECT_GT(guess.total, 1e6 * terms.total);
}

// ---- Motion without accelerations ----

TEST(DifferenceAcceleration, IsExactForUniformAcceleration)
{
    // x = c + v t + a t^2 / 2 at t = 0, 1/4, ..: all have few bits, so floats hold them, and the
    // second difference of a parabola is a at every frame.
    const double interval = 0.25;
    const std::vector<Vec3d> c{{1, -2, 3}, {0, 0, 5}}, v{{4, 0, -8}, {1, 2, 3}},
        a{{0, -10, 6}, {2, 4, -8}};
    Rollout rollout;
    for (; rollout.frame_count < 6; ++rollout.frame_count) {
        const double t = interval * double(rollout.frame_count);
        append_vectors(rollout.position,
                       {c[0] + t * v[0] + t * t / 2 * a[0], c[1] + t * v[1] + t * t / 2 * a[1]});
    }
    std::vector<float> expected;
    for (int frame = 0; frame < 6; ++frame) append_vectors(expected, a);
    EXPECT_EQ(difference_acceleration(rollout, 2, interval), expected);
}

TEST(DifferenceAcceleration, IsThatOfTheStepsWhenEveryStepIsStored)
{
    // x' - 2x + x, = dt (v' - v) = dt^2 a for semi-implicit Euler, but for rounding: positions of
    // up to 2 m in float are off by eps, which counts four times, over dt^2.
    const WindyClip windy(8, 1, 1);
    const std::size_t count = windy.truth.cloth.particle_count();
    const double dt = windy.truth.options.dt, tolerance = 4 * kFloatEpsilon / (dt * dt);
    const auto result = difference_acceleration(windy.clip, count, dt);
    for (std::size_t frame = 1; frame < 7; ++frame) {
        for (std::size_t p = 0; p < count; ++p) {
            const auto& handles = windy.clip.handles.particles;
            if (std::count(handles.begin(), handles.end(), int(p)) > 0) continue;
            for (std::size_t i = 3 * (frame * count + p); i < 3 * (frame * count + p) + 3; ++i)
                ASSERT_NEAR(result[i], windy.clip.acceleration[i], tolerance);
        }
    }
    // The ends take their neighbour's.
    const auto end = std::ptrdiff_t(3 * count);
    EXPECT_TRUE(std::equal(result.begin(), result.begin() + end, result.begin() + end));
    EXPECT_TRUE(std::equal(result.end() - end, result.end(), result.end() - 2 * end));
}

TEST(DifferenceAcceleration, IsMissingBesideAGap)
{
    // Of seven frames at t^2 the fourth is lost: those beside it have no three in a row.
    Rollout rollout;
    for (; rollout.frame_count < 7; ++rollout.frame_count) {
        const double t = double(rollout.frame_count);
        append_vectors(rollout.position, {{t * t, 0, 0}});
    }
    for (int axis = 0; axis < 3; ++axis)
        rollout.position[9 + axis] = std::numeric_limits<float>::quiet_NaN();
    const auto result = difference_acceleration(rollout, 1, 1);
    for (std::size_t f = 0; f < 7; ++f) {
        const bool lost = f >= 2 && f <= 4;
        EXPECT_EQ(std::isnan(result[3 * f]), lost) << f;
        if (!lost) {
            EXPECT_EQ(result[3 * f], 2);
        }
    }
}

TEST(DifferenceAcceleration, NeedsThreeFrames)
{
    Rollout rollout;
    rollout.frame_count = 2;
    rollout.position = {0, 0, 0, 1, 2, 3};
    EXPECT_EQ(field_of([&] { difference_acceleration(rollout, 1, 0.1); }), "clip_steps");
}

}  // namespace

}  // namespace springtime
