// Whole rollouts on the device: what is recorded, in what pieces, and what is said of a blow-up.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backends/cuda/cuda.h"
#include "cloths.h"
#include "sim/forces.h"
#include "sim/stepper.h"

namespace springtime {
namespace {

using Frames = BatchRecorder::Frames;

constexpr double kDt = 1.0 / 512;
const SimulationOptions kOptions{kDt, {{0, -9.81, 0}, 1.5, {2, 0.5, -1}}, Device::cuda};
constexpr double kEpsilon = std::numeric_limits<float>::epsilon();

// Pins, handles that move, and none.
struct Lanes {
    std::vector<State> state;
    std::vector<Handles> handles;

    explicit Lanes(const Cloth& cloth, int count = 3)
    {
        const int last = int(cloth.particle_count()) - 1;
        for (int lane = 0; lane < count; ++lane) {
            state.push_back(shaken_state(cloth, 20 + lane));
            handles.push_back(lane % 3 == 0 ? Handles{{0, last}, {}, {}} : Handles{});
            if (lane % 3 != 2) continue;
            const Vec3d from = state.back().position[1];
            handles.back() = {{1}, {0, 0.002, 0.05}, {from, from, from + Vec3d{0.01, 0, 0.02}}};
        }
    }

    std::vector<BatchRecorder::Start> starts() const
    {
        std::vector<BatchRecorder::Start> starts;
        for (std::size_t i = 0; i < state.size(); ++i) starts.push_back({&state[i], &handles[i]});
        return starts;
    }
};

struct Length {
    std::size_t frames = 5;
    int stride = 3;
    bool accelerations = true;
};

struct Recorded {
    std::vector<Frames> lanes;
    std::optional<StepReport> report;
    std::vector<double> shares;
};

Recorded recorded(BatchRecorder& recorder, const Lanes& lanes, const Length& run = {})
{
    Recorded result;
    result.report = recorder.record(lanes.starts(), run.frames, run.stride, run.accelerations,
                                    result.lanes, [&](double s) { result.shares.push_back(s); });
    return result;
}

Vec3d vector_at(const std::vector<float>& values, std::size_t frame, std::size_t particles, int p)
{
    const float* at = &values[3 * (frame * particles + std::size_t(p))];
    return {at[0], at[1], at[2]};
}

State state_at(const Frames& frames, std::size_t frame, std::size_t particles)
{
    State state;
    for (int p = 0; p < int(particles); ++p) {
        state.position.push_back(vector_at(frames.position, frame, particles, p));
        state.velocity.push_back(vector_at(frames.velocity, frame, particles, p));
    }
    return state;
}

void expect_same(const Recorded& a, const Recorded& b)
{
    ASSERT_EQ(a.lanes.size(), b.lanes.size());
    for (std::size_t lane = 0; lane < a.lanes.size(); ++lane) {
        EXPECT_EQ(a.lanes[lane].position, b.lanes[lane].position) << lane;
        EXPECT_EQ(a.lanes[lane].velocity, b.lanes[lane].velocity) << lane;
        EXPECT_EQ(a.lanes[lane].acceleration, b.lanes[lane].acceleration) << lane;
    }
}

void expect_whole(const std::vector<double>& shares)
{
    ASSERT_FALSE(shares.empty());
    for (std::size_t i = 1; i < shares.size(); ++i) EXPECT_GE(shares[i], shares[i - 1]);
    EXPECT_DOUBLE_EQ(shares.back(), 1);
}

// Even rest lengths: the kernels for grids run it.
Cloth some_cloth()
{
    return make_grid_cloth({4, 2.5, 5}, {6, 9}, MaterialField::uniform(50),
                           MaterialField::uniform(0.5));
}

TEST(CudaRecorder, RecordsWhatSteppersMake)
{
    const Cloth cloth = some_cloth();
    const Lanes lanes(cloth);
    const Length run;
    const auto recorder = make_cuda_recorder(cloth, kOptions);
    const Recorded found = recorded(*recorder, lanes, run);
    EXPECT_FALSE(found.report);
    expect_whole(found.shares);
    const std::size_t count = cloth.particle_count();
    const ForceTable<double> table(cloth, kOptions.environment);
    for (std::size_t lane = 0; lane < lanes.state.size(); ++lane) {
        const auto stepper = make_cuda_stepper(cloth, kOptions, 1);
        stepper->load(0, with_handles(lanes.state[lane], lanes.handles[lane], kDt),
                      lanes.handles[lane]);
        for (std::size_t frame = 0; frame < run.frames; ++frame) {
            if (frame > 0) stepper->advance(run.stride);
            State expected;
            stepper->store(0, expected);
            const State state = state_at(found.lanes[lane], frame, count);
            EXPECT_EQ(largest_distance(state.position, expected.position), 0) << frame;
            EXPECT_EQ(largest_distance(state.velocity, expected.velocity), 0) << frame;
            // Computed in double and rounded once.
            const auto exact = acceleration(table, lanes.handles[lane], state);
            for (int p = 0; p < int(count); ++p) {
                const Vec3d a = vector_at(found.lanes[lane].acceleration, frame, count, p);
                EXPECT_LE(length(a - exact[std::size_t(p)]),
                          kEpsilon * length(exact[std::size_t(p)]) + 1e-12);
            }
        }
    }
}

TEST(CudaRecorder, LeavesOutAccelerationsThatNobodyWants)
{
    const Cloth cloth = some_cloth();
    const Lanes lanes(cloth);
    const auto recorder = make_cuda_recorder(cloth, kOptions);
    const Recorded with = recorded(*recorder, lanes);
    const Recorded without = recorded(*recorder, lanes, {.accelerations = false});
    for (std::size_t lane = 0; lane < lanes.state.size(); ++lane) {
        EXPECT_TRUE(without.lanes[lane].acceleration.empty());
        EXPECT_EQ(without.lanes[lane].position, with.lanes[lane].position);
        EXPECT_EQ(without.lanes[lane].velocity, with.lanes[lane].velocity);
    }
}

TEST(CudaRecorder, DoesTheSameInAnyPieces)
{
    const Cloth cloth = some_cloth();
    const Lanes lanes(cloth, 5);
    const Recorded whole = recorded(*make_cuda_recorder(cloth, kOptions), lanes);
    // Launches of a part of a frame, of one, and of some.
    for (const int steps : {1, 2, 3, 7}) {
        const Recorded pieces = recorded(*make_cuda_recorder(cloth, kOptions, {}, steps), lanes);
        expect_same(pieces, whole);
        expect_whole(pieces.shares);
        EXPECT_GT(pieces.shares.size(), whole.shares.size());
    }
    // Less and less memory: fewer frames at a time, then fewer lanes.
    const std::size_t lane = 24 * cloth.particle_count() * sizeof(float);
    for (const std::size_t memory : {20 * lane, 5 * lane, 3 * lane, std::size_t(1)}) {
        const Recorded little = recorded(*make_cuda_recorder(cloth, kOptions, {memory}), lanes);
        expect_same(little, whole);
        expect_whole(little.shares);
    }
}

TEST(CudaRecorder, OneFrameIsTheStart)
{
    const Cloth cloth = some_cloth();
    const Lanes lanes(cloth);
    const Recorded found = recorded(*make_cuda_recorder(cloth, kOptions), lanes, {.frames = 1});
    expect_whole(found.shares);
    for (std::size_t lane = 0; lane < lanes.state.size(); ++lane) {
        const State start = with_handles(lanes.state[lane], lanes.handles[lane], kDt);
        const State state = state_at(found.lanes[lane], 0, cloth.particle_count());
        EXPECT_LE(largest_distance(state.position, start.position),
                  kEpsilon * largest_length(start.position));
        EXPECT_EQ(found.lanes[lane].position.size(), 3 * cloth.particle_count());
    }
}

TEST(CudaRecorder, GoesOnAfterItWasStopped)
{
    struct Stopped {};
    const Cloth cloth = some_cloth();
    const Lanes lanes(cloth);
    const auto recorder = make_cuda_recorder(cloth, kOptions, {}, 3);
    const Recorded whole = recorded(*recorder, lanes);
    std::vector<Frames> frames;
    int calls = 0;
    EXPECT_THROW(recorder->record(lanes.starts(), 5, 3, true, frames,
                                  [&](double) {
                                      if (++calls == 2) throw Stopped{};
                                  }),
                 Stopped);
    EXPECT_EQ(calls, 2);
    expect_same(recorded(*recorder, lanes), whole);
}

// Nothing holds the particles together and nothing slows them down: v_n = v_0 + n g h.
struct Falling {
    Cloth cloth = some_cloth();
    SimulationOptions options{kDt, {{0, -4096, 0}, 0, {}}, Device::cuda};
    double limit = largest_speed(cloth.sheet, kDt);

