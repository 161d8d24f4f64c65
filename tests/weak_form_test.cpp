// The balance times test functions, against integrals of the balance itself on motion that is known
// in closed form, and against sums over the integrator's own steps.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "identifying.h"
#include "learn/balance_rows.h"
#include "learn/test_function.h"
#include "physics/external.h"
#include "physics/spring.h"

namespace springtime {

namespace {

constexpr Environment kWindy{{0.5, -9, 0.3}, 0.7, {2, 0.5, -1}};

// ---- Test functions ----

TEST(TestFunction, HasUnitSquareAndEndsAtZero)
{
    for (const int half : {4, 12, 96}) {
        const TestFunction test(half, 1.0 / 60, 1e-3);
        ASSERT_EQ(test.value.size(), std::size_t(2 * half + 1));
        double squares = 0, sum = 0;
        for (const double value : test.value) {
            squares += value * value / 60;
            sum += value / 60;
        }
        EXPECT_NEAR(squares, 1, 1e-14);
        EXPECT_NEAR(sum, test.integral, 1e-14);
        EXPECT_EQ(test.value.front(), 0);
        EXPECT_EQ(test.value.back(), 0);
        for (int i = 0; i <= half; ++i) {
            EXPECT_NEAR(test.value[half + i], test.value[half - i], 1e-15);  // even
        }
        for (int i = 1; i <= half; ++i) {
            EXPECT_LT(test.value[half + i], test.value[half + i - 1]);
        }
    }
}

TEST(TestFunction, IsTheBumpOfTheClosedForm)
{
    // Integrals of (1 - s^2)^n over -1..1 are sqrt(pi) Gamma(n + 1) / Gamma(n + 3/2). The sum over
    // frames differs from them by the spectrum of the bump at the frame rate: nothing at half
    // widths from 12 on.
    const auto moment = [](double n) {
        return std::sqrt(std::numbers::pi) * std::exp(std::lgamma(n + 1) - std::lgamma(n + 1.5));
    };
    const double width = 0.4;
    for (const int half : {12, 48}) {
        const TestFunction test(half, width / half, 1e-3);
        EXPECT_NEAR(test.value[half], 1 / std::sqrt(width * moment(16)), 1e-10);
        EXPECT_NEAR(test.integral, width * moment(8) / std::sqrt(width * moment(16)), 1e-7);
    }
}

TEST(TestFunction, DerivativesSumToNothing)
{
    // Constants must drop out. The bump joins zero with seven derivatives, so that sums over frames
    // converge with a high power of the half width; compared with sums of absolute values. Seen
    // for half width 12: 2e-9 and 2e-6; at 24 and more only the rounding of second differences of
    // 1, 1e-16/h^2, against phi'' = 16/T^2 at the middle.
    const auto ratio = [](const std::vector<double>& values) {
        double sum = 0, absolute = 0;
        for (const double value : values) {
            sum += value;
            absolute += std::abs(value);
        }
        return std::abs(sum) / absolute;
    };
    for (const auto& [half, tolerance] : {std::pair{12, 1e-5}, {24, 1e-9}, {96, 1e-8}}) {
        const TestFunction test(half, 1.0 / 60, 1e-3);
        EXPECT_LE(ratio(test.first), tolerance) << half;
        EXPECT_LE(ratio(test.second), tolerance) << half;
        EXPECT_LE(ratio(test.later_slope), tolerance) << half;
    }
}

TEST(TestFunction, SumsByPartsAreExactForTheIntegrator)
{
    // With every step stored: v[n] = (x[n] - x[n-1])/h, a[n] = (v[n+1] - v[n])/h.
    const int half = 10;
    const double h = 0.01;
    const TestFunction test(half, h, h);
    Random random(3);
    std::vector<double> x(2 * half + 3);  // one more at each end
    for (double& value : x) value = random.normal();
    double phi_v = 0, phi_a = 0, first_x = 0, second_x = 0;
    for (int i = 0; i <= 2 * half; ++i) {
        const double before = x[i], now = x[i + 1], after = x[i + 2];
        phi_v += test.value[i] * (now - before) / h;
        phi_a += test.value[i] * (after - 2 * now + before) / (h * h);
        first_x += test.first[i] * now;
        second_x += test.second[i] * now;
    }
    // Some twenty terms up to 4 / h^2 times the largest of phi.
    const double rounding = 100 * 2.2e-16 * test.value[half];
    EXPECT_NEAR(phi_v, -first_x, rounding / h);
    EXPECT_NEAR(phi_a, second_x, 4 * rounding / (h * h));
}

// ---- Rows ----

// Every coordinate of every particle swings with an amplitude, a frequency and a phase of its own.
class Swinging {
  public:
    Swinging(const Cloth& cloth, double frequency) : state_(flat_state(cloth))
    {
        Random random(9);
        for (std::size_t i = 0; i < 3 * cloth.particle_count(); ++i) {
            waves_.push_back({0.05 + 0.05 * random.uniform(),
                              2 * std::numbers::pi * frequency * (0.5 + 0.5 * random.uniform()),
                              6 * random.uniform()});
        }
    }
    Vec3d at(std::size_t particle, double t) const
    {
        Vec3d x = state_.position[particle];
        for (int axis = 0; axis < 3; ++axis) {
            const auto [amplitude, rate, phase] = waves_[3 * particle + axis];
            x[axis] += amplitude * std::sin(rate * t + phase);
        }
        return x;
    }
    // As the integrator has them at step n: (x[n] - x[n-1])/h and (v[n+1] - v[n])/h.
    Vec3d velocity(std::size_t particle, double t, double h) const
    {
        return (1 / h) * (at(particle, t) - at(particle, t - h));
    }
    Vec3d acceleration(std::size_t particle, double t, double h) const
    {
        return (1 / h) * (velocity(particle, t + h, h) - velocity(particle, t, h));
    }
    Vec3d central_velocity(std::size_t particle, double t, double h) const
    {
        return (0.5 / h) * (at(particle, t + h) - at(particle, t - h));
    }

