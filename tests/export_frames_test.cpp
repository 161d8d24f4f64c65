// Which moments are exported, and what happens where landmarks are missing.
#include <gtest/gtest.h>

#include "exports.h"
#include "formats/exports/frame_stream.h"

namespace springtime {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

std::vector<double> times_of(const FrameSelection& plan)
{
    std::vector<double> times;
    for (std::size_t i = 0; i < plan.count; ++i) times.push_back(plan.time(i));
    return times;
}

void expect_times(const FrameSelection& plan, const std::vector<double>& expected)
{
    const auto times = times_of(plan);
    ASSERT_EQ(times.size(), expected.size());
    for (std::size_t i = 0; i < times.size(); ++i) EXPECT_NEAR(times[i], expected[i], 1e-12);
}

TEST(ExportFrames, TimesOfAPlan)
{
    const double interval = 0.04;  // 25 frames/s, 11 frames: 0 to 0.4 s
    expect_times(select_frames(3, interval, {}, "m"), {0, 0.04, 0.08});
    expect_times(select_frames(11, interval, {12.5, {}, {}}, "m"),
                 {0, 0.08, 0.16, 0.24, 0.32, 0.4});
    expect_times(select_frames(11, interval, {{}, 0.12, 0.2}, "m"), {0.12, 0.16, 0.2});
    expect_times(select_frames(11, interval, {{}, 0.13, 0.19}, "m"), {0.16});
    expect_times(select_frames(11, interval, {10, 0.04, {}}, "m"), {0.04, 0.14, 0.24, 0.34});
    expect_times(select_frames(3, interval, {50, {}, {}}, "m"), {0, 0.02, 0.04, 0.06, 0.08});
    EXPECT_FALSE(select_frames(11, interval, {12.5, {}, {}}, "m").interpolates());
    EXPECT_FALSE(select_frames(11, interval, {25, {}, {}}, "m").interpolates());
    EXPECT_TRUE(select_frames(11, interval, {24, {}, {}}, "m").interpolates());
    EXPECT_TRUE(select_frames(11, interval, {50, {}, {}}, "m").interpolates());
}

// 1/60 s is no finite decimal or binary number: rounding must not turn picking into interpolation.
TEST(ExportFrames, RoundingDoesNotMakeStepsUneven)
{
    const FrameSelection plan = select_frames(601, 1.0 / 60, {20, {}, {}}, "m");
    EXPECT_EQ(plan.step, 3);
    EXPECT_EQ(plan.count, 201u);
    EXPECT_EQ(plan.last_stored(), 600u);
}

TEST(ExportFrames, SenselessChoicesAreErrors)
{
    EXPECT_EQ(field_of([] { select_frames(11, 0.04, {0, {}, {}}, "m"); }), "rate");
    EXPECT_EQ(field_of([] { select_frames(11, 0.04, {{}, -1, {}}, "m"); }), "from");
    EXPECT_EQ(error_of([] {
                  select_frames(11, 0.04, {{}, 0.5, {}}, "m");
              }),
              "m: no frame from 0.5 s until 0.4 s; it has frames from 0 s to 0.4 s, every 0.04 s");
    EXPECT_EQ(error_of([] {
                  select_frames(11, 0.04, {{}, 0.2, 0.1}, "m");
              }),
              "m: no frame from 0.2 s until 0.1 s; it has frames from 0 s to 0.4 s, every 0.04 s");
    EXPECT_EQ(field_of([] { select_frames(11, 0.04, {1e9, {}, {}}, "m"); }), "rate");
}

// A rollout whose landmark l is at (f, l, 10 f) in frame f, read in pieces.
Motion straight_motion(std::size_t frames, std::size_t landmarks)
{
    MotionHeader header = grid_header({2, 2});
    header.rest.resize(landmarks);
    Rollout rollout;
    rollout.frame_count = frames;
    for (std::size_t f = 0; f < frames; ++f) {
        for (std::size_t l = 0; l < landmarks; ++l) {
            rollout.position.insert(rollout.position.end(), {float(f), float(l), 10 * float(f)});
        }
    }
    rollout.velocity = rollout.position;
    return motion_of(header, {rollout});
}

// What is linear in time is met by linear interpolation; all numbers here are exact in float.
TEST(ExportFrames, BetweenFramesPositionsAreLinear)
{
    const Motion motion = straight_motion(9, 4);
    const FrameSelection plan = select_frames(9, 0.02, {80, {}, {}}, "m");  // 0.625 frames a step
    EXPECT_EQ(plan.step, 0.625);
    FrameStream stream(motion, 0, plan, nullptr);
    ExportFrame frame;
    std::size_t count = 0;
    for (; stream.next(frame); ++count) {
        for (std::size_t l = 0; l < 4; ++l) {
            EXPECT_EQ(frame.position[3 * l], 0.625f * float(count));
            EXPECT_EQ(frame.position[3 * l + 1], float(l));
            EXPECT_EQ(frame.velocity[3 * l + 2], 6.25f * float(count));
        }
    }
    EXPECT_EQ(count, 13u);  // 8 / 0.625 = 12.8
}

// The pieces of a motion that is read in many join without a seam.
TEST(ExportFrames, PiecesJoin)
{
    const std::size_t landmarks = 40000, frames = 30;
    ASSERT_LT(frames_per_piece(landmarks), frames / 2);
    const Motion motion = straight_motion(frames, landmarks);
    for (const double rate : {50.0, 25.0, 70.0}) {
        const FrameSelection plan = select_frames(frames, 0.02, {rate, {}, {}}, "m");
        FrameStream stream(motion, 0, plan, nullptr);
        ExportFrame frame;
        while (stream.next(frame)) {
            // Two roundings to float of numbers below 300.
            EXPECT_NEAR(frame.position[3 * landmarks - 1], 10 * plan.time(frame.number) / 0.02,
                        4e-5);
        }
    }
}

Rollout gappy_rollout()
{
    Rollout rollout;
    rollout.frame_count = 6;
    // x of the two landmarks, frame by frame; y and z are twice and three times that.
    for (const float x : {kNone, 1.f, 2.f, kNone, kNone, 8.f,  //
                          4.f, 1.f, kNone, kNone, kNone, kNone}) {
        rollout.position.insert(rollout.position.end(), {x, 2 * x, 3 * x});
    }
    std::vector<float> by_frame;
    for (std::size_t f = 0; f < 6; ++f) {
        for (std::size_t l = 0; l < 2; ++l) {
            for (std::size_t axis = 0; axis < 3; ++axis) {
                by_frame.push_back(rollout.position[3 * (6 * l + f) + axis]);
            }
        }
    }
    rollout.position = by_frame;
    return rollout;
}

TEST(ExportFrames, GapsAreFilledOnStraightLines)
{
    MotionHeader header = grid_header({2, 2});
    header.rest.resize(2);
    header.gaps = true;
    header.velocities = false;
    const Rollout rollout = gappy_rollout();
    Motion motion{header, {6}, [&](std::size_t, std::size_t first, std::size_t count) {
                      Rollout part;
                      part.frame_count = count;
                      part.position.assign(rollout.position.begin() + long(first) * 6,
                                           rollout.position.begin() + long(first + count) * 6);
                      return part;
                  }};
    const GapTable gaps(motion, 0);
    EXPECT_EQ(gaps.missing(0, 5), 7u);
    EXPECT_EQ(gaps.missing(3, 3), 2u);
    EXPECT_EQ(gaps.missing(1, 1), 0u);
    EXPECT_EQ(gaps.first_missing(0).frame, 0u);
    EXPECT_EQ(gaps.first_missing(0).landmark, 0u);
    EXPECT_FALSE(gaps.never_seen());
    // From 2 to 8 in three frames; where one side is unknown it stays.
    const std::vector<float> first{1, 1, 2, 4, 6, 8}, second{4, 1, 1, 1, 1, 1};
    for (const std::size_t from : {0u, 3u, 4u}) {
        FrameSelection plan = select_frames(6, 0.02, {{}, 0.02 * double(from), {}}, "m");
        FrameStream stream(motion, 0, plan, &gaps);
        ExportFrame frame;
        while (stream.next(frame)) {
            for (int axis = 0; axis < 3; ++axis) {
                EXPECT_EQ(frame.position[axis], float(axis + 1) * first[from + frame.number]);
                EXPECT_EQ(frame.position[3 + axis], float(axis + 1) * second[from + frame.number]);
            }
        }
    }
}

TEST(ExportFrames, FormatsWithoutGapsSaySo)
{
    const TempFolder folder;
    MotionHeader header = grid_header({3, 4});
    header.gaps = true;
    Rollout rollout = random_rollout(5, 12);
    hide(rollout, 2, 7);
    hide(rollout, 3, 7);
    MotionExport options = export_to(ExportFormat::usda, folder / "m.usda");
    EXPECT_EQ(error_of([&] { export_motion(motion_of(header, {rollout}), options); }),
              "motion: rollout 0: landmarks are missing at 2 places, first landmark 7 in frame 2; "
              "usda cannot leave a landmark out: export csv or npz, or give `fill` to draw them on "
              "straight lines");
    options.fill = true;
    const ExportReport report = export_motion(motion_of(header, {rollout}), options);
    EXPECT_EQ(report.filled, 2u);
    EXPECT_EQ(report.remarks.back(),
              "landmarks were missing at 2 places and are drawn on straight lines in time");
    for (std::size_t f = 0; f < 5; ++f) hide(rollout, f, 3);
    options.overwrite = true;
    EXPECT_EQ(error_of([&] { export_motion(motion_of(header, {rollout}), options); }),
              "motion: rollout 0: landmark 3 is in no frame, so it cannot be drawn; export csv or "
              "npz, which leave it out, or import the motion without it");
}

TEST(ExportFrames, GapsOutsideTheChosenTimeDoNoHarm)
{
    const TempFolder folder;
    MotionHeader header = grid_header({3, 4});
    header.gaps = true;
    Rollout rollout = random_rollout(5, 12);
    hide(rollout, 4, 7);
    MotionExport options = export_to(ExportFormat::pc2, folder / "m.pc2");
    options.until = 0.06;
    EXPECT_EQ(export_motion(motion_of(header, {rollout}), options).frame_count, 4u);
}

TEST(ExportFrames, InterpolationIsSaid)
{
    const TempFolder folder;
    MotionExport options = export_to(ExportFormat::csv, folder / "m.csv");
    options.rate = 24;
    EXPECT_EQ(export_motion(small_motion(), options).remarks,
              std::vector<std::string>{"24 frames/s do not divide the stored 50: positions "
                                       "are interpolated linearly between stored frames"});
}

}  // namespace
}  // namespace springtime
