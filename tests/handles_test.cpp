#include "springtime/simulation.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "sim/stepper.h"
#include "springtime/error.h"

namespace springtime {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Two handles with three keys: the first goes 1 m along x and on along y, the second stands still.
Handles two_handles()
{
    return {{4, 2}, {1, 2, 4}, {{0, 0, 0}, {5, 5, 5}, {1, 0, 0}, {5, 5, 5}, {1, 3, 0}, {5, 5, 5}}};
}

void expect_equal(const Vec3d& found, const Vec3d& expected)
{
    for (int axis = 0; axis < 3; ++axis) EXPECT_DOUBLE_EQ(found[axis], expected[axis]);
}

std::string message(const Handles& handles, std::size_t particles)
{
    try {
        check_handles(handles, particles, "paths.csv");
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(Handles, TakePinsAlongThatStayWhereTheyAre)
{
    State state;
    for (int p = 0; p < 6; ++p) state.position.push_back({double(p), 0, 1});
    const Handles all = with_pins(two_handles(), {3, 2, 3}, state);  // 2 keeps its path
    EXPECT_EQ(all.particles, (std::vector<int>{4, 2, 3}));
    check_handles(all, 6, "all");
    for (const double time : {0.0, 1.5, 9.0}) {
        expect_equal(all.position(0, time), two_handles().position(0, time));
        expect_equal(all.position(1, time), two_handles().position(1, time));
        expect_equal(all.position(2, time), {3, 0, 1});
    }
    const Handles pins = with_pins({}, {5, 0}, state);
    EXPECT_EQ(pins.particles, (std::vector<int>{5, 0}));
    EXPECT_FALSE(pins.moving());
}

TEST(Handles, AreLinearBetweenKeys)
{
    const Handles handles = two_handles();
    expect_equal(handles.position(0, 1.25), {0.25, 0, 0});
    expect_equal(handles.position(0, 2.5), {1, 0.75, 0});
    expect_equal(handles.position(1, 2.5), {5, 5, 5});
}

TEST(Handles, AreAtTheirKeys)
{
    const Handles handles = two_handles();
    expect_equal(handles.position(0, 1), {0, 0, 0});
    expect_equal(handles.position(0, 2), {1, 0, 0});
    expect_equal(handles.position(0, 4), {1, 3, 0});
}

TEST(Handles, StandStillBeforeTheFirstAndAfterTheLastKey)
{
    const Handles handles = two_handles();
    expect_equal(handles.position(0, -10), {0, 0, 0});
    expect_equal(handles.position(0, 0.999), {0, 0, 0});
    expect_equal(handles.position(0, 1e9), {1, 3, 0});
}

TEST(Handles, OneKeyIsAPlace)
{
    const Handles handles{{0}, {3}, {{1, 2, 3}}};
    for (const double time : {0.0, 3.0, 9.0}) expect_equal(handles.position(0, time), {1, 2, 3});
}

TEST(Handles, PoseHasTheVelocityOfTheLastStep)
{
    // At 2.1 s the step of 0.25 s began at 1.85 s: from (0.85, 0, 0) to (1, 0.15, 0).
    const HandlePose pose = handle_pose(two_handles(), 0, 2.1, 0.25);
    const double rounding = 1e-14;  // of numbers near one, divided by the step
    EXPECT_NEAR(pose.position.x, 1, rounding);
    EXPECT_NEAR(pose.position.y, 0.15, rounding);
    EXPECT_NEAR(pose.velocity.x, 0.15 / 0.25, rounding);
    EXPECT_NEAR(pose.velocity.y, 0.15 / 0.25, rounding);
}

TEST(Handles, PinsComeToRestWhereTheyAre)
{
    State state;
    state.position = {{1, 2, 3}, {4, 5, 6}};
    state.velocity = {{7, 8, 9}, {7, 8, 9}};
    const State pinned = with_handles(state, {{1}, {}, {}}, 0.1);
    expect_equal(pinned.position[1], {4, 5, 6});
    expect_equal(pinned.velocity[1], {0, 0, 0});
    expect_equal(pinned.velocity[0], {7, 8, 9});
}

TEST(Handles, GoodOnesPass)
{
    EXPECT_EQ(message(two_handles(), 5), "");
    EXPECT_EQ(message({{0, 4}, {}, {}}, 5), "");
    EXPECT_EQ(message({}, 5), "");
}

TEST(Handles, ErrorsSayWhatToDo)
{
    EXPECT_EQ(message({{0, 5}, {}, {}}, 5),
              "paths.csv: handle on particle 5, but the cloth has 0 to 4");
    EXPECT_EQ(message({{-1}, {}, {}}, 5),
              "paths.csv: handle on particle -1, but the cloth has 0 to 4");
    EXPECT_EQ(message({{3, 1, 3}, {}, {}}, 5),
              "paths.csv: particle 3 is a handle twice; name it once");
    EXPECT_EQ(message({{1}, {0, 1}, {{0, 0, 0}}}, 5),
              "paths.csv: 1 handle positions for 2 keys of 1 handles; give one each");
    EXPECT_EQ(message({{1}, {0, 0}, {{0, 0, 0}, {0, 0, 0}}}, 5),
              "paths.csv: handle key 1 is at 0 s; times must be finite and ascend");
    EXPECT_EQ(message({{1}, {kNan}, {{0, 0, 0}}}, 5),
              "paths.csv: handle key 0 is at nan s; times must be finite and ascend");
    EXPECT_EQ(message({{1}, {0, 1}, {{0, 0, 0}, {0, kNan, 0}}}, 5),
              "paths.csv: handle position 1 is not finite");
}

}  // namespace

}  // namespace springtime