  private:
    struct Wave {
        double amplitude, rate, phase;
    };
    State state_;
    std::vector<Wave> waves_;
};

Tracks tracks_of(const Cloth& cloth, const Swinging& motion, std::size_t frames, double interval)
{
    Rollout rollout;
    rollout.frame_count = frames;
    rollout.position.resize(3 * frames * cloth.particle_count());
    Tracks tracks(rollout);
    for (std::size_t p = 0; p < cloth.particle_count(); ++p) {
        for (std::size_t f = 0; f < frames; ++f) {
            tracks.position[p * frames + f] = motion.at(p, double(f) * interval);
        }
    }
    return tracks;
}

// A window around t = middle, by sums over times `interval` apart of the balance itself, as the
// force form has it. `bump` is the test function.
struct Window {
    double middle, half, interval, h;
};

double bump(const Window& window, double t)
{
    const double s = (t - window.middle) / window.half;
    const double norm = std::sqrt(std::numbers::pi) * std::exp(std::lgamma(17) - std::lgamma(17.5));
    return std::pow(std::max(1 - s * s, 0.0), 8) / std::sqrt(window.half * norm);
}

template <class Velocity, class Column>
Vec3d spring_integral(const Cloth& cloth, std::size_t s, const Swinging& motion,
                      const Window& window, const Velocity& velocity, const Column& column)
{
    const auto [a, b] = cloth.springs.ends[s];
    Vec3d sum{};
    const int steps = int(std::lround(window.half / window.interval));
    for (int i = -steps; i <= steps; ++i) {
        const double t = window.middle + i * window.interval;
        const Vec3d d = motion.at(b, t) - motion.at(a, t);
        sum += window.interval * bump(window, t) * column(d, velocity(b, t) - velocity(a, t));
    }
    return sum;
}

Vec3d row_of(const double* rows, std::size_t place)
{
    return {rows[3 * place], rows[3 * place + 1], rows[3 * place + 2]};
}

// Largest error of each kind of column, and of what is needed, relative to the largest entry.
struct Errors {
    double stiffness = 0, damping = 0, central = 0, isotropic = 0, needed = 0;
};

Errors errors_of_rows(int half_width, double width, double h, double frequency,
                      const FrameChoice& choice, double quadrature)
{
    const Cloth cloth = varied_cloth({3, 3, true, true, true, true}, {{}, true});
    const Swinging motion(cloth, frequency);
    const double interval = width / half_width;
    const TestFunction test(half_width, interval, h);
    const std::size_t middle = window_margin(test, choice.step) + 1;
    const Tracks tracks = tracks_of(cloth, motion, 2 * middle + 1, interval);
    const BalanceRows rows =
        weak_rows(cloth, kWindy, tracks, test, {middle}, choice, interval, h, 1);
    const Window window{double(middle) * interval, width, quadrature, h};
    const auto half_step = [&](std::size_t p, double t) { return motion.velocity(p, t, h); };
    const auto central = [&](std::size_t p, double t) { return motion.central_velocity(p, t, h); };

    Errors worst;
    std::array<double, 4> largest{};
    const auto compare = [](const Vec3d& found, const Vec3d& expected, double& error,
                            double& size) {
        error = std::max(error, length(found - expected));
        size = std::max(size, length(expected));
    };
    double ignored = 0;
    for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
        const double rest = cloth.springs.rest_length[s];
        const auto integral = [&](const auto& velocity, double k, double b, double c) {
            return spring_integral(
                cloth, s, motion, window, velocity, [&](const Vec3d& d, const Vec3d& v) {
                    return spring_force(d, v, rest, k, b, RangeLaw<double>{0, nullptr, c});
                });
        };
        const Vec3d damping = row_of(rows.unit_of(Element::spring, s, 1, 0), 0);
        compare(row_of(rows.unit_of(Element::spring, s, 0, 0), 0), integral(half_step, 1, 0, 0),
                worst.stiffness, largest[0]);
        compare(damping, integral(half_step, 0, 1, 0), worst.damping, largest[1]);
        compare(damping, integral(central, 0, 1, 0), worst.central, ignored);
        compare(row_of(rows.unit_of(Element::spring, s, 2, 0), 0), integral(half_step, 0, 0, 1),
                worst.isotropic, largest[2]);
    }
    const int steps = int(std::lround(width / quadrature));
    for (std::size_t p = 0; p < cloth.particle_count(); ++p) {
        EXPECT_TRUE(rows.free[p]);
        Vec3d expected{};
        for (int i = -steps; i <= steps; ++i) {
            const double t = window.middle + i * quadrature;
            const Vec3d other =
                external_acceleration(half_step(p, t), kWindy.gravity, kWindy.wind, kWindy.drag);
            expected += quadrature * bump(window, t) * cloth.mass[p] *
                        (motion.acceleration(p, t, h) - other);
        }
        compare(row_of(rows.needed.data() + 3 * p, 0), expected, worst.needed, largest[3]);
    }
    worst.stiffness /= largest[0];
    worst.damping /= largest[1];
    worst.central /= largest[1];
    worst.isotropic /= largest[2];
    worst.needed /= largest[3];
    return worst;
}

constexpr double kWidth = 0.4;  // half a window [s], of swings up to 2 Hz

TEST(WeakForm, IsTheIntegralOfTheBalanceTimesTheTestFunction)
{
    // Steps of 0.1 ms, so that the half step is known beyond the frames. A sum over 800 times is
    // the integral to rounding. Seen, for half widths of 12, 24 and 48 frames: stiffness 6e-10,
    // 6e-13, 1e-15; damping 3e-5, 6e-7, 7e-8, with the sixth order of u' down to the (h w)^2/24 =
    // 7e-8 of the half step, w = 4 pi/s; what is needed 2e-7, 8e-10, 2e-10.
    const double h = 1e-4, quadrature = kWidth / 800;
    const Errors coarse = errors_of_rows(12, kWidth, h, 2, {}, quadrature);
    const Errors fine = errors_of_rows(24, kWidth, h, 2, {}, quadrature);
    EXPECT_LE(coarse.stiffness, 1e-8);
    EXPECT_LE(coarse.damping, 1e-4);
    EXPECT_LE(coarse.isotropic, 3e-7);
    EXPECT_LE(coarse.needed, 1e-6);
    EXPECT_LE(fine.stiffness, 1e-11);
    EXPECT_LE(fine.damping, coarse.damping / 32);
    EXPECT_LE(fine.isotropic, 3e-7);
    EXPECT_LE(fine.needed, coarse.needed / 32);
}

TEST(WeakForm, EveryOtherFrameIsALookOfItsOwn)
{
    // As good as a look at all frames with twice the interval, the even ones like the odd ones.
    const double h = 1e-4, quadrature = kWidth / 800;
    for (const std::size_t first : {0, 1}) {
        const Errors errors = errors_of_rows(24, kWidth, h, 2, {2, first}, quadrature);
        EXPECT_LE(errors.stiffness, 1e-8) << first;
        EXPECT_LE(errors.damping, 1e-4) << first;
        EXPECT_LE(errors.needed, 1e-6) << first;
    }
}

TEST(WeakForm, IsExactForTheIntegratorWhenEveryStepIsStored)
{
    // Sums of some hundred numbers; what is needed has second differences of 1/h^2 as well.
    for (const int steps : {24, 48}) {
        const double h = kWidth / steps;
        const Errors errors = errors_of_rows(steps, kWidth, h, 2, {}, h);
        EXPECT_LE(errors.stiffness, 1e-13) << steps;
        EXPECT_LE(errors.needed, 1e-12) << steps;
    }
}

TEST(WeakForm, DashpotsHaveTheVelocityOfTheHalfStepBefore)
{
    // Taking v[n] = (x[n] - x[n-1])/h for the velocity at n errs by h/2 a, that is by a part of
    // h w/2 = 0.05 for 2 Hz at 120 steps a second, and of half that at 240; the expansion about
    // the half step by a part of (h w)^2/24 = 5e-4. Seen: 0.042 and 4e-4, then 0.021 and 1e-4.
    const Errors coarse = errors_of_rows(48, kWidth, kWidth / 48, 2, {}, kWidth / 48);
    const Errors fine = errors_of_rows(96, kWidth, kWidth / 96, 2, {}, kWidth / 96);
    EXPECT_LE(coarse.damping, 1e-3);
    EXPECT_GE(coarse.central, 0.02);
    EXPECT_NEAR(fine.damping / coarse.damping, 1.0 / 4, 0.05);
    EXPECT_NEAR(fine.central / coarse.central, 1.0 / 2, 0.05);
    EXPECT_LE(fine.isotropic, 2e-4);
}

// Two windows of a sheet that swings, without a landmark in some frames.
struct GappyWindows {
    Cloth cloth = varied_cloth({4, 4, true, true, true, true}, {{-0.05, 0.05}, true});
    TestFunction test{12, 1.0 / 60, kIdentifyStep};
    std::vector<std::size_t> middles{20, 60};
    Tracks tracks = tracks_of(cloth, Swinging(cloth, 2), 90, 1.0 / 60);