    Falling()
    {
        ParameterValues none = parameters_of(cloth);
        for (auto& kind : none) std::fill(kind.begin(), kind.end(), 0.0);
        set_parameters(cloth, none);
    }
    // So fast that step n is the first in which it is too fast: half a step of speed beyond.
    Vec3d start_for(int n) const
    {
        const double g = length(options.environment.gravity);
        return {0, -(limit - (n - 0.5) * g * kDt), 0};
    }
};

TEST(CudaRecorder, SaysWhichParticleOfWhichLaneWasFirstToLeaveAllBounds)
{
    const Falling falling;
    Lanes lanes(falling.cloth, 4);
    for (auto& handles : lanes.handles) handles = {};
    for (auto& state : lanes.state) {
        state = flat_state(falling.cloth);
        state.time = 0.25;
    }
    lanes.state[1].velocity[40] = falling.start_for(12);
    lanes.state[2].velocity[17] = falling.start_for(8);  // the first
    lanes.state[2].velocity[30] = falling.start_for(8);
    lanes.state[3].velocity[2] = falling.start_for(8);
    // In one piece, in pieces of a frame and of less, and lane by lane.
    const std::size_t little = 1;
    for (const auto& [memory, steps] : {std::pair{std::size_t(-1), 1 << 14},
                                        {std::size_t(-1), 3},
                                        {std::size_t(-1), 2},
                                        {little, 7}}) {
        const auto recorder = make_cuda_recorder(falling.cloth, falling.options, {memory}, steps);
        const Recorded found = recorded(*recorder, lanes, {.frames = 6});
        ASSERT_TRUE(found.report);
        EXPECT_EQ(found.report->lane, 2);
        EXPECT_EQ(found.report->step, 8);
        EXPECT_EQ(found.report->particle, 17);
        EXPECT_DOUBLE_EQ(found.report->time, 0.25 + 8 * kDt);
    }
    // What ends before that does not count.
    const auto recorder = make_cuda_recorder(falling.cloth, falling.options);
    EXPECT_FALSE(recorded(*recorder, lanes, {.frames = 3}).report);
}

}  // namespace
}  // namespace springtime
