#include "springtime/simulation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "cloths.h"
#include "springtime/generate.h"

namespace springtime {

namespace {

State moving_state(double time, const std::vector<Vec3d>& velocity)
{
    return {time, std::vector<Vec3d>(velocity.size()), velocity};
}

// One free particle under drag alone: v_n = v_0 (1 - c h)^n.
constexpr double kDrag = 2, kStep = 1e-3, kSpeed = 3;

Simulation drifting()
{
    const Cloth cloth = chain_cloth(1, 1, 0.1, 0, 0);
    return Simulation(cloth, {0, {{0, 0, 0}}, {{kSpeed, 0, 0}}}, {},
                      {kStep, {{}, kDrag, {}}, Device::reference});
}

TEST(Speeds, AreTheRootMeanSquareAndTheLargest)
{
    const Speeds speeds = speeds_of(moving_state(0, {{3, 0, 0}, {0, 4, 0}, {0, 0, 0}}));
    EXPECT_DOUBLE_EQ(speeds.rms, std::sqrt(25.0 / 3));
    EXPECT_DOUBLE_EQ(speeds.largest, 4);
}

TEST(RestWatch, AsksForAStretchOfSlowMotion)
{
    RestWatch watch({0.1, 0.5});
    const std::vector<Vec3d> slow{{0.09, 0, 0}}, quick{{0.11, 0, 0}};
    EXPECT_FALSE(watch.settled(moving_state(0, slow)));
    EXPECT_FALSE(watch.settled(moving_state(0.25, slow)));
    EXPECT_FALSE(watch.settled(moving_state(0.375, quick)));  // a turning point is no rest
    EXPECT_FALSE(watch.settled(moving_state(0.5, slow)));
    EXPECT_FALSE(watch.settled(moving_state(0.875, slow)));
    EXPECT_TRUE(watch.settled(moving_state(1.0, slow)));
}

TEST(RestWatch, NeverTakesABlowUpForRest)
{
    RestWatch watch({0.1, 0});
    EXPECT_FALSE(watch.settled(moving_state(0, {{NAN, 0, 0}})));
}

// Slow from the step n on at which v_0 (1 - c h)^n < speed; settled half a second later.
TEST(Settle, StopsWhenTheSpeedHasBeenLowLongEnough)
{
    const RestRule rule{0.02, 0.5};
    Simulation simulation = drifting();
    const Settling settling = settle(simulation, rule, 60, {}, kStep);
    const double n = std::ceil(std::log(rule.speed / kSpeed) / std::log1p(-kDrag * kStep));
    EXPECT_TRUE(settling.settled);
    EXPECT_NEAR(simulation.state().time, n * kStep + rule.seconds, 1.5 * kStep);
    EXPECT_LT(settling.speeds.rms, rule.speed);
}

TEST(Settle, SaysWhenTimeRanOut)
{
    Simulation simulation = drifting();
    const Settling settling = settle(simulation, {0.02, 0.5}, 1);
    EXPECT_FALSE(settling.settled);
    EXPECT_NEAR(simulation.state().time, 1, 1e-9);
    EXPECT_NEAR(settling.speeds.rms, kSpeed * std::pow(1 - kDrag * kStep, 1000), 1e-9);
}

TEST(Settle, KeepsWhatItHasReachedWhenItIsCancelled)
{
    Simulation simulation = drifting();
    std::vector<double> times;
    const Progress progress([&](const ProgressUpdate& update) {
        times.push_back(update.done);
        return times.size() < 3;
    });
    EXPECT_THROW(settle(simulation, {0.02, 0.5}, 60, progress), Cancelled);
    ASSERT_EQ(times.size(), 3u);
    EXPECT_NEAR(simulation.state().time, 3 * 0.05, 1e-12);
    EXPECT_EQ(times.back(), simulation.state().time);
}

TEST(Record, EndsWhenTheClothHasSettled)
{
    Simulation simulation = drifting();
    const Recording recording = record(simulation, 1000, 10, {}, RestRule{0.02, 0.5});
    EXPECT_TRUE(recording.settled);
    // ln(150) / (c h) = 2505 steps, half a second, and the first frame.
    EXPECT_NEAR(double(recording.rollout.frame_count), 250.5 + 50 + 1, 1.5);
    Simulation again = drifting();
    EXPECT_FALSE(record(again, 300, 10, {}).settled);
}

TEST(RestRule, GrowsWithTheSheet)
{
    EXPECT_DOUBLE_EQ(rest_rule({3, 4, 1}).speed, 5e-3);
}

TEST(Settle, WaitsForPathsToEnd)
{
    Obstacle late{"late", {CapsuleShape{{0, 9, 0}, {0, 9, 0}, 1}}};
    late.key_time = {0, 5};
    late.key_pose = {{}, {{0, 1, 0}, {}}};
    SimulationOptions options{kStep, {{}, kDrag, {}}, Device::reference};
    options.obstacles = {late};
    Simulation simulation(chain_cloth(1, 1, 0.1, 0, 0), {0, {{}}, {{}}}, {}, options);
    EXPECT_TRUE(settle(simulation, {0.02, 0.5}, 60).settled);
    EXPECT_NEAR(simulation.state().time, 5.5, 0.051);  // looked at every 0.05 s

    Handles handles{{0}, {0, 2}, {{}, {1, 0, 0}}};
    Simulation led(chain_cloth(1, 1, 0.1, 0, 0), {0, {{}}, {{}}}, handles,
                   {kStep, {{}, kDrag, {}}, Device::reference});
    EXPECT_TRUE(settle(led, {2, 0.5}, 60).settled);  // slow all the way
    EXPECT_NEAR(led.state().time, 2.5, 0.051);
}

}  // namespace

}  // namespace springtime
