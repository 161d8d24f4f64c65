// Rollouts and handles of landmarks, as particles have them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "core/random.h"
#include "sheet_points.h"
#include "springtime/error.h"
#include "springtime/motion.h"

namespace springtime {

namespace {

constexpr double kFloatEpsilon = std::numeric_limits<float>::epsilon();

// Particles on a landmark, amid three of them, between two, and on another.
struct SmallCase {
    // The fourth is off the circle of the others, so that there is but one best triangle.
    Points landmarks = {{0, 0}, {1, 0}, {0, 1}, {1.2, 1.2}};
    Points particles = {{1.2, 1.2}, {0.25, 0.25}, {0.5, 0}, {0, 0}};
    Rollout rollout;

    SmallCase()
    {
        Random random(61);
        rollout.frame_count = 3;
        for (int i = 0; i < 3 * 4 * 3; ++i) {
            rollout.position.push_back(float(random.normal()));
            rollout.velocity.push_back(float(random.normal()));
            rollout.acceleration.push_back(float(random.normal()));
        }
    }
};

// What the weights of SmallCase are, worked out by hand: (0.25, 0.25) is in the triangle of the
// first three landmarks.
std::vector<float> by_hand(const std::vector<float>& field)
{
    std::vector<float> result;
    for (std::size_t f = 0; f < field.size(); f += 12) {
        const auto at = [&](int landmark, int axis) {
            return double(field[f + 3 * landmark + axis]);
        };
        for (int i = 0; i < 3; ++i) result.push_back(float(at(3, i)));
        for (int i = 0; i < 3; ++i)
            result.push_back(float(0.5 * at(0, i) + 0.25 * at(1, i) + 0.25 * at(2, i)));
        for (int i = 0; i < 3; ++i) result.push_back(float(0.5 * at(0, i) + 0.5 * at(1, i)));
        for (int i = 0; i < 3; ++i) result.push_back(float(at(0, i)));
    }
    return result;
}

TEST(ResampleRollout, AllFieldsMapByTheSameWeights)
{
    SmallCase small;
    const Resampler resampler(small.landmarks, small.particles);
    const Rollout found = resampler.apply(small.rollout, 0.04);
    EXPECT_EQ(found.frame_count, 3u);
    const auto expect_near = [](const std::vector<float>& a, const std::vector<float>& b) {
        ASSERT_EQ(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 2 * kFloatEpsilon);
    };
    expect_near(found.position, by_hand(small.rollout.position));
    expect_near(found.velocity, by_hand(small.rollout.velocity));
    expect_near(found.acceleration, by_hand(small.rollout.acceleration));
    const std::vector<float> force(small.rollout.velocity.begin(),
                                   small.rollout.velocity.begin() + 12);  // one frame of any field
    expect_near(resampler.apply(force), by_hand(force));
    EXPECT_TRUE(found.handles.particles.empty());
    small.rollout.acceleration.clear();
    EXPECT_TRUE(resampler.apply(small.rollout, 0.04).acceleration.empty());
}

TEST(ResampleRollout, AParticleBetweenPinsIsAPin)
{
    SmallCase small;
    const Resampler resampler(small.landmarks, small.particles);
    const auto apply = [&](std::vector<int> landmarks) {
        small.rollout.handles.particles = std::move(landmarks);
        return resampler.apply(small.rollout, 0.04).handles;
    };
    EXPECT_EQ(apply({3}).particles, (std::vector<int>{0}));
    EXPECT_EQ(apply({0}).particles, (std::vector<int>{3}));  // 1 and 2 hang on free ones, too
    EXPECT_EQ(apply({0, 1}).particles, (std::vector<int>{2, 3}));
    EXPECT_EQ(apply({0, 1, 2}).particles, (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(apply({3, 0}).particles, (std::vector<int>{0, 3}));
    EXPECT_EQ(apply({}).particles, (std::vector<int>{}));
    EXPECT_FALSE(apply({0, 1, 2, 3}).moving());
}

// No particle lies on landmark 1 or 2, and none between held ones alone: the nearest is taken.
TEST(ResampleRollout, AHeldLandmarkWithoutAParticleTakesTheNearestAlong)
{
    SmallCase small;
    const Resampler resampler(small.landmarks, small.particles);
    small.rollout.handles.particles = {1};
    EXPECT_EQ(resampler.apply(small.rollout, 0.04).handles.particles, (std::vector<int>{2}));
    // (0, 1) is as far from (0.25, 0.25) as 0.79 m, and 1 m from (0, 0).
    small.rollout.handles.particles = {2};
    EXPECT_EQ(resampler.apply(small.rollout, 0.04).handles.particles, (std::vector<int>{1}));
    EXPECT_EQ(resampler.leaning_on({2}), (std::vector<int>{1}));  // not 2: there its weight is zero
    EXPECT_EQ(resampler.leaning_on({1}), (std::vector<int>{1, 2}));
}

TEST(ResampleRollout, PinsOfAGridAreThoseBetweenPins)
{
    // With half the spacing every particle is on a landmark or in the middle of an edge between
    // two. Of the two pins, side by side, both and the middle between them are held.
    Rollout rollout;
    rollout.handles.particles = {12, 13};  // row 2, columns 2 and 3 of 5 x 5
    const Resampler resampler(grid(5, 5, 4, 4), grid(9, 9, 4, 4));
    const int middle = 4 * 9 + 4;
    EXPECT_EQ(resampler.apply(rollout, 0.04).handles.particles,
              (std::vector<int>{middle, middle + 1, middle + 2}));
}

// Landmark 1 is held and moves; particle 2, half a metre beside it, is attached at the distance of
// the first frame. What is seen of free landmarks later changes nothing.
TEST(ResampleRollout, AttachedParticlesFollowHeldLandmarksAlone)
{
    SmallCase small;
    Rollout& rollout = small.rollout;
    rollout.handles = {{1}, {0, 0.03, 0.08}, {{1, 2, 3}, {1, 4, 3}, {0, 0, 0}}};
    const Resampler resampler(small.landmarks, small.particles);
    const Rollout found = resampler.apply(rollout, 0.04);
    EXPECT_EQ(found.handles.particles, (std::vector<int>{2}));
    EXPECT_EQ(found.handles.key_time, rollout.handles.key_time);
    const Vec3d first = found.state(0, 0.04).position[2];
    for (const double time : {0.0, 0.02, 0.05, 0.08}) {
        const Vec3d path = rollout.handles.position(0, time) - rollout.handles.position(0, 0);
        EXPECT_LT(length(found.handles.position(0, time) - (first + path)), 1e-12) << time;
    }
    for (std::size_t i = 12; i < rollout.position.size(); ++i) rollout.position[i] += 1;
    const Rollout other = resampler.apply(rollout, 0.04);
    for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_EQ(length(other.handles.key_position[k] - found.handles.key_position[k]), 0);
    }
}

TEST(ResampleRollout, ParticlesBetweenMovingHandlesFollowTheWeightedPaths)
{
    SmallCase small;
    small.rollout.handles = {{0, 1}, {0, 0.05}, {{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {1, 0, 4}}};
    const Handles handles =
        Resampler(small.landmarks, small.particles).apply(small.rollout, 0.04).handles;
    EXPECT_EQ(handles.particles, (std::vector<int>{2, 3}));
    EXPECT_EQ(length(handles.position(0, 0.05) - Vec3d{0.5, 1, 2}), 0);  // the middle
    EXPECT_EQ(length(handles.position(1, 0.05) - Vec3d{0, 2, 0}), 0);    // landmark 0 itself
}

// ---- Ropes ----

constexpr double kRopeLength = 0.84;

// Two points close together at either end, as those of a rope that is held there.
Points rope_landmarks()
{
    Points points;
    for (const double u : {0.0, 0.02, 0.12, 0.22, 0.32, 0.42, 0.52, 0.62, 0.72, 0.82, 0.84})
        points.push_back({u, 0.01});
    return points;
}

Points rope_particles(int count)
{
    return grid_points({kRopeLength, 0.02, 0.1}, {1, count});
}

// Any cubic along the rope is reproduced, in any order of the landmarks.
TEST(ResampleRollout, ACubicAlongARopeIsReproduced)
{
    Points landmarks = rope_landmarks();
    std::swap(landmarks[1], landmarks[7]);
    const Points particles = rope_particles(29);
    const Resampler resampler(landmarks, particles);
    const auto cubic = [](double u) { return 1 + u * (2 - u * (3 - 4 * u)); };
    for (std::size_t p = 0; p < particles.size(); ++p) {
        double value = 0, sum = 0;
        for (std::size_t j = 0; j < 4; ++j) {
            const double weight = resampler.weights()[p].weight[j];
            value += weight * cubic(landmarks[resampler.weights()[p].landmark[j]].u);
            sum += weight;
        }
        EXPECT_NEAR(value, cubic(particles[p].u), 1e-13);
        EXPECT_NEAR(sum, 1, 1e-13);
    }
    EXPECT_FALSE(resampler.exact());
    EXPECT_TRUE(Resampler(rope_particles(12), rope_particles(12)).exact());
}

TEST(ResampleRollout, BeyondTheEndsARopeGoesStraightOn)
{
    const Resampler resampler({{1, 0}, {2, 0}, {4, 0}, {5, 0}}, {{0.5, 0}, {6, 0}});
    EXPECT_NEAR(resampler.weights()[0].weight[0], 1.5, 1e-14);
    EXPECT_NEAR(resampler.weights()[0].weight[1], -0.5, 1e-14);
    EXPECT_NEAR(resampler.weights()[1].weight[0], -1, 1e-14);
    EXPECT_NEAR(resampler.weights()[1].weight[1], 2, 1e-14);
}

// Held in pairs, 2 cm apart. With 1 cm between particles three lie on or between a pair.
// With 7 cm only the end lies on a landmark, and the other landmark of the pair takes the end for
// its nearest. With 2.8 cm the nearest is particle 1; it lies 1.4 distances of the pair from the
// end, on the line through both.
TEST(ResampleRollout, TheHeldEndsOfARopeTellItsDirection)
{
    const Points landmarks = rope_landmarks();
    const auto handles = [&](int count, Handles held) {
        Rollout rollout;
        rollout.frame_count = 1;
        for (std::size_t i = 0; i < 3 * landmarks.size(); ++i) rollout.position.push_back(0);
        for (std::size_t i = 0; i < landmarks.size(); ++i)
            rollout.position[3 * i] = float(landmarks[i].u);
        rollout.handles = std::move(held);
        return Resampler(landmarks, rope_particles(count)).apply(rollout, 0.01).handles;
    };
    const std::vector<int> pairs{0, 1, 9, 10};
    EXPECT_EQ(handles(85, {pairs, {}, {}}).particles, (std::vector<int>{0, 1, 2, 82, 83, 84}));
    EXPECT_EQ(handles(13, {pairs, {}, {}}).particles, (std::vector<int>{0, 12}));
    EXPECT_EQ(handles(31, {pairs, {}, {}}).particles, (std::vector<int>{0, 1, 29, 30}));
    // The pair turns from +x to +y.
    const Handles turned =
        handles(31, {{0, 1}, {0, 1}, {{0, 0, 0}, {0.02, 0, 0}, {0, 0, 0}, {0, 0.02, 0}}});
    EXPECT_EQ(turned.particles, (std::vector<int>{0, 1}));
    EXPECT_LT(length(turned.position(1, 0) - Vec3d{0.028, 0, 0}), 1e-8);  // floats of the rollout
    EXPECT_LT(length(turned.position(1, 1) - Vec3d{0, 0.028, 0}), 1e-8);
}

TEST(ResampleRollout, ARopeOfAnotherLengthKeepsShares)
{
    MotionHeader header;
    header.sheet = {kRopeLength, 0.02, 0.1};
    header.rest = rope_landmarks();
    const auto rope = [](double rope_length, double width) {
        return make_grid_cloth({rope_length, width, 0.1}, {1, 20}, MaterialField::uniform(1),
                               MaterialField::uniform(0));
    };
    const Resampler same(rope(kRopeLength, 0.02), header), other(rope(0.9, 0.05), header);
    for (std::size_t p = 0; p < 20; ++p) {
        EXPECT_EQ(same.weights()[p].landmark, other.weights()[p].landmark);
        for (int j = 0; j < 4; ++j)
            EXPECT_NEAR(same.weights()[p].weight[j], other.weights()[p].weight[j], 1e-12);
    }
}

TEST(ResampleRollout, WhatIsMissingIsSoWhereItCounts)
{
    // Landmark 2 counts for particle 1 alone: its weight in particle 2, on the edge beside, is
    // zero.
    SmallCase small;
    const Rollout whole = Resampler(small.landmarks, small.particles).apply(small.rollout, 0.04);
    for (auto* values : {&small.rollout.position, &small.rollout.acceleration})
        std::fill_n(values->begin() + 12 + 6, 3, std::numeric_limits<float>::quiet_NaN());
    small.rollout.velocity.clear();
    const Rollout found = Resampler(small.landmarks, small.particles).apply(small.rollout, 0.04);
    EXPECT_TRUE(found.velocity.empty());
    for (std::size_t i = 0; i < 36; ++i) {
        const bool lost = i / 3 == 4 + 1;  // frame 1, particle 1
        EXPECT_EQ(std::isnan(found.position[i]), lost);
        EXPECT_EQ(std::isnan(found.acceleration[i]), lost);
        if (!lost) {
            EXPECT_EQ(found.position[i], whole.position[i]);
        }
    }
}

TEST(ResampleRollout, StatesMapAsFramesDo)
{
    const SmallCase small;
    const Resampler resampler(small.landmarks, small.particles);
    const State found = resampler.apply(small.rollout.state(1, 0.04));
    const State expected = resampler.apply(small.rollout, 0.04).state(1, 0.04);
    EXPECT_EQ(found.time, expected.time);
    ASSERT_EQ(found.position.size(), 4u);
    for (std::size_t p = 0; p < 4; ++p) {
        EXPECT_EQ(length(found.position[p] - expected.position[p]), 0);
        EXPECT_EQ(length(found.velocity[p] - expected.velocity[p]), 0);
    }
}

TEST(ResampleRollout, RolloutsMustFitTheLandmarks)
{
    const SmallCase small;
    const Resampler resampler(small.landmarks, small.particles);
    const auto text = [&](const Rollout& rollout, double interval) -> std::string {
        try {
            resampler.apply(rollout, interval);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(text(small.rollout, 0.04), "");
    Rollout rollout = small.rollout;
    rollout.velocity.pop_back();
    EXPECT_EQ(text(rollout, 0.04),
              "resample: 35 velocity numbers, but 3 frames of 4 landmarks need 36; use the motion "
              "these landmarks belong to");
    rollout = small.rollout;
    rollout.frame_count = 2;
    EXPECT_EQ(text(rollout, 0.04),
              "resample: 36 position numbers, but 2 frames of 4 landmarks need 24; use the motion "
              "these landmarks belong to");
    rollout = small.rollout;
    rollout.acceleration.resize(1);
    EXPECT_EQ(text(rollout, 0.04),
              "resample: 1 acceleration numbers, but 3 frames of 4 landmarks need 36; use the "
              "motion these landmarks belong to");
    rollout = small.rollout;
    rollout.handles.particles = {4};
    EXPECT_EQ(text(rollout, 0.04), "resample: handle on particle 4, but the cloth has 0 to 3");
    EXPECT_EQ(text(small.rollout, 0),
              "resample: frames 0 s apart; the interval must be finite and positive");
}

TEST(ResampleRollout, IsExactOnlyWhereAllParticlesAreLandmarks)
{
    const auto points = [](int rows, int cols) { return grid_points({3, 2, 1}, {rows, cols}); };
    EXPECT_TRUE(Resampler(points(5, 5), points(5, 5)).exact());
    EXPECT_TRUE(Resampler(points(5, 5), points(3, 3)).exact());  // every second one
    EXPECT_FALSE(Resampler(points(5, 5), points(4, 5)).exact());
    EXPECT_FALSE(Resampler(points(5, 5), points(9, 9)).exact());
}

}  // namespace

}  // namespace springtime