    BalanceRows rows(const FrameChoice& choice = {}, int threads = 1) const
    {
        return weak_rows(cloth, kWindy, tracks, test, middles, choice, 1.0 / 60, kIdentifyStep,
                         threads);
    }
};

TEST(WeakForm, SharesTheStretchOutAmongTheRanges)
{
    // Sums over frames of the force that one unit of stiffness in one range gives.
    const GappyWindows windows;
    const BalanceRows rows = windows.rows();
    const SpringSet& springs = windows.cloth.springs;
    ASSERT_EQ(rows.group(Element::spring).kinds, 5);
    double largest = 0;
    for (std::size_t s = 0; s < springs.spring_count(); ++s) {
        for (const int kind : {0, 2, 3}) {
            std::vector<SpringRange<double>> ranges;
            for (const StiffnessRange& range : springs.ranges) {
                const double rest = springs.rest_length[s];
                ranges.push_back({range.from * rest, range.to * rest, 0});
            }
            if (kind > 0) ranges[kind - 2].stiffness = 1;
            Vec3d sum{};
            for (int i = -12; i <= 12; ++i) {
                const auto [a, b] = springs.ends[s];
                const Vec3d d = windows.tracks.of(b)[60 + i] - windows.tracks.of(a)[60 + i];
                sum += windows.test.value[12 + i] / 60 *
                       spring_force(d, Vec3d{}, springs.rest_length[s], kind == 0 ? 1.0 : 0.0, 0.0,
                                    RangeLaw<double>{2, ranges.data(), 0});
            }
            EXPECT_LE(length(row_of(rows.unit_of(Element::spring, s, kind, 0), 1) - sum), 1e-14)
                << s << ' ' << kind;
            largest = std::max(largest, length(sum));
        }
    }
    EXPECT_GT(largest, 0.01);
}

TEST(WeakForm, ManyRangesAreNoTrouble)
{
    SpringLaw law;
    for (int i = -15; i <= 15; ++i) law.knots.push_back(0.01 * i);
    GappyWindows windows;
    const BalanceRows plain = windows.rows();
    set_law(windows.cloth, law);
    const BalanceRows rows = windows.rows();
    // The shares of all kinds of stiffness make up the whole stretch.
    for (std::size_t s = 0; s < windows.cloth.springs.spring_count(); ++s) {
        Vec3d sum = row_of(rows.unit_of(Element::spring, s, 0, 0), 0),
              expected = row_of(plain.unit_of(Element::spring, s, 0, 0), 0);
        for (int k = 2; k < rows.group(Element::spring).kinds; ++k)
            sum += row_of(rows.unit_of(Element::spring, s, k, 0), 0);
        for (int k = 2; k < 4; ++k) expected += row_of(plain.unit_of(Element::spring, s, k, 0), 0);
        EXPECT_LE(length(sum - expected), 1e-14);
    }
}

TEST(WeakForm, AGapSpoilsTheWindowsThatReachIt)
{
    // Windows reach 12 frames for the test function and 3 more for a derivative, or 6 when only
    // every other frame is looked at.
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const auto& [frame, step, spoiled] :
         {std::tuple{75, 1, true}, {76, 1, false}, {78, 2, true}, {79, 2, false}}) {
        GappyWindows windows;
        const std::size_t lost = 5;
        windows.tracks.position[lost * windows.tracks.frame_count + std::size_t(frame)] = {nan, nan,
                                                                                           nan};
        const BalanceRows rows = windows.rows({std::size_t(step), 0});
        for (std::size_t p = 0; p < windows.cloth.particle_count(); ++p) {
            EXPECT_TRUE(rows.free[2 * p]);
            EXPECT_EQ(!rows.free[2 * p + 1], spoiled && p == lost) << frame;
        }
        for (std::size_t s = 0; s < windows.cloth.springs.spring_count(); ++s) {
            const auto [a, b] = windows.cloth.springs.ends[s];
            const bool hit = spoiled && (std::size_t(a) == lost || std::size_t(b) == lost);
            EXPECT_TRUE(rows.group(Element::spring).seen[2 * s]);
            EXPECT_EQ(!rows.group(Element::spring).seen[2 * s + 1], hit) << frame;
        }
    }
}

