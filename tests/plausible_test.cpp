#include "capture/plausible.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "capture/outliers.h"

namespace springtime {
namespace {

// A grid that hangs in waves: isometric along rows, to a per cent.
PointFrame wavy(const ListedGrid& listed, double phase, double spacing = 0.02)
{
    PointFrame frame(std::size_t(listed.grid.rows * listed.grid.cols));
    for (int r = 0; r < listed.grid.rows; ++r) {
        for (int c = 0; c < listed.grid.cols; ++c) {
            frame[std::size_t(listed.listed(r, c))] = {spacing * c, -spacing * r,
                                                       0.1 * spacing * std::sin(0.7 * r + phase)};
        }
    }
    return frame;
}

std::vector<int> all_points()
{
    std::vector<int> points(60);
    std::iota(points.begin(), points.end(), 0);
    return points;
}

TEST(Plausible, StretchIsTheRatioOfDistances)
{
    const ListedGrid listed{{6, 9}};
    const auto rest = listed_points({0.16, 0.1, 1}, listed);
    const auto links = neighbours_on_sheet(rest);
    // In millimetres: a thousand times as far apart.
    const double stretch = median_stretch({wavy(listed, 0, 20)}, rest, links);
    EXPECT_NEAR(stretch, 1000, 5);
    EXPECT_EQ(torn_share({wavy(listed, 0)}, rest, links), 0);
}

TEST(Plausible, TheRightGridIsFoundAmongAll)
{
    for (const bool column_order : {false, true}) {
        const ListedGrid truth{{6, 10}, column_order};
        const std::vector<PointFrame> frames{wavy(truth, 0), wavy(truth, 1)};
        const auto found = listed_grid(frames, {0.18, 0.1, 1}, 60, all_points());
        ASSERT_TRUE(found);
        EXPECT_EQ(found->grid.rows, 6);
        EXPECT_EQ(found->column_order, column_order);
    }
}

TEST(Plausible, PointsInNoOrderFitNoGrid)
{
    PointFrame frame = wavy({{6, 10}}, 0);
    for (std::size_t i = 0; i < frame.size(); ++i) std::swap(frame[i], frame[(i * 37) % 60]);
    EXPECT_FALSE(listed_grid({frame}, {0.18, 0.1, 1}, 60, all_points()));
}

TEST(Plausible, HangingIsFromTheHeldToTheOthers)
{
    PointFrame frame = wavy({{3, 2}}, 0, 1);
    for (Vec3d& p : frame) p.z = 0;
    frame[5] = kMissingPoint;
    // Held at y = 0, the others seen at y = -1, -1 and -2.
    const Vec3d found = hanging({frame}, {0, 1});
    EXPECT_NEAR(found.y, -4.0 / 3, 1e-12);
    EXPECT_NEAR(found.x, 1.0 / 3 - 0.5, 1e-12);
}

TEST(Outliers, OneJumpIsFoundAndItsNeighboursAreNot)
{
    const ListedGrid listed{{6, 9}};
    const auto rest = listed_points({0.16, 0.1, 1}, listed);
    PointFrame frames[3] = {wavy(listed, 0), wavy(listed, 0.1), wavy(listed, 0.2)};
    std::vector<double> residuals;
    add_residuals(frames[0], frames[1], frames[2], residuals);
    const OutlierFinder finder(rest, 1e-5);
    EXPECT_TRUE(finder.find(&frames[0], frames[1], &frames[2]).empty());
    frames[1][20].z += 0.012;  // less than a cell: only time tells
    const auto found = finder.find(&frames[0], frames[1], &frames[2]);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].point, 20);
    EXPECT_NEAR(found[0].off, 0.012, 1e-4);
    // Seen from the frame after, the frame before is wrong, but it is not this frame that jumps.
    EXPECT_TRUE(finder.find(&frames[1], frames[2], &frames[2]).empty());
}

TEST(Outliers, AFastClothIsNone)
{
    const ListedGrid listed{{6, 9}};
    const auto rest = listed_points({0.16, 0.1, 1}, listed);
    PointFrame frames[3] = {wavy(listed, 0), wavy(listed, 0), wavy(listed, 0)};
    for (int f = 0; f < 3; ++f) {
        for (Vec3d& p : frames[f]) p.x += 0.05 * f + 0.004 * f * f;  // 3 m/s at 60 frames a second
    }
    EXPECT_TRUE(OutlierFinder(rest, 1e-5).find(&frames[0], frames[1], &frames[2]).empty());
}

TEST(Outliers, APointThatStaysAwayIsTornFromItsNeighbours)
{
    const ListedGrid listed{{6, 9}};
    const auto rest = listed_points({0.16, 0.1, 1}, listed);
    PointFrame frame = wavy(listed, 0);
    frame[20] = frame[20] + Vec3d{0, 0, 0.2};
    const auto found = OutlierFinder(rest, 1e-5).find(nullptr, frame, nullptr);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].point, 20);
}

}  // namespace
}  // namespace springtime
