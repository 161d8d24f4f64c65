#include "capture/frame_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
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
    // Rounding moves three frames by 0, 1/3 and -1/3 ms, which changes the slope of a line through
    // n of them by sum (n_i d_i) / (n^3/12) = (n/3) (1/3 ms) / (n^3/12), 4e-9 s.
    EXPECT_NEAR(plan.interval, 1.0 / 60, 1e-8);
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

// 1 s at 100 frames a second: at the rate r it has r + 1, and none is lost, whether r is a multiple
// of 100, a part of it or neither.
TEST(FramePlan, AnotherRateIsResampled)
{
    for (const int rate : {20, 50, 60, 99, 101, 200, 500}) {
        const FramePlan plan = plan_frames(stamps_at(even(101, 0.01)), 1.0 / rate, "test");
        EXPECT_TRUE(plan.resampled && plan.another_rate) << rate;
        EXPECT_FALSE(plan.uneven) << rate;
        EXPECT_NEAR(plan.file_interval, 0.01, 1e-12);
        EXPECT_EQ(plan.frame_count, std::size_t(rate + 1));
        EXPECT_EQ(plan.lost, 0u) << rate;
    }
}

TEST(FramePlan, TheRateOfTheFileKeepsItsFrames)
{
    std::vector<double> rounded = even(601, 1.0 / 60);
    for (double& t : rounded) t = std::round(1000 * t) / 1000;
    EXPECT_FALSE(plan_frames(stamps_at(rounded), 1.0 / 60, "test").resampled);
    std::vector<double> holes = even(101, 0.01);
    holes.erase(holes.begin() + 30, holes.begin() + 40);
    const FramePlan plan = plan_frames(stamps_at(holes), 0.01, "test");
    EXPECT_FALSE(plan.resampled);
    EXPECT_EQ(plan.lost, 10u);
}

// Ten of 100 frames a second are lost, from 0.30 s to 0.39 s. What is made between 0.29 s and
// 0.40 s is lost, too: at 200 a second 0.295 s to 0.395 s, at 50 0.30 s to 0.38 s.
TEST(FramePlan, ResampledGapsAreCountedAsTheyAreWritten)
{
    std::vector<double> time = even(101, 0.01);
    time.erase(time.begin() + 30, time.begin() + 40);
    EXPECT_EQ(plan_frames(stamps_at(time), 1.0 / 200, "test").lost, 21u);
    EXPECT_EQ(plan_frames(stamps_at(time), 1.0 / 50, "test").lost, 5u);
    // Seconds since 1970 in a double are rounded to 2.4e-7 s, 2.4e-5 frames.
    for (double& t : time) t = (t + 1.7e9) - 1.7e9;
    EXPECT_EQ(plan_frames(stamps_at(time), 1.0 / 200, "test").lost, 21u);
}

// With stamps in milliseconds a step is 16 ms or 17 ms, by neither of which 100 lost frames can be
// counted. Nor are first and last stamp exact.
TEST(FramePlan, ALongGapOfRoundedStampsIsCounted)
{
    std::vector<double> time = even(401, 1.0 / 60);
    for (double& t : time) t = std::round(1000 * (t + 5.0 / 60)) / 1000;
    time.erase(time.begin() + 200, time.begin() + 300);
    const FramePlan plan = plan_frames(stamps_at(time), 0, "test");
    EXPECT_FALSE(plan.resampled);
    EXPECT_EQ(plan.lost, 100u);
    EXPECT_EQ(plan.frame_count, 401u);
}

// Frames that are counted by a rate have that rate, whatever numbers are left out.
TEST(FramePlan, CountedFramesAreNotResampledToTheirOwnRate)
{
    FrameStamps stamps = stamps_at({0, 0.02, 0.04, 0.06, 0.08});
    stamps.interval = 0.01;
    const FramePlan plan = plan_frames(stamps, 0.01, "test");
    EXPECT_FALSE(plan.resampled);
    EXPECT_EQ(plan.lost, 4u);
    EXPECT_EQ(plan_frames(stamps, 0.02, "test").frame_count, 5u);
    stamps.time.back() = 1e7;
    EXPECT_NE(error_of([&] {
                  plan_frames(stamps, 0.01, "a");
              }).find("the number goes from 6 to 1000000000 (from the first)"),
              std::string::npos);
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
    EXPECT_EQ(error_of([&] { plan_frames(stamps_at(std::vector<double>(40, 2.5)), 0, "a.csv"); }),
              "a.csv: time stands still at 2.5 s; remove that column and give `frame_rate`, or "
              "correct the "
              "stamps");
    std::vector<double> reversed = even(40, 0.1);
    std::reverse(reversed.begin(), reversed.end());
    EXPECT_EQ(error_of([&] { plan_frames(stamps_at(reversed), 0, "a.csv"); }),
              "a.csv: time runs backwards throughout, from 3.9000000000000004 s to 0 s; sort the "
              "frames by time");
    std::vector<double> glitch = even(40, 0.1);
    glitch.back() = 1000;
    EXPECT_NE(error_of([&] { plan_frames(stamps_at(glitch), 0, "a.csv"); }).find("would be absent"),
              std::string::npos);
    EXPECT_NE(error_of([&] {
                  plan_frames(stamps_at(even(40, 33)), 0, "a.csv");
              }).find("are they in milliseconds?"),
              std::string::npos);
    // Neither can 30 frames a second be made of one in 33 s, nor motion of two frames.
    EXPECT_NE(error_of([&] {
                  plan_frames(stamps_at(even(40, 33)), 1.0 / 30, "a.csv");
              }).find("are they in milliseconds?"),
              std::string::npos);
    EXPECT_EQ(plan_frames(stamps_at(even(40, 33)), 33, "a.csv").frame_count, 40u);
    EXPECT_EQ(error_of([&] { plan_frames(stamps_at(even(101, 0.01)), 1, "a.csv"); }),
              "a.csv: 1 s at 1 frames per second are 2; motion needs at least 3");
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
