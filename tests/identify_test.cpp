// Springs identified by linear least squares, against the springs that made the motion.
#include "springtime/identify.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "error_of.h"
#include "identifying.h"
#include "learn/balance.h"
#include "learn/balance_rows.h"
#include "springtime/error.h"

namespace springtime {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr GridOptions kGrid6{6, 6, true, true, true, true};
const Environment kAir{};

// Falls of a 6 x 6 sheet for 3 s, 60 frames a second.
const Cloth& truth6()
{
    static const Cloth cloth = varied_cloth(kGrid6);
    return cloth;
}
const Motion& falls6()
{
    static const Motion motion = falls(truth6(), 8, 3, 60);
    return motion;
}

Identification identified(const Motion& motion, const Cloth& truth, const SpringLaw& law = {})
{
    return identify(motion, options_for(truth, law));
}

// Parameters of all kinds scaled, to a relative tolerance; zero for the same bits.
void expect_scaled(const ParameterValues& a, const ParameterValues& b,
                   const std::vector<double>& factor, double tolerance)
{
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t k = 0; k < a.size(); ++k) {
        double worst = 0;
        for (std::size_t s = 0; s < a[k].size(); ++s) {
            const double expected = factor[k] * b[k][s];
            if (a[k][s] == expected) continue;
            worst = std::max(worst, std::abs(a[k][s] - expected) / expected);
        }
        EXPECT_LE(worst, tolerance) << "kind " << k;
    }
}

// ---- What springs can explain at all ----

TEST(LeastUnexplained, IsNothingOfTheMotionOfSprings)
{
    // Accelerations were rounded to floats, of which a thousandth would be far more.
    const auto left = least_unexplained(falls6(), options_for(truth6()));
    ASSERT_TRUE(left);
    EXPECT_LT(*left, 1e-5);
    EXPECT_FALSE(least_unexplained(observed(falls6(), {}), options_for(truth6())));
}

TEST(LeastUnexplained, IsNearlyAllOfRandomForces)
{
    // n equations with noise on their right and m unknowns leave 1 - m/n of the squares on average.
    // Here m is 16 springs or fewer with two numbers each, and n is above 3000.
    std::vector<Rollout> rollouts = rollouts_of(falls6());
    Random random(5);
    for (Rollout& rollout : rollouts) {
        for (float& a : rollout.acceleration) a = float(1000 * random.normal());
    }
    const Motion noise = motion_of(falls6().header, std::move(rollouts));
    const auto left = least_unexplained(noise, options_for(truth6()));
    ASSERT_TRUE(left);
    EXPECT_GT(*left, std::sqrt(1 - 2 * 32 / 3000.0));
    EXPECT_LE(*left, 1);
}

// ---- Without noise ----

// Rollouts of frames that have nothing to do with each other. What floats take from accelerations
// is all the noise there is.
Motion shaken_frames(const Cloth& truth, double shake)
{
    std::vector<Rollout> rollouts;
    for (const std::uint64_t seed : {1, 2, 3}) {
        const Handles pins{{int(seed), int(3 * seed)}, {}, {}};
        rollouts.push_back(random_frames(truth, kAir, pins, 400, shake, seed));
    }
    return motion_of(header_for(truth, kAir, 8), std::move(rollouts));
}

// With isotropic dashpots between particles one and two apart, the damping of straight bends adds
// nothing: (1, -2, 1)(1, -2, 1)^T is the sum of the matrices of three springs. Bends take the place
// of bending springs then.
GridOptions grid_for(const SpringLaw& law)
{
    GridOptions grid = kGrid5;
    grid.bending = !(law.isotropic && law.bends);
    return grid;
}

class IdentifyLaw : public testing::TestWithParam<SpringLaw> {};