TEST(WeakFormThreads, DoNotChangeABit)
{
    const GappyWindows windows;
    const BalanceRows expected = windows.rows({2, 1}, 1);
    for (const int threads : {2, 5}) {
        const BalanceRows rows = windows.rows({2, 1}, threads);
        for (const Element type : kElements) {
            EXPECT_EQ(rows.group(type).unit, expected.group(type).unit);
            EXPECT_EQ(rows.group(type).seen, expected.group(type).seen);
        }
        EXPECT_EQ(rows.needed, expected.needed);
        EXPECT_EQ(rows.free, expected.free);
    }
}

TEST(Tracks, PinsStandAtTheMeanOfWhereTheyAreSeen)
{
    Rollout rollout;
    rollout.frame_count = 4;
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const float x : {1.0f, 2.0f, nan, 6.0f}) {
        for (int i = 0; i < 6; ++i) rollout.position.push_back(x);
    }
    rollout.handles.particles = {1};
    const Tracks tracks(rollout);
    EXPECT_EQ(tracks.held, (std::vector<char>{0, 1}));
    for (std::size_t f = 0; f < 4; ++f) {
        EXPECT_EQ(tracks.of(1)[f].y, 3);
        EXPECT_TRUE(f == 2 ? std::isnan(tracks.of(0)[f].y)
                           : tracks.of(0)[f].y == rollout.position[6 * f + 1]);
    }
    // What is carried about stays as it is seen.
    rollout.handles.key_time = {0, 1};
    rollout.handles.key_position = {{1, 1, 1}, {6, 6, 6}};
    EXPECT_EQ(Tracks(rollout).of(1)[1].x, 2);
}

}  // namespace

}  // namespace springtime
