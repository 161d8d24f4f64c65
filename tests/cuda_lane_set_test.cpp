#include <gtest/gtest.h>

#include <cmath>

#include "backends/cuda/lane_set.h"
#include "sim/stepper.h"

namespace springtime {
namespace {

using cuda::kStateRows;
using cuda::LaneSet;
using cuda::LaneView;

template <class T>
std::vector<T> on_host(const T* from, std::size_t count)
{
    std::vector<T> values(count);
    SPRINGTIME_CUDA(cudaMemcpy(values.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
}

constexpr std::size_t kParticles = 5;
constexpr double kDt = 0.01;

State some_state(double shift)
{
    State state;
    state.time = shift;
    for (std::size_t p = 0; p < kParticles; ++p) {
        state.position.push_back({shift + double(p), 2 * double(p), -shift});
        state.velocity.push_back({1, double(p), shift});
    }
    return state;
}

// One handle that moves, from 0.25 s on, and one that stands.
Handles some_handles()
{
    return {{3, 1},
            {0.25, 0.3, 0.4},
            {{0, 0, 0}, {7, 7, 7}, {1, 2, 3}, {7, 7, 7}, {1, 0, 3}, {7, 7, 7}}};
}

struct Driven {
    std::vector<int> slot;
    std::vector<float> rows;
    int steps, width;

    explicit Driven(const LaneView& view)
        : slot(on_host(view.driven_slot, std::size_t(view.count * view.particles))),
          rows(on_host(
              view.driven,
              std::size_t(view.count * view.driven_steps * view.driven_width) * kStateRows)),
          steps(view.driven_steps),
          width(view.driven_width)
    {
    }
    const float* of(int lane, int step, int particle) const
    {
        const int s = slot[std::size_t(lane) * kParticles + std::size_t(particle)];
        return s < 0 ? nullptr : &rows[std::size_t((lane * steps + step) * width + s) * kStateRows];
    }
};

void expect_same(const float* row, const HandlePose& pose)
{
    ASSERT_NE(row, nullptr);
    for (int axis = 0; axis < 3; ++axis) {
        // A device may contract products and sums: last bits of a double.
        EXPECT_FLOAT_EQ(row[axis], float(pose.position[axis]));
        EXPECT_NEAR(row[3 + axis], pose.velocity[axis], 1e-6 * (1 + std::abs(pose.velocity[axis])));
    }
}

TEST(LaneSet, PutsStatesWhereKernelsReadThem)
{
    LaneSet lanes(kParticles, kDt);
    lanes.begin(3);
    lanes.load(0, some_state(0.25), some_handles(), 8);
    lanes.load(2, some_state(2), Handles{{4}, {}, {}});
    lanes.hold(2, std::vector<int>{0});
    lanes.send(0, 1);
    const LaneView view = lanes.view();
    ASSERT_EQ(view.count, 3);
    ASSERT_EQ(view.particles, int(kParticles));
    const auto state = on_host(view.state, 3 * kStateRows * kParticles);
    const auto mobility = on_host(view.mobility, 3 * kParticles);
    const auto steps = on_host(view.steps, 3);
    EXPECT_EQ(steps[0], 8);
    EXPECT_GT(steps[2], 1 << 30);
    const std::vector<State> placed{with_handles(some_state(0.25), some_handles(), kDt),
                                    {},
                                    with_handles(some_state(2), Handles{{4}, {}, {}}, kDt)};
    for (const int lane : {0, 2}) {
        for (std::size_t p = 0; p < kParticles; ++p) {
            for (int axis = 0; axis < 3; ++axis) {
                const auto at = [&](int row) {
                    return state[(std::size_t(lane * kStateRows + row)) * kParticles + p];
                };
                EXPECT_EQ(at(axis), float(placed[std::size_t(lane)].position[p][axis]));
                EXPECT_EQ(at(3 + axis), float(placed[std::size_t(lane)].velocity[p][axis]));
            }
        }
    }
    const float h = float(kDt);
    EXPECT_EQ(mobility, (std::vector<float>{h, 0, h, 0, h, 0, 0, 0, 0, 0, 0, h, h, h, 0}));
    for (std::size_t i = 0; i < kStateRows * kParticles; ++i) {
        EXPECT_EQ(state[kStateRows * kParticles + i], 0);  // never loaded
    }
}

TEST(LaneSet, HandlesFollowTheirKeys)
{
    LaneSet lanes(kParticles, kDt);
    lanes.begin(2);
    lanes.load(1, some_state(0.25), some_handles());
    const int first = 3, count = 14;  // beyond the last key
    lanes.send(first, count);
    const Driven driven(lanes.view());
    const Handles handles = some_handles();
    for (int i = 0; i < count; ++i) {
        const double time = 0.25 + (first + 1 + i) * kDt;
        EXPECT_DOUBLE_EQ(lanes.time(1, first + 1 + i), time);
        expect_same(driven.of(1, i, 3), handle_pose(handles, 0, time, kDt));
        expect_same(driven.of(1, i, 1), handle_pose(handles, 1, time, kDt));
        EXPECT_EQ(driven.of(1, i, 2), nullptr);
        EXPECT_EQ(driven.of(0, i, 3), nullptr);
    }
}

TEST(LaneSet, MoreIsPlacedBesideTheHandlesAndAfterThem)
{
    LaneSet lanes(kParticles, kDt);
    lanes.begin(1);
    lanes.load(0, some_state(0.25), some_handles());
    const auto more = [](int, int step, const LaneSet::Place& place) {
        if (step == 2) place(0, {1, 2, 3}, {4, 5, 6});
        if (step == 3) place(3, {9, 9, 9}, {8, 8, 8});
    };
    lanes.send(0, 4, more);
    const Driven driven(lanes.view());
    expect_same(driven.of(0, 0, 3), handle_pose(some_handles(), 0, 0.26, kDt));
    expect_same(driven.of(0, 1, 0), {{1, 2, 3}, {4, 5, 6}});
    expect_same(driven.of(0, 2, 3), {{9, 9, 9}, {8, 8, 8}});
    for (const int step : {0, 2, 3}) {
        for (int row = 0; row < kStateRows; ++row) {
            EXPECT_TRUE(std::isnan(driven.of(0, step, 0)[row])) << "nothing is said of it";
        }
    }
    // The next launch knows the handles alone.
    lanes.send(4, 2);
    EXPECT_EQ(Driven(lanes.view()).of(0, 0, 0), nullptr);
}

TEST(LaneSet, ALaneThatIsLoadedLaterLeavesTheOthersWhereTheyAre)
{
    LaneSet lanes(kParticles, kDt);
    lanes.begin(2);
    lanes.load(0, some_state(1), {});
    lanes.load(1, some_state(2), {});
    lanes.send(0, 5);
    // As a kernel would move them.
    const std::vector<float> moved(2 * kStateRows * kParticles, 4.5f);
    SPRINGTIME_CUDA(cudaMemcpy(lanes.view().state, moved.data(), moved.size() * sizeof(float),
                               cudaMemcpyHostToDevice));
    lanes.load(1, some_state(3), some_handles(), std::nullopt, 5);
    lanes.send(5, 1);
    lanes.fetch();
    State state;
    lanes.state(0, state);
    EXPECT_EQ(state.position[2].x, 4.5);
    lanes.state(1, state);
    EXPECT_EQ(state.position[2].x, 5);
    EXPECT_DOUBLE_EQ(lanes.time(0, 6), 1 + 6 * kDt);
    EXPECT_DOUBLE_EQ(lanes.time(1, 6), 3 + kDt);
    expect_same(Driven(lanes.view()).of(1, 0, 3), handle_pose(some_handles(), 0, 3 + kDt, kDt));
}

TEST(LaneSet, CountsAnewBeforeTheCountIsFull)
{
    LaneSet lanes(kParticles, kDt);
    lanes.begin(1);
    lanes.load(0, some_state(0.25), some_handles(), std::nullopt, (1 << 30) - 5);
    EXPECT_EQ(lanes.renumbered((1 << 30) - 1), (1 << 30) - 1);
    EXPECT_EQ(lanes.renumbered(1 << 30), 0);
    EXPECT_DOUBLE_EQ(lanes.time(0, 0), 0.25 + 5 * kDt);
    lanes.send(0, 1);
    expect_same(Driven(lanes.view()).of(0, 0, 3),
                handle_pose(some_handles(), 0, 0.25 + 6 * kDt, kDt));
}

}  // namespace
}  // namespace springtime