TEST_P(IdentifyLaw, IsRecoveredToTheRoundingOfStoredAccelerations)
{
    const SpringLaw law = GetParam();
    const Cloth truth = varied_cloth(grid_for(law), law);
    const Motion motion = shaken_frames(truth, 0.1);
    IdentifyOptions options = options_for(truth, law);
    options.grid = grid_for(law);
    const Identification result = identify(motion, options);
    EXPECT_EQ(result.form, BalanceForm::force);
    EXPECT_TRUE(result.unseen.empty());
    // Rounding a number a to a float errs by up to 2^-24 |a|, evenly: the root of the mean square
    // is below m |a| 2^-24 / sqrt(3), times sqrt(mean a^2) over all numbers.
    double squares = 0, count = 0;
    for (const Rollout& rollout : rollouts_of(motion)) {
        for (const float a : rollout.acceleration) squares += double(a) * a;
        count += double(rollout.acceleration.size());
    }
    const double noise = truth.mass[0] * 0x1p-24 / std::sqrt(3) * std::sqrt(squares / count);
    EXPECT_LE(result.equation_error, 1.1 * noise);
    EXPECT_GE(result.equation_error, 0.3 * noise);
    // Least squares of independent noise: errors are normal with the standard errors, which must
    // themselves be right. A few hundred numbers stay within 5 of them.
    ASSERT_TRUE(result.cloth.errors);
    for (int k = 0; k < learned_count(truth); ++k) {
        double normalized = 0;
        const std::vector<double>& found = learned(result.cloth, k);
        for (std::size_t s = 0; s < found.size(); ++s) {
            const double error = found[s] - learned(truth, k)[s];
            const double standard = result.cloth.errors->parameters[k][s];
            EXPECT_LE(std::abs(error), 5 * standard) << "spring " << s << ", kind " << k;
            EXPECT_LE(standard, 1e-4) << "spring " << s << ", kind " << k;
            normalized += error * error / (standard * standard);
        }
        EXPECT_NEAR(std::sqrt(normalized / double(found.size())), 1, 0.25) << "kind " << k;
    }
}

INSTANTIATE_TEST_SUITE_P(All, IdentifyLaw,
                         testing::Values(SpringLaw{}, SpringLaw{{0}, false},
                                         SpringLaw{{-0.02, 0.05}, false}, SpringLaw{{}, true},
                                         SpringLaw{{-0.05, 0, 0.1}, true},
                                         SpringLaw{{}, false, true}, law_named("full")));

TEST(Identify, RangesThatNoSpringEntersAreNotKnown)
{
    // Shaken by 2 cm, springs of 0.5 m and more never stretch by a half, and those of 0.5 m never
    // shrink by a half: nothing is known there, and the stiffness beside it is taken.
    const SpringLaw law{{-0.5, 0.5}, false};
    const Cloth truth = varied_cloth(kGrid5, law);
    const Identification result = identified(shaken_frames(truth, 0.02), truth, law);
    EXPECT_TRUE(result.unseen.empty());
    EXPECT_LE(parameter_rmse(result.cloth, truth, 0), 1e-3);
    EXPECT_LE(parameter_rmse(result.cloth, truth, 1), 1e-3);
    for (const SpringFamily family : kSpringFamilies) {
        std::vector<double> middle;
        for (std::size_t s = 0; s < truth.springs.spring_count(); ++s) {
            if (truth.springs.family[s] == family) middle.push_back(truth.springs.stiffness[s]);
        }
        const auto [low, high] = std::minmax_element(middle.begin(), middle.end());
        for (std::size_t s = 0; s < truth.springs.spring_count(); ++s) {
            if (truth.springs.family[s] != family) continue;
            for (const int kind : {2, 3}) {
                EXPECT_EQ(result.cloth.errors->parameters[kind][s], kInfinity);
                EXPECT_GT(learned(result.cloth, kind)[s], *low);
                EXPECT_LT(learned(result.cloth, kind)[s], *high);
            }
        }
    }
}

