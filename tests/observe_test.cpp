// What a camera leaves of a motion, against the statistics it promises, and the states that are
// estimated from that, against motion that is known in closed form.
#include "springtime/generate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "error_of.h"
#include "springtime/error.h"

namespace springtime {

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
// Bounds of random numbers: one in two million misses five standard deviations by chance, and the
// seeds are fixed.
constexpr double kSigmas = 5;

MotionHeader header_of(std::size_t landmarks, double dt, int stride)
{
    MotionHeader header;
    header.sheet = {1, 1, 1};
    header.rest.resize(landmarks);
    header.dt = dt;
    header.stride = stride;
    return header;
}

// position(frame, landmark) in every frame.
template <class Position>
Rollout moving(std::size_t frames, std::size_t landmarks, Position position)
{
    Rollout rollout;
    rollout.frame_count = frames;
    for (std::size_t f = 0; f < frames; ++f) {
        for (std::size_t l = 0; l < landmarks; ++l) {
            const Vec3d x = position(f, l);
            for (int axis = 0; axis < 3; ++axis) rollout.position.push_back(float(x[axis]));
        }
    }
    return rollout;
}

Rollout at_rest(std::size_t frames, std::size_t landmarks)
{
    Rollout rollout = moving(frames, landmarks, [](auto, auto) { return Vec3d{}; });
    rollout.velocity = rollout.acceleration = rollout.position;
    return rollout;
}

void lose(Rollout& rollout, std::size_t frame, std::size_t landmark)
{
    for (int axis = 0; axis < 3; ++axis)
        rollout.position[3 * (frame * rollout.landmark_count() + landmark) + axis] = kNan;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b)
{
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// ---- The camera ----

TEST(Observe, NoiseIsWhiteWithTheAskedDeviation)
{
    const std::size_t frames = 400, landmarks = 25;
    const double noise = 0.003;
    Rollout still = at_rest(frames, landmarks);
    still.handles.particles = {0, 7};
    const Rollout seen = observe(still, header_of(landmarks, 1e-3, 20),
                                 {.noise = noise, .positions_only = true}, 5, 3);
    EXPECT_TRUE(seen.velocity.empty());
    EXPECT_TRUE(seen.acceleration.empty());
    const std::vector<float>& x = seen.position;
    const double n = double(x.size());
    double sum = 0, squares = 0;
    for (const float value : x) {
        sum += value;
        squares += double(value) * value;
    }
    EXPECT_LE(std::abs(sum / n), kSigmas * noise / std::sqrt(n));
    // The variance of n normal numbers varies by sqrt(2/n) of itself.
    EXPECT_NEAR(squares / n / (noise * noise), 1, kSigmas * std::sqrt(2 / n));
    // Neighbours in a vector, among landmarks and in time: correlations vary by 1/sqrt(n).
    for (const std::size_t lag : {std::size_t(1), std::size_t(3), 3 * landmarks}) {
        double product = 0;
        for (std::size_t i = lag; i < x.size(); ++i) product += double(x[i]) * x[i - lag];
        EXPECT_LE(std::abs(product / n) / (noise * noise), kSigmas / std::sqrt(n)) << lag;
    }
    double pinned = 0;  // a camera sees pins with noise too
    for (std::size_t f = 0; f < frames; ++f) pinned += std::pow(x[3 * (f * landmarks + 7)], 2);
    EXPECT_NEAR(pinned / double(frames) / (noise * noise), 1,
                kSigmas * std::sqrt(2 / double(frames)));
}

TEST(Observe, GapsHaveTheAskedShareAndLength)
{
    const std::size_t frames = 4000, landmarks = 30;
    const double share = 0.2, length = 12.5;  // of a gap, in frames
    const Rollout seen = observe(at_rest(frames, landmarks), header_of(landmarks, 1e-3, 20),
                                 {.gaps = share, .gap_seconds = length * 0.02}, 11, 0);
    double missing = 0, first_missing = 0, from_missing = 0, found = 0;
    for (std::size_t f = 0; f < frames; ++f) {
        for (std::size_t l = 0; l < landmarks; ++l) {
            const bool here = seen.seen(f, l);
            missing += !here;
            first_missing += f == 0 && !here;
            if (f == 0 || seen.seen(f - 1, l)) continue;
            ++from_missing;
            found += here;
        }
    }
    // The mean of a chain of two states varies as that of n (1 - c)/(1 + c) independent draws, c
    // being the correlation of neighbouring frames, 1 - 1/length - share/((1 - share) length).
    const double n = double(frames * landmarks), c = 1 - 1 / length / (1 - share);
    const double sigma = std::sqrt(share * (1 - share) / n * (1 + c) / (1 - c));
    EXPECT_NEAR(missing / n, share, kSigmas * sigma);
    // A gap ends with chance 1/length in every frame: a binomial count.
    EXPECT_NEAR(found / from_missing, 1 / length,
                kSigmas * std::sqrt(1 / length * (1 - 1 / length) / from_missing));
    // The first frame is like any other.
    EXPECT_NEAR(first_missing / double(landmarks), share,
                kSigmas * std::sqrt(share * (1 - share) / double(landmarks)));
    EXPECT_GT(first_missing, 0);
}

TEST(Observe, AMissingLandmarkIsMissingInAllThatIsStored)
{
    const Rollout seen =
        observe(at_rest(50, 9), header_of(9, 1e-3, 20), {.gaps = 0.3, .gap_seconds = 0.1}, 1, 1);
    std::size_t missing = 0;
    for (std::size_t i = 0; i < seen.position.size(); i += 3) {
        const bool lost = std::isnan(seen.position[i]);
        missing += lost;
        for (std::size_t j = i; j < i + 3; ++j) {
            EXPECT_EQ(std::isnan(seen.position[j]), lost);
            EXPECT_EQ(std::isnan(seen.velocity[j]), lost);
            EXPECT_EQ(std::isnan(seen.acceleration[j]), lost);
        }
    }
    EXPECT_GT(missing, 0u);
}

TEST(Observe, DependsOnSeedAndNumberAlone)
{
    const MotionHeader header = header_of(16, 1e-3, 20);
    const ObserveOptions both{.noise = 0.01, .gaps = 0.2, .positions_only = true};
    const Rollout still = at_rest(60, 16);
    const auto position = [&](const ObserveOptions& options, std::uint64_t seed, std::size_t r) {
        return observe(still, header, options, seed, r).position;
    };
    const auto once = position(both, 4, 2);
    EXPECT_TRUE(same_bits(once, position(both, 4, 2)));
    EXPECT_FALSE(same_bits(once, position(both, 4, 3)));
    EXPECT_FALSE(same_bits(once, position(both, 5, 2)));
    // Gaps take away, they do not change what stays.
    ObserveOptions noise_only = both;
    noise_only.gaps = 0;
    const auto whole = position(noise_only, 4, 2);
    for (std::size_t i = 0; i < whole.size(); ++i) {
        EXPECT_TRUE(std::isnan(once[i]) || once[i] == whole[i]);
    }
}

TEST(Observe, WithoutOptionsNothingChangesAndHandlesNeverDo)
{
    Rollout still = at_rest(5, 4);
    still.handles = {{2, 1}, {0, 0.5}, {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {1, 1, 1}}};
    MotionHeader header = header_of(4, 1e-3, 20);
    const Rollout same = observe(still, header, {}, 1, 0);
    EXPECT_TRUE(same_bits(same.position, still.position));
    EXPECT_TRUE(same_bits(same.velocity, still.velocity));
    EXPECT_TRUE(same_bits(same.acceleration, still.acceleration));
    observe_header(header, {});
    EXPECT_TRUE(header.velocities);
    EXPECT_FALSE(header.gaps);
    const ObserveOptions all{.noise = 0.1, .gaps = 0.5, .positions_only = true};
    const Handles kept = observe(still, header, all, 1, 0).handles;
    EXPECT_EQ(kept.particles, still.handles.particles);
    EXPECT_EQ(kept.key_time, still.handles.key_time);
    ASSERT_EQ(kept.key_position.size(), 4u);
    for (std::size_t i = 0; i < 4; ++i)
        EXPECT_EQ(length(kept.key_position[i] - still.handles.key_position[i]), 0);
    observe_header(header, all);
    EXPECT_FALSE(header.velocities);
    EXPECT_TRUE(header.gaps);
}

// Landmark (row, col) of frame f of a 5 x 7 grid is at (row, col, f).
constexpr Grid kFine{5, 7};
Rollout of_fine_grid(std::size_t frames)
{
    return moving(frames, 35, [](std::size_t f, std::size_t l) {
        return Vec3d{double(l / 7), double(l % 7), double(f)};
    });
}
MotionHeader fine_header()
{
    MotionHeader header = header_of(0, 1e-3, 20);
    header.rest = grid_points(header.sheet, kFine);
    return header;
}

TEST(Observe, SeesEverySecondRowAndColumn)
{
    MotionHeader header = fine_header();
    const std::vector<SheetPoint> all = header.rest;
    const ObserveOptions camera{.every = 2};
    observe_header(header, camera);
    Rollout rollout = of_fine_grid(3);
    rollout.velocity = rollout.position;
    // Of the held ones, (0, 1) is not seen; the path of (2, 4) is that of key 2 * h + 1.
    rollout.handles = {{1, 18}, {0, 1}, {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}}};
    const Rollout seen = observe(rollout, header, camera, 1, 0);
    ASSERT_EQ(header.landmark_count(), 3u * 4u);
    for (int row = 0; row < 3; ++row) {
        for (int col = 0; col < 4; ++col) {
            const std::size_t l = std::size_t(4 * row + col),
                              before = std::size_t(14 * row + 2 * col);
            EXPECT_EQ(header.rest[l].u, all[before].u);
            EXPECT_EQ(header.rest[l].v, all[before].v);
            for (std::size_t f = 0; f < 3; ++f) {
                const float* x = &seen.position[3 * (f * 12 + l)];
                EXPECT_EQ(x[0], 2 * row);
                EXPECT_EQ(x[1], 2 * col);
                EXPECT_EQ(x[2], f);
            }
        }
    }
    EXPECT_EQ(seen.velocity, seen.position);
    EXPECT_EQ(seen.handles.particles, std::vector<int>{4 * 1 + 2});
    ASSERT_EQ(seen.handles.key_position.size(), 2u);
    EXPECT_EQ(seen.handles.key_position[0].x, 1);
    EXPECT_EQ(seen.handles.key_position[1].x, 3);
}

TEST(Observe, RefusesRowsThatLeaveOutAnEdgeOrWhatIsHeld)
{
    const auto field = [](auto act) {
        try {
            act();
        } catch (const Error& error) {
            return error.field();
        }
        return std::string("(not refused)");
    };
    for (const int every : {0, 3, 4}) {  // 4 fits the rows alone
        MotionHeader header = fine_header();
        EXPECT_EQ(field([&] { observe_header(header, {.every = every}); }), "every");
    }
    MotionHeader scattered = header_of(4, 1e-3, 20);
    EXPECT_EQ(field([&] { observe_header(scattered, {.every = 2}); }), "every");
    MotionHeader header = fine_header();
    observe_header(header, {.every = 2});
    Rollout rollout = of_fine_grid(1);
    rollout.handles.particles = {1, 8};
    EXPECT_EQ(field([&] { observe(rollout, header, {.every = 2}, 1, 0); }), "every");
}

TEST(Observe, RefusesWhatNoCameraDoes)
{
    const MotionHeader header = header_of(4, 1e-3, 20);
    const auto refusal = [&](const ObserveOptions& options) {
        return error_of([&] { check_observe(options, header); });
    };
    EXPECT_EQ(refusal({.noise = 0.001}),
              "observe: noise beside velocities that have none; ask for positions only, which is "
              "all a camera sees");
    const double diagonal = std::hypot(header.sheet.length, header.sheet.width);
    for (const double noise : {-1.0, 1.01 * diagonal, double(NAN)}) {
        EXPECT_TRUE(mentions(refusal({.noise = noise, .positions_only = true}),
                             {fmt::format("noise of {} m", noise), "a diagonal of"}));
    }
    EXPECT_EQ(refusal({.gaps = 1}), "observe: a share of gaps of 1; it must lie between 0 and 1");
    EXPECT_EQ(refusal({.gaps = 0.1, .gap_seconds = 0}),
              "observe: gaps of 0 s; their mean length must be positive");
    // To be missing in 0.8 of the frames, a landmark seen for one frame must be lost for four.
    EXPECT_EQ(refusal({.gaps = 0.8, .gap_seconds = 0.06}),
              "observe: a share of gaps of 0.8 needs gaps of 0.08 s at least; lower the share or "
              "make them longer");
}

// ---- Estimated states ----

// Dyadic numbers, so that positions are exact in float and only double rounding is left.
constexpr double kInterval = 0.25, kStep = 0.125;

Vec3d parabola(double t, std::size_t landmark)
{
    const double l = double(landmark);
    return {1 + 0.5 * l + 2 * t, 3 * t * t - 0.25 * l * t, -1 + t - 0.5 * t * t};
}

Rollout parabolas(std::size_t frames, std::size_t landmarks)
{
    return moving(frames, landmarks,
                  [](std::size_t f, std::size_t l) { return parabola(double(f) * kInterval, l); });
}

void expect_parabola(const Rollout& rollout, std::size_t frame)
{
    const State state = rollout.state(frame, kInterval, kStep);
    const double t = double(frame) * kInterval;
    EXPECT_EQ(state.time, t);
    for (std::size_t l = 0; l < state.position.size(); ++l) {
        // A parabola's difference over a step is its velocity half a step before.
        const Vec3d v = (1 / kStep) * (parabola(t, l) - parabola(t - kStep, l));
        // Positions up to 50 m, extrapolated by two frames at most: some hundred roundings.
        EXPECT_LE(length(state.position[l] - parabola(t, l)), 1e-11) << frame << ", " << l;
        EXPECT_LE(length(state.velocity[l] - v), 1e-11) << frame << ", " << l;
    }
}

TEST(EstimatedState, IsExactForParabolas)
{
    const Rollout rollout = parabolas(12, 3);
    for (std::size_t f = 0; f < 12; ++f) expect_parabola(rollout, f);
}

TEST(EstimatedState, IsExactForParabolasThroughGaps)
{
    Rollout rollout = parabolas(16, 3);
    for (const std::size_t f : {0, 1, 6, 8, 9, 13}) lose(rollout, f, 0);
    for (std::size_t f = 0; f < 16; ++f)
        if (f != 2 && f != 7 && f != 13) lose(rollout, f, 1);  // as few as make a parabola
    for (const std::size_t f : {0, 1, 5, 6, 7, 8, 9, 10, 14, 15}) lose(rollout, f, 2);
    for (std::size_t f = 0; f < 16; ++f) expect_parabola(rollout, f);
}

// Seen in frames 0 to 4 alone, a landmark is looked for in frame 9: least squares put a line
// through the five, with the slope sum (t - 2) x / 10 per frame, and two frames beyond them is
// frame 6.
TEST(EstimatedState, DoesNotRunAwayFarFromWhatIsSeen)
{
    Rollout rollout = parabolas(16, 1);
    for (std::size_t f = 5; f < 16; ++f) lose(rollout, f, 0);
    Vec3d mean{}, slope{};
    for (int f = 0; f < 5; ++f) {
        const Vec3d x = parabola(f * kInterval, 0);
        mean += 0.2 * x;
        slope += 0.1 * (f - 2) * x;
    }
    const State state = rollout.state(9, kInterval, kStep);
    EXPECT_LE(length(state.position[0] - (mean + 4.0 * slope)), 1e-11);
    EXPECT_LE(length(state.velocity[0] - (1 / kInterval) * slope), 1e-11);
}

TEST(EstimatedState, TwoFramesMakeALineAndOneMakesRest)
{
    Rollout rollout = parabolas(6, 2);
    for (const std::size_t f : {0, 2, 3, 4}) lose(rollout, f, 0);
    for (const std::size_t f : {0, 1, 3, 4, 5}) lose(rollout, f, 1);
    const State state = rollout.state(3, kInterval, kStep);
    const Vec3d a = parabola(kInterval, 0), b = parabola(5 * kInterval, 0);
    EXPECT_LE(length(state.position[0] - 0.5 * (a + b)), 1e-14);
    EXPECT_LE(length(state.velocity[0] - (1 / (4 * kInterval)) * (b - a)), 1e-14);
    EXPECT_EQ(length(state.position[1] - parabola(2 * kInterval, 1)), 0);
    EXPECT_EQ(length(state.velocity[1]), 0);
}

TEST(EstimatedState, WhatIsStoredAndSeenStaysAsItIs)
{
    Rollout rollout = parabolas(8, 3);
    const auto other = [](std::size_t f, std::size_t l) {
        return Vec3d{double(f), double(l), 0.1};
    };
    rollout.velocity = moving(8, 3, other).position;
    lose(rollout, 4, 1);
    const State state = rollout.state(4, kInterval, kStep);
    for (const std::size_t l : {0, 2}) {
        EXPECT_EQ(length(state.position[l] - parabola(1, l)), 0);
        EXPECT_EQ(length(state.velocity[l] - Vec3d{4, double(l), double(0.1f)}), 0);
    }
    EXPECT_LE(length(state.position[1] - parabola(1, 1)), 1e-12);
    const Vec3d v = (1 / kStep) * (parabola(1, 1) - parabola(1 - kStep, 1));
    EXPECT_LE(length(state.velocity[1] - v), 1e-12);
}

TEST(EstimatedState, VelocityIsOfSecondOrderInTheInterval)
{
    // x = sin t, with four steps to a frame. A quadratic misses the third derivative times T^2:
    // half the interval, a quarter of the error, but for a part of the order of T at the ends,
    // where the frames lie on one side, and of T^2 amid them.
    const auto error = [](double interval, double share) {
        const auto frames = std::size_t(std::lround(1.6 / interval)) + 1;
        const double dt = interval / 4;
        const Rollout rollout = moving(frames, 1, [&](std::size_t f, auto) {
            return Vec3d{std::sin(double(f) * interval), 0, 0};
        });
        const auto frame = std::size_t(std::lround(share * double(frames - 1)));
        const double t = double(frame) * interval;
        const State state = rollout.state(frame, interval, dt);
        return state.velocity[0].x - (std::sin(t) - std::sin(t - dt)) / dt;
    };
    EXPECT_GT(std::abs(error(0.02, 0.5)), 1e-4);  // floats round by 6e-8, over T = 0.02
    EXPECT_NEAR(error(0.04, 0.5) / error(0.02, 0.5), 4, 0.1);
    EXPECT_NEAR(error(0.04, 0) / error(0.02, 0), 4, 0.4);
    EXPECT_NEAR(error(0.04, 0.95) / error(0.02, 0.95), 4, 0.4);
}

TEST(EstimatedState, NamesALandmarkThatIsNeverSeen)
{
    Rollout rollout = parabolas(4, 3);
    for (std::size_t f = 0; f < 4; ++f) lose(rollout, f, 2);
    EXPECT_EQ(error_of([&] { rollout.state(1, kInterval, kStep); }),
              "rollout: landmark 2 is missing in all 4 frames, so that its place is unknown; leave "
              "that landmark out of the motion");
}

}  // namespace

}  // namespace springtime
