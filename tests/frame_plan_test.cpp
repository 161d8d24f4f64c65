#include "data/frame_plan.h"

#include <gtest/gtest.h>

#include <cmath>

#include "error_of.h"

namespace springtime {
namespace {

FrameStamps stamps_at(std::vector<double> time)
{
    const std::size_t count = time.size();
    return {std::move(time), std::vector<bool>(count, false), std::vector<bool>(count, false)};
}

std::vector<double> even(std::size_t count, double interval)
{
    std::vector<double> time;
    for (std::size_t i = 0; i < count; ++i) time.push_back(double(i) * interval);
    return time;
}

TEST(FramePlan, EvenFramesStay)
{
    const FramePlan plan = plan_frames(stamps_at(even(100, 1.0 / 30)), 0, "test");
    EXPECT_NEAR(plan.interval, 1.0 / 30, 1e-12);
    EXPECT_EQ(plan.frame_count, 100u);
    EXPECT_FALSE(plan.resampled);
    EXPECT_EQ(plan.lost + plan.duplicates, 0u);
}

// 0, 0.017, 0.033, 0.05: off by up to 3 % of a frame, but not uneven.
TEST(FramePlan, StampsRoundedToMillisecondsAreEven)
{
    std::vector<double> time = even(601, 1.0 / 60);
    for (double& t : time) t = std::round(1000 * t) / 1000;
    const FramePlan plan = plan_frames(stamps_at(time), 0, "test");
    EXPECT_FALSE(plan.resampled);
    EXPECT_NEAR(plan.interval, 1.0 / 60, 1e-9);  // 10 s in 600 intervals
    EXPECT_EQ(plan.frame_count, 601u);
}

TEST(FramePlan, LostFramesAreCounted)
{
    std::vector<double> time = even(50, 0.02);
    time.erase(time.begin() + 10, time.begin() + 13);
    const FramePlan plan = plan_frames(stamps_at(time), 0, "test");
    EXPECT_NEAR(plan.interval, 0.02, 1e-12);
    EXPECT_EQ(plan.frame_count, 50u);
    EXPECT_EQ(plan.lost, 3u);
    EXPECT_FALSE(plan.resampled);
}

TEST(FramePlan, RepeatsAndTimesThatStandStillAreDropped)
{
    FrameStamps stamps = stamps_at({0, 0.1, 0.1, 0.2, 0.3, 0.25, 0.4});
    stamps.repeated[3] = true;
    const FramePlan plan = plan_frames(stamps, 0.1, "test");
    EXPECT_EQ(plan.kept, (std::vector<bool>{true, true, false, false, true, false, true}));
    EXPECT_EQ(plan.duplicates, 1u);
    EXPECT_EQ(plan.backward, 2u);
    EXPECT_EQ(plan.lost, 1u);  // what was at 0.2 s
}

TEST(FramePlan, ClothAtRestIsNoRepetition)
{
    FrameStamps stamps = stamps_at(even(30, 0.1));
    for (std::size_t i = 20; i < 30; ++i) stamps.repeated[i] = true;  // a second
    stamps.repeated[5] = true;
    const FramePlan plan = plan_frames(stamps, 0, "test");
    EXPECT_EQ(plan.duplicates, 1u);
    EXPECT_FALSE(plan.kept[5]);
    EXPECT_TRUE(plan.kept[29]);
}

TEST(FramePlan, UnevenTimesAreResampled)
{
    std::vector<double> time = even(100, 0.02);
    for (std::size_t i = 0; i < time.size(); ++i) time[i] += 0.003 * std::sin(double(i * i));
    const FramePlan plan = plan_frames(stamps_at(time), 0.02, "test");
    EXPECT_TRUE(plan.resampled);
    EXPECT_GT(plan.jitter, 0.1);
    EXPECT_LE(plan.start + double(plan.frame_count - 1) * plan.interval, time.back() + 1e-6);
}

TEST(FramePlan, AnotherRateIsResampled)
{
    const FramePlan plan = plan_frames(stamps_at(even(101, 0.01)), 1.0 / 60, "test");
    EXPECT_TRUE(plan.resampled);
    EXPECT_EQ(plan.frame_count, 61u);
}

TEST(FramePlan, EmptyEndsAreTrimmed)
{
    FrameStamps stamps = stamps_at(even(20, 0.1));
    for (const std::size_t i : {0, 1, 7, 19}) stamps.empty[i] = true;
    const FramePlan plan = plan_frames(stamps, 0, "test");
    EXPECT_EQ(plan.trimmed, 3u);
    EXPECT_NEAR(plan.start, 0.2, 1e-12);
    EXPECT_EQ(plan.frame_count, 17u);
    EXPECT_TRUE(plan.kept[7]);
}

TEST(FramePlan, TimesThatCannotBeAreRefused)
{
    std::vector<double> reset = even(40, 0.1);
    for (std::size_t i = 20; i < 40; ++i) reset[i] -= 2.05;
    EXPECT_NE(error_of([&] {
                  plan_frames(stamps_at(reset), 0, "a.csv");
              }).find("time does not go on in 20 of 40 frames, first from 1.9"),
              std::string::npos);
    std::vector<double> glitch = even(40, 0.1);
    glitch.back() = 1000;
    EXPECT_NE(error_of([&] { plan_frames(stamps_at(glitch), 0, "a.csv"); }).find("would be absent"),
              std::string::npos);
    EXPECT_NE(error_of([&] {
                  plan_frames(stamps_at(even(40, 33)), 0, "a.csv");
              }).find("are they in milliseconds?"),
              std::string::npos);
}

TEST(FramePlan, TooFewFramesAreRefused)
{
    EXPECT_EQ(error_of([] { plan_frames(stamps_at({0}), 0, "a.csv"); }),
              "a.csv: 1 frame only; motion needs at least 3");
    FrameStamps still = stamps_at({0, 0.01, 0.02, 0.03});
    still.repeated = {false, true, true, true};
    EXPECT_NE(error_of([&] { plan_frames(still, 0, "a.csv"); }).find("3 of 4 frames repeat"),
              std::string::npos);
}

}  // namespace
}  // namespace springtime