// Whether each spring is ever strained by more than that.
std::vector<char> strained_beyond(double strain, const Cloth& cloth,
                                  const std::vector<Rollout>& rollouts)
{
    std::vector<char> beyond(cloth.springs.spring_count(), 0);
    for (const Rollout& rollout : rollouts) {
        for (std::size_t f = 0; f < rollout.frame_count; ++f) {
            const float* frame = rollout.position.data() + 3 * f * cloth.particle_count();
            for (std::size_t s = 0; s < beyond.size(); ++s) {
                const auto [a, b] = cloth.springs.ends[s];
                const double l =
                    std::hypot(frame[3 * a] - frame[3 * b], frame[3 * a + 1] - frame[3 * b + 1],
                               frame[3 * a + 2] - frame[3 * b + 2]);
                if (l > (1 + strain) * cloth.springs.rest_length[s]) beyond[s] = 1;
            }
        }
    }
    return beyond;
}

TEST(Identify, RangesThatFewSpringsEnterAreKnownOfThose)
{
    // Two columns of particles are shaken ten times as much as the others: only their springs
    // stretch by a fifth.
    const SpringLaw law{{0.2}, false};
    const Cloth truth = varied_cloth(kGrid6, law);
    std::vector<double> shake;
    for (std::size_t p = 0; p < truth.particle_count(); ++p)
        shake.push_back(p % 6 < 2 ? 0.1 : 0.01);
    std::vector<Rollout> rollouts;
    for (const std::uint64_t seed : {1, 2, 3}) {
        rollouts.push_back(random_frames(truth, kAir, {}, 200, shake, seed));
    }
    const std::vector<char> entered = strained_beyond(0.2, truth, rollouts);
    const double share =
        double(std::count(entered.begin(), entered.end(), 1)) / double(entered.size());
    ASSERT_GT(share, 0.1);
    ASSERT_LT(share, 0.5);
    const Identification result =
        identified(motion_of(header_for(truth, kAir, 8), std::move(rollouts)), truth, law);
    int known = 0;
    for (std::size_t s = 0; s < entered.size(); ++s) {
        const double standard = result.cloth.errors->parameters[2][s];
        if (!entered[s]) {
            EXPECT_EQ(standard, kInfinity) << s;
        } else if (std::isfinite(standard)) {  // not if only in the rollout for validation
            const double error = learned(result.cloth, 2)[s] - learned(truth, 2)[s];
            EXPECT_LE(std::abs(error), 6 * standard) << s;
            ++known;
        }
    }
    EXPECT_GT(known, 0.8 * share * double(entered.size()));
}

TEST(Identify, FallsAreEnough)
{
    // Positions of up to 4 m are rounded to 2.4e-7 m: a force of 1e-5 N on springs of 50 N/m.
    // Springs are stretched by some 2 cm in 10000 frames. Seen: 5e-6 N/m and 1e-6 N s/m.
    const Identification result = identified(falls6(), truth6());
    EXPECT_EQ(result.form, BalanceForm::force);
    EXPECT_FALSE(result.window);
    EXPECT_EQ(result.instruments, Instruments::none);
    EXPECT_LE(parameter_rmse(result.cloth, truth6(), 0), 5e-5);
    EXPECT_LE(parameter_rmse(result.cloth, truth6(), 1), 1e-5);
    EXPECT_EQ(result.equation_count, 7 * 181 * 34 * 3);  // of 8 rollouts one is for validation
    EXPECT_LE(result.equation_error, 1e-5);
    for (const int kind : {0, 1}) EXPECT_EQ(result.held_count[kind], 0);
}

// ---- Positions alone ----

class IdentifyRate : public testing::TestWithParam<int> {};

TEST_P(IdentifyRate, PositionsAreEnough)
{
    // Springs up to 60 N/m and particles of 0.1 kg swing with up to 11 Hz. Seen: 1.6e-4 N/m and
    // 5e-5 to 1.6e-4 N s/m at all rates, of 40 and 0.5 on average; with gaps 3e-4 and 1.2e-4.
    const Motion clean = falls(truth6(), 8, 3, GetParam());
    for (const double gaps : {0.0, 0.03}) {
        const Identification result = identified(observed(clean, {.gaps = gaps}), truth6());
        EXPECT_EQ(result.form, BalanceForm::weak);
        EXPECT_EQ(result.instruments, Instruments::none);
        EXPECT_GT(result.window.value_or(0), 0);
        EXPECT_TRUE(result.unseen.empty());
        EXPECT_LE(parameter_rmse(result.cloth, truth6(), 0), 1e-3) << gaps;
        EXPECT_LE(parameter_rmse(result.cloth, truth6(), 1), 5e-4) << gaps;
    }
}

