// Motion that was observed: single takes, grids of landmarks, held points that carry noise.
#include "springtime/motion.h"

#include <gtest/gtest.h>

#include "error_of.h"
#include "motions.h"

namespace springtime {

namespace {

// Landmark l of frame f is at (100 f + l, f, l).
Rollout counted(std::size_t frames, std::size_t landmarks)
{
    Rollout rollout;
    for (; rollout.frame_count < frames; ++rollout.frame_count) {
        for (std::size_t l = 0; l < landmarks; ++l) {
            const double f = double(rollout.frame_count);
            append_vectors(rollout.position, {{100 * f + double(l), f, double(l)}});
        }
    }
    return rollout;
}

MotionHeader header_at(double frame_interval, std::size_t landmarks)
{
    MotionHeader header;
    header.dt = frame_interval / 16;
    header.stride = 16;
    header.velocities = false;
    header.captured = true;
    header.rest.resize(landmarks);
    return header;
}

TEST(Pieces, ShareOutAllFramesInOrder)
{
    const Motion take = motion_of(header_at(0.02, 2), {counted(23, 2)});
    for (const std::size_t count : {2u, 3u, 5u}) {
        const Motion pieces = cut_into_segments(take, count);
        ASSERT_EQ(pieces.frame_counts.size(), count);
        std::vector<float> all;
        for (std::size_t p = 0; p < count; ++p) {
            EXPECT_LE(pieces.frame_counts[p], 23 / count + 1);
            const Rollout piece = pieces.read(p, 0, pieces.frame_counts[p]);
            all.insert(all.end(), piece.position.begin(), piece.position.end());
        }
        EXPECT_EQ(all, counted(23, 2).position);
        // A part of a piece lies where it does in the take.
        EXPECT_EQ(pieces.read(1, 2, 1).position[0], 100 * float(23 / count + 2));
    }
    EXPECT_NE(error_of([&] { cut_into_segments(take, 12); }).find("23 frames"), std::string::npos);
}

TEST(Pieces, OfSeveralRolloutsAreThoseOfEach)
{
    const Motion takes =
        motion_of(header_at(0.02, 1), {counted(8, 1), counted(5, 1), counted(4, 1)});
    const Motion pieces = cut_into_segments(takes, 2);
    EXPECT_EQ(pieces.frame_counts, (std::vector<std::size_t>{4, 4, 2, 3, 2, 2}));
    for (const auto& [piece, first] : {std::pair(1, 4), {2, 0}, {3, 2}, {5, 2}}) {
        EXPECT_EQ(pieces.read(piece, 1, 1).position[0], 100 * float(first + 1));
    }
    EXPECT_NE(error_of([&] { cut_into_segments(takes, 3); }).find("5 frames"), std::string::npos);
}

TEST(Pieces, OfSeveralRolloutsMakeFiveOrMore)
{
    const auto pieces = [](std::size_t rollouts, std::size_t shortest) {
        std::vector<Rollout> takes(rollouts, counted(1000, 1));
        takes.back() = counted(shortest, 1);
        return segment_count(motion_of(header_at(1.0 / 30, 1), takes));
    };
    EXPECT_EQ(pieces(2, 1000), 3u);
    EXPECT_EQ(pieces(3, 1000), 2u);
    EXPECT_EQ(pieces(4, 1000), 2u);
    EXPECT_EQ(pieces(5, 1000), 1u);
    EXPECT_EQ(pieces(9, 1000), 1u);
    EXPECT_EQ(pieces(2, 2 * 31), 2u);  // a second each
    EXPECT_EQ(pieces(2, 2 * 31 - 1), 1u);
    EXPECT_EQ(pieces(2, 10), 1u);
}

TEST(Pieces, LeaveHalfASecondInEach)
{
    const auto pieces = [](std::size_t frames, double interval) {
        return segment_count(motion_of(header_at(interval, 1), {counted(frames, 1)}));
    };
    // Half a second at 30 fps is 15 intervals, 16 frames.
    EXPECT_EQ(pieces(20, 1.0 / 30), 2u);
    EXPECT_EQ(pieces(3 * 16 - 1, 1.0 / 30), 2u);
    EXPECT_EQ(pieces(3 * 16, 1.0 / 30), 3u);
    EXPECT_EQ(pieces(5 * 16, 1.0 / 30), 5u);
    EXPECT_EQ(pieces(1000, 1.0 / 30), 5u);
}

std::vector<SheetPoint> grid_points(int rows, int cols, double du, double dv)
{
    std::vector<SheetPoint> points;
    for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < cols; ++c) points.push_back({0.01 + du * c, 0.02 + dv * r});
    }
    return points;
}