INSTANTIATE_TEST_SUITE_P(FramesPerSecond, IdentifyRate, testing::Values(30, 60, 120));

TEST(Identify, LawsFollowFromPositionsToo)
{
    // A stiffness that changes at rest is a kink in the force, which sums over frames see less
    // well. Seen: 8e-5 N/m in tension and 3e-4 in compression, 9e-5 and 6e-6 N s/m.
    const SpringLaw law{{0}, true};
    const Cloth truth = varied_cloth(kGrid5, law);
    const Identification result = identified(observed(falls(truth, 8, 3, 120), {}), truth, law);
    EXPECT_LE(parameter_rmse(result.cloth, truth, 0), 1e-3);
    EXPECT_LE(parameter_rmse(result.cloth, truth, 1), 1e-3);
    EXPECT_LE(parameter_rmse(result.cloth, truth, 2), 3e-3);
    EXPECT_LE(parameter_rmse(result.cloth, truth, 3), 1e-4);
}

TEST(Identify, BendsFollowFromPositionsToo)
{
    const SpringLaw law{{}, false, true};
    const Cloth truth = varied_cloth(kGrid5, law);
    const Identification result = identified(observed(falls(truth, 8, 3, 120), {}), truth, law);
    for (int k = 0; k < 4; ++k) {
        EXPECT_LE(parameter_rmse(result.cloth, truth, k), 1e-3) << "kind " << k;
    }
}

// ---- Noise ----

// Over some draws of noise: the mean error of a kind over all springs, with the standard error that
// the draws show, both relative to the mean of the parameter.
struct Bias {
    double mean = 0, standard = 0;
};

std::array<Bias, 2> bias_of(Instruments instruments, int draws)
{
    std::array<std::vector<double>, 2> errors;
    IdentifyOptions options = options_for(truth6());
    options.instruments = instruments;
    options.window = 24 / 60.0;
    options.prior = 1e-6;  // next to none
    for (int draw = 0; draw < draws; ++draw) {
        const Motion seen = observed(falls6(), {.noise = 1e-3}, 50 + draw);
        const Identification result = identify(seen, options);
        for (int k = 0; k < 2; ++k) {
            double sum = 0, of_truth = 0;
            for (std::size_t s = 0; s < truth6().springs.spring_count(); ++s) {
                sum += learned(result.cloth, k)[s] - learned(truth6(), k)[s];
                of_truth += learned(truth6(), k)[s];
            }
            errors[k].push_back(sum / of_truth);
        }
    }
    std::array<Bias, 2> bias;
    for (int k = 0; k < 2; ++k) {
        for (const double e : errors[k]) bias[k].mean += e / draws;
        for (const double e : errors[k]) bias[k].standard += std::pow(e - bias[k].mean, 2);
        bias[k].standard = std::sqrt(bias[k].standard / (draws - 1.0) / draws);
    }
    return bias;
}

TEST(Identify, InstrumentsTakeTheBiasOfWhiteNoiseAway)
{
    const std::array<Bias, 2> plain = bias_of(Instruments::none, 20);
    const std::array<Bias, 2> free = bias_of(Instruments::frames, 20);
    for (const int k : {0, 1}) {
        // Squares of noise among the squares of the stretch: estimates are too low.
        EXPECT_LT(plain[k].mean, -6 * plain[k].standard) << k;
        // What is left is the square of the scatter of the estimate, some 2e-4 of it: the inverse
        // of a matrix that scatters is a little too large on average.
        EXPECT_LE(std::abs(free[k].mean), 3 * free[k].standard + 2e-4) << k;
        EXPECT_LE(std::abs(free[k].mean), 0.25 * std::abs(plain[k].mean)) << k;
    }
}

// Noise whose successive frames are correlated by one half.
Motion with_correlated_noise(const Motion& clean, double level)
{
    Motion cam = observed(clean, {});
    std::vector<Rollout> rollouts = rollouts_of(cam);
    Random random(4);
    for (Rollout& rollout : rollouts) {
        const std::size_t numbers = rollout.position.size() / rollout.frame_count;
        std::vector<double> noise(numbers);
        for (double& n : noise) n = random.normal();
        for (std::size_t i = 0; i < rollout.position.size(); ++i) {
            double& n = noise[i % numbers];
            rollout.position[i] = float(rollout.position[i] + level * n);
            n = 0.5 * n + std::sqrt(0.75) * random.normal();
        }
    }
    return motion_of(cam.header, std::move(rollouts));
}

TEST(Identify, ChoosesInstrumentsForWhiteNoiseAlone)
{
    const Identification white = identified(observed(falls6(), {.noise = 1e-3}), truth6());
    EXPECT_TRUE(white.noise.white);
    EXPECT_NEAR(white.noise.level, 1e-3, 5e-5);
    EXPECT_EQ(white.instruments, Instruments::frames);
    const Identification gray = identified(with_correlated_noise(falls6(), 1e-3), truth6());
    EXPECT_FALSE(gray.noise.white);
    EXPECT_EQ(gray.instruments, Instruments::none);
    // What is asked for is done.
    IdentifyOptions options = options_for(truth6());
    options.instruments = Instruments::none;
    EXPECT_EQ(identify(observed(falls6(), {.noise = 1e-3}), options).instruments,
              Instruments::none);
    options.instruments = Instruments::frames;
    EXPECT_EQ(identify(observed(falls6(), {}), options).instruments, Instruments::frames);
}

TEST(Identify, IntervalsCoverTheTruth)
{
    // 95 % of all parameters lie within 1.96 standard errors. Springs share their errors with
    // their neighbours, so that the share varies by more than independent ones would; and standard
    // errors know nothing of the prior and of what is left of bias. Seen: 94 % and 94 %.
    const int draws = 20;
    std::array<double, 2> within{};
    const double all = double(draws) * double(truth6().springs.spring_count());
    for (int draw = 0; draw < draws; ++draw) {
        const Identification result =
            identified(observed(falls6(), {.noise = 1e-3}, 100 + draw), truth6());
        for (const int k : {0, 1}) {
            for (std::size_t s = 0; s < truth6().springs.spring_count(); ++s) {
                const double error = learned(result.cloth, k)[s] - learned(truth6(), k)[s];
                within[k] += std::abs(error) <= 1.96 * result.cloth.errors->parameters[k][s];
            }
        }
    }
    for (const int k : {0, 1}) {
        EXPECT_GE(within[k] / all, 0.9) << k;
        EXPECT_LE(within[k] / all, 0.98) << k;
    }
}

// ---- Bounds ----

Cloth half_missing_cloth()
{
    Cloth cloth = varied_cloth(kGrid6);
    for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
        if (cloth.springs.family[s] == SpringFamily::bending) cloth.springs.stiffness[s] = 0;
        if (cloth.springs.family[s] == SpringFamily::diagonal) cloth.springs.damping[s] = 0;
    }
    return cloth;
}

TEST(Identify, ParametersAreNotNegative)
{
    const Cloth truth = half_missing_cloth();
    const Identification result =
        identified(observed(falls(truth, 8, 3, 60), {.noise = 1e-3}), truth);
    for (const int k : {0, 1}) {
        int zeros = 0, nothing = 0;
        for (std::size_t s = 0; s < truth.springs.spring_count(); ++s) {
            EXPECT_GE(learned(result.cloth, k)[s], 0);
            zeros += learned(result.cloth, k)[s] == 0;
            nothing += learned(truth, k)[s] == 0;
        }
        EXPECT_EQ(result.held_count[k], zeros);
        // Noise pushes a true zero below with even chances; five standard deviations.
        EXPECT_NEAR(zeros, nothing / 2.0, 2.5 * std::sqrt(nothing) + 2) << k;
    }
}