TEST(RegularGrid, IsToldByRestPointsInRows)
{
    auto points = grid_points(4, 6, 0.05, 0.03);
    const auto grid = regular_grid(points);
    ASSERT_TRUE(grid);
    EXPECT_EQ(grid->rows, 4);
    EXPECT_EQ(grid->cols, 6);
    std::swap(points[3], points[4]);
    EXPECT_FALSE(regular_grid(points));
    points = grid_points(4, 6, 0.05, 0.03);
    points.pop_back();
    EXPECT_FALSE(regular_grid(points));
    points = grid_points(4, 6, 0.05, 0.03);
    points[9].v += 0.004;
    EXPECT_FALSE(regular_grid(points));
    const auto rope = regular_grid(grid_points(1, 6, 0.05, 0.03));
    ASSERT_TRUE(rope);
    EXPECT_EQ(std::pair(rope->rows, rope->cols), std::pair(1, 6));
    EXPECT_FALSE(regular_grid({}));
}

TEST(FittingGrid, IsThatOfTheLandmarksOrHasAboutAsMany)
{
    MotionHeader header;
    header.sheet = {0.4, 0.1, 0.02};
    const auto sides = [&] {
        const Grid grid = fitting_grid(header);
        return std::pair(grid.rows, grid.cols);
    };
    header.rest = grid_points(5, 9, 0.04, 0.02);
    EXPECT_EQ(sides(), std::pair(5, 9));
    header.rest[7].u += 0.01;  // 45 landmarks on 4 : 1 are 13.4 x 3.4
    EXPECT_EQ(sides(), std::pair(4, 13));
    header.rest = grid_points(70, 70, 1, 1);  // too many: 140 x 35, cut off
    EXPECT_EQ(sides(), std::pair(32, 32));
    header.rest = {{0, 0}, {0.4, 0}, {0.1, 0.1}};  // too few
    EXPECT_EQ(sides(), std::pair(4, 4));
    header.rest = grid_points(1, 3, 0.2, 0);  // a rope
    EXPECT_EQ(sides(), std::pair(1, 3));
}

// ---- What holds the sheet ----

TEST(RolloutState, PutsAPinAtTheMeanOfWhereItWasSeen)
{
    Rollout rollout = counted(4, 2);
    rollout.handles.particles = {1};
    rollout.position[3 * (2 * 2 + 1)] = rollout.position[3 * (2 * 2 + 1) + 1] =
        rollout.position[3 * (2 * 2 + 1) + 2] = NAN;  // frame 2 does not show it
    const State state = rollout.state(3, 0.1);
    EXPECT_DOUBLE_EQ(state.position[1].x, (1 + 101 + 301) / 3.0);
    EXPECT_DOUBLE_EQ(state.position[1].y, (0 + 1 + 3) / 3.0);
    EXPECT_EQ(length(state.velocity[1]), 0);
    EXPECT_NEAR(state.position[0].x, 300, 1e-12);  // a free one is estimated
}

TEST(Resample, HandlesFollowTheirKeysWhereverTheyWereSeen)
{
    // The middle of three landmarks in a row and one beside them is carried along x at 1 m/s;
    // seen 1 cm off, and not at all in one frame.
    const std::vector<SheetPoint> rest{{0, 0}, {0.1, 0}, {0.2, 0}, {0.1, 0.1}};
    const double interval = 0.125;
    Rollout rollout;
    for (; rollout.frame_count < 5; ++rollout.frame_count) {
        const double t = interval * double(rollout.frame_count);
        append_vectors(rollout.position, {{0, 0, 0}, {t, 0.01, 0}, {0.2, 0, 0}, {0.1, 0, 0.1}});
    }
    std::fill_n(rollout.position.begin() + 3 * (2 * 4 + 1), 3, NAN);
    rollout.handles = {{1}, {0, 0.5}, {{0, 0, 0}, {0.5, 0, 0}}};
    const Resampler same(rest, rest);
    const Rollout result = same.apply(rollout, interval);
    ASSERT_EQ(result.handles.particles, std::vector<int>{1});
    for (const double t : {0.0, 0.125, 0.25, 0.3125, 0.5}) {
        EXPECT_EQ(result.handles.position(0, t).x, t);  // powers of two: no rounding
        EXPECT_EQ(result.handles.position(0, t).y, 0);
    }
    // Targets stay what was seen.
    EXPECT_EQ(result.position[3 * (1 * 4 + 1) + 1], 0.01f);
    EXPECT_TRUE(std::isnan(result.position[3 * (2 * 4 + 1)]));
    // The nearest particle is taken along, whatever is seen of the free landmark beside it.
    const Resampler between(rest, {{0.05, 0}, {0.2, 0.1}});
    const Rollout beside = between.apply(rollout, interval);
    ASSERT_EQ(beside.handles.particles, std::vector<int>{0});
    EXPECT_EQ(beside.handles.position(0, 0.25).x - beside.handles.position(0, 0).x, 0.25);
    EXPECT_TRUE(std::isnan(beside.position[3 * 2 * 2]));
}

}  // namespace

}  // namespace springtime