TEST(Identify, BoundsPushWhereTheyHold)
{
    const Cloth truth = half_missing_cloth();
    const Motion motion = observed(falls(truth, 4, 3, 60), {.noise = 1e-3});
    const TestFunction test(24, 1.0 / 60, kIdentifyStep);
    NormalBlocks blocks(truth);
    std::vector<std::size_t> middles;
    for (std::size_t m = 30; m + 30 < 181; m += 6) middles.push_back(m);
    for (const Rollout& rollout : rollouts_of(motion)) {
        const BalanceRows rows =
            weak_rows(truth, kAir, Tracks(rollout), test, middles, {}, 1.0 / 60, kIdentifyStep, 1);
        blocks.add({rows, rows}, 1);
    }
    const BoundedSystem system = blocks.assemble();
    const BoundedSolution solution = solve_bounded(system);
    ASSERT_GT(solution.held_count, 10);
    // The multiplier is the slope of half the residual: it would fall below the bound. Elsewhere it
    // is rounding, 1e-11 of the terms that it is the difference of.
    for (std::size_t i = 0; i < solution.held.size(); ++i) {
        const auto at = Eigen::Index(i);
        const double rounding = 1e-11 * (std::abs(system.right[at]) +
                                         system.matrix.diagonal()[at] * solution.value.maxCoeff());
        if (solution.held[i]) {
            EXPECT_EQ(solution.value[at], 0);
            EXPECT_GT(solution.multiplier[at], -rounding);
        } else {
            EXPECT_GE(solution.value[at], 0);
            EXPECT_LE(std::abs(solution.multiplier[at]), rounding);
        }
    }
    // A step away from the bound makes the residual larger, at the rate the multiplier says.
    const double least = blocks.residual(solution.value);
    for (std::size_t i = 0; i < solution.held.size(); ++i) {
        if (!solution.held[i]) continue;
        Eigen::VectorXd moved = solution.value;
        moved[Eigen::Index(i)] = 0.01;
        const double square = 1e-4 * system.matrix.diagonal()[Eigen::Index(i)];
        const double expected = 2 * 0.01 * solution.multiplier[Eigen::Index(i)] + square;
        EXPECT_NEAR(blocks.residual(moved) - least, expected, 1e-9 * least + 1e-9 * expected);
    }
}

// ---- What is not seen ----

double family_median(const Identification& result, std::size_t spring, int kind)
{
    const SpringSet& springs = result.cloth.springs;
    std::vector<double> values;
    for (std::size_t s = 0; s < springs.spring_count(); ++s) {
        if (springs.family[s] != springs.family[spring]) continue;
        if (std::isfinite(result.cloth.errors->parameters[kind][s])) {
            values.push_back(learned(result.cloth, kind)[s]);
        }
    }
    std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 2),
                     values.end());
    return values[values.size() / 2];
}

// The springs that must not be seen, and no others, have the median of their family.
void expect_unseen(const Identification& result, const Cloth& truth,
                   const std::vector<int>& expected, double tolerance)
{
    EXPECT_EQ(result.unseen, expected);
    for (std::size_t s = 0; s < truth.springs.spring_count(); ++s) {
        const bool unseen = std::find(expected.begin(), expected.end(), int(s)) != expected.end();
        for (const int k : {0, 1}) {
            const double found = learned(result.cloth, k)[s];
            if (unseen) {
                EXPECT_EQ(result.cloth.errors->parameters[k][s], kInfinity);
                const double median = family_median(result, s, k);
                EXPECT_NEAR(found, median, 0.05 * median) << s;
            } else {
                EXPECT_NEAR(found, learned(truth, k)[s], tolerance) << s;
            }
        }
    }
}

TEST(Identify, SpringsBetweenPinsAreNotSeen)
{
    // The north edge is pinned in all rollouts, by more than half of it.
    std::vector<Rollout> rollouts;
    const Handles pins{{0, 1, 2, 3, 4}, {}, {}};
    for (const std::uint64_t seed : {1, 2, 3, 4}) {
        const SimulationOptions step{kIdentifyStep, kAir, Device::automatic};
        const Scene scene{
            truth6(), with_handles(shaken_state(truth6(), int(seed)), pins, kIdentifyStep),
            pins,     step,
            0,        {}};
        rollouts.push_back(recorded(scene, 300, 4));
    }
    const Motion motion = motion_of(header_for(truth6(), kAir, 4), rollouts);
    std::vector<int> between;
    for (std::size_t s = 0; s < truth6().springs.spring_count(); ++s) {
        const auto [a, b] = truth6().springs.ends[s];
        if (a < 5 && b < 5) between.push_back(int(s));
    }
    ASSERT_EQ(between.size(), 4 + 3);
    expect_unseen(identified(motion, truth6()), truth6(), between, 1e-3);
    const Identification weak = identified(observed(motion, {}), truth6());
    EXPECT_EQ(weak.unseen, between);
    for (const int s : between) EXPECT_EQ(weak.cloth.errors->parameters[0][s], kInfinity);
}

TEST(Identify, ALandmarkThatIsNeverSeenHidesTheSpringsAroundItAlone)
{
    const Cloth truth = varied_cloth({8, 8, true, true, true, true});
    const Motion clean = falls(truth, 5, 2, 60);
    std::vector<Rollout> rollouts = rollouts_of(clean);
    const int lost = 0;  // a corner
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (Rollout& rollout : rollouts) {
        for (std::size_t f = 0; f < rollout.frame_count; ++f) {
            for (auto* field : {&rollout.position, &rollout.velocity, &rollout.acceleration}) {
                for (std::size_t i = 0; i < 3; ++i) {
                    (*field)[3 * (f * truth.particle_count() + std::size_t(lost)) + i] = nan;
                }
            }
        }
        ASSERT_EQ(
            std::count(rollout.handles.particles.begin(), rollout.handles.particles.end(), lost),
            0);
    }
    MotionHeader header = clean.header;
    header.gaps = true;
    // No balance can be written down of the landmark and of those that a spring joins with it, and
    // so nothing is known of springs among these.
    std::vector<char> blind(truth.particle_count(), 0);
    blind[lost] = 1;
    for (const auto& [a, b] : truth.springs.ends) {
        if (a == lost) blind[b] = 1;
        if (b == lost) blind[a] = 1;
    }
    std::vector<int> expected;
    for (std::size_t s = 0; s < truth.springs.spring_count(); ++s) {
        const auto [a, b] = truth.springs.ends[s];
        if (blind[a] && blind[b]) expected.push_back(int(s));
    }
    ASSERT_GT(expected.size(), 4u);
    expect_unseen(identified(motion_of(header, rollouts), truth), truth, expected, 0.01);
}

// ---- Invariances ----

// All numbers of a field times a factor.
void scale(std::vector<float>& field, float factor)
{
    for (float& value : field) value *= factor;
}

TEST(Identify, ParametersGrowWithTheMass)
{
    const Identification light = identified(falls6(), truth6());
    Motion motion = falls6();
    motion.header.sheet.mass *= 2;
    const Identification heavy = identified(motion, truth6());
    // Powers of two change exponents only.
    expect_scaled(parameters_of(heavy.cloth), parameters_of(light.cloth), {2, 2}, 0);
    expect_scaled(heavy.cloth.errors->parameters, light.cloth.errors->parameters, {2, 2}, 0);
    Motion noisy = observed(falls6(), {.noise = 1e-3});
    const Identification one = identified(noisy, truth6());
    noisy.header.sheet.mass *= 3;
    const Identification three = identified(noisy, truth6());
    EXPECT_EQ(one.window, three.window);
    // Rounding, times the condition number of the normal equations, 1e5 or so.
    expect_scaled(parameters_of(three.cloth), parameters_of(one.cloth), {3, 3}, 1e-9);
    expect_scaled(three.cloth.errors->parameters, one.cloth.errors->parameters, {3, 3}, 1e-9);
}

TEST(Identify, ATurnOfTheWholeSceneChangesNothing)
{
    // A third of a turn about the diagonal takes x to y to z to x, and numbers stay as they are.
    const Motion noisy = observed(falls6(), {.noise = 1e-3});
    for (const Motion& motion : {falls6(), noisy}) {
        std::vector<Rollout> rollouts = rollouts_of(motion);
        for (Rollout& rollout : rollouts) {
            for (auto* field : {&rollout.position, &rollout.velocity, &rollout.acceleration}) {
                for (std::size_t i = 0; i < field->size(); i += 3) {
                    std::rotate(field->begin() + std::ptrdiff_t(i),
                                field->begin() + std::ptrdiff_t(i + 1),
                                field->begin() + std::ptrdiff_t(i + 3));
                }
            }
        }
        MotionHeader header = motion.header;
        const Vec3d g = header.environment.gravity;
        header.environment.gravity = {g.y, g.z, g.x};
        IdentifyOptions options = options_for(truth6());
        options.prior = 1e-6;  // the choice among weak priors hangs on rounding
        const Identification turned = identify(motion_of(header, rollouts), options);
        const Identification upright = identify(motion, options);
        expect_scaled(parameters_of(turned.cloth), parameters_of(upright.cloth), {1, 1}, 1e-7);
        expect_scaled(turned.cloth.errors->parameters, upright.cloth.errors->parameters, {1, 1},
                      1e-7);
    }
}

TEST(Identify, SlowMotionOfWeakSpringsLooksTheSame)
{
    // Time twice as long: a quarter of the stiffness, half of the damping. All factors are powers
    // of two.
    const auto slowed = [](const Motion& motion) {
        MotionHeader header = motion.header;
        header.dt *= 2;
        header.environment.gravity = 0.25 * header.environment.gravity;
        header.environment.drag *= 0.5;
        std::vector<Rollout> rollouts = rollouts_of(motion);
        for (Rollout& rollout : rollouts) {
            scale(rollout.velocity, 0.5f);
            scale(rollout.acceleration, 0.25f);
        }
        return motion_of(header, std::move(rollouts));
    };
    const Identification fast = identified(falls6(), truth6());
    const Identification slow = identified(slowed(falls6()), truth6());
    expect_scaled(parameters_of(slow.cloth), parameters_of(fast.cloth), {0.25, 0.5}, 0);
    expect_scaled(slow.cloth.errors->parameters, fast.cloth.errors->parameters, {0.25, 0.5}, 0);

    const Motion noisy = observed(falls6(), {.noise = 1e-3});
    IdentifyOptions options = options_for(truth6());
    options.window = 24 / 60.0;
    const Identification quick = identify(noisy, options);
    options.window = 48 / 60.0;
    const Identification tardy = identify(slowed(noisy), options);
    // Test functions have roots of time in them, which are no powers of two.
    expect_scaled(parameters_of(tardy.cloth), parameters_of(quick.cloth), {0.25, 0.5}, 1e-9);
    expect_scaled(tardy.cloth.errors->parameters, quick.cloth.errors->parameters, {0.25, 0.5},
                  1e-9);
}

TEST(IdentifyThreads, DoNotChangeABit)
{
    const Cloth truth = varied_cloth(kGrid5);
    const Motion clean = falls(truth, 4, 1.5, 60);
    for (const Motion& motion : {clean, observed(clean, {.noise = 1e-3, .gaps = 0.02})}) {
        IdentifyOptions options = options_for(truth);
        const Identification expected = identify(motion, options);
        for (const int threads : {2, 3}) {
            options.threads = threads;
            expect_same_bits(identify(motion, options), expected);
        }
    }
}

}  // namespace

}  // namespace springtime
