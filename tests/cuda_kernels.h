#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string_view>

#include "backends/cuda/kernels.h"
#include "backends/cuda/lane_set.h"
#include "backends/reference/reference.h"
#include "cloths.h"

// Kernels of the CUDA backend against the reference in double: there, and back.
namespace springtime {

using cuda::DeviceArray;
using cuda::FrameAdjoints;
using cuda::Kernels;
using cuda::kStateRows;
using cuda::LaneSet;
using cuda::Records;

inline constexpr double kDt = 1.0 / 512;
inline const Environment kWindy{{0, -9.81, 0}, 1.5, {2, 0.5, -1}};

inline bool on_cpu()
{
    cudaDeviceProp properties;
    SPRINGTIME_CUDA(cudaGetDeviceProperties(&properties, 0));
    return std::string_view(properties.name) == "CUDA on CPU";
}

// Lanes of different lengths, with pins, handles that move, and none.
struct Lanes {
    std::vector<State> start;
    std::vector<Handles> handles;
    std::vector<int> steps;

    Lanes(const Cloth& cloth, int most)
    {
        const int last = int(cloth.particle_count()) - 1;
        for (int lane = 0; lane < 3; ++lane) {
            start.push_back(shaken_state(cloth, 20 + lane));
            start.back().time = 0.25 * lane;
            steps.push_back(lane == 1 ? most / 2 : most);
        }
        const auto& x = start[2].position;
        handles.push_back({{0, last / 2}, {}, {}});
        handles.push_back({});
        handles.push_back({{1, last},
                           {0.5, 0.502, 0.55},
                           {x[1], x[std::size_t(last)], x[1] + Vec3d{0.01, 0, 0.01},
                            x[std::size_t(last)], x[1], x[std::size_t(last)] + Vec3d{0.1, 0, 0}}});
        for (std::size_t lane = 0; lane < 3; ++lane) {
            start[lane] = with_handles(start[lane], handles[lane], kDt);
        }
    }

    void load(LaneSet& lanes) const
    {
        lanes.begin(int(start.size()));
        for (std::size_t lane = 0; lane < start.size(); ++lane) {
            lanes.load(int(lane), start[lane], handles[lane], steps[lane]);
        }
    }
};

// The states after every step, from the reference.
inline std::vector<State> reference_states(const Cloth& cloth, const Lanes& lanes, std::size_t lane,
                                           int steps)
{
    SimulationOptions options;
    options.dt = kDt;
    options.environment = kWindy;
    const auto stepper = make_reference_stepper(cloth, options, 1);
    State state = lanes.start[lane];
    stepper->load(0, state, lanes.handles[lane]);
    std::vector<State> states{state};
    for (int n = 0; n < steps; ++n) {
        if (n < lanes.steps[lane]) stepper->advance(1);
        stepper->store(0, state);
        states.push_back(state);
    }
    return states;
}

// The largest difference of positions, and of velocities times dt.
inline double difference(const float* rows, const State& state)
{
    const std::size_t count = state.position.size();
    double largest = 0;
    for (std::size_t p = 0; p < count; ++p) {
        for (int axis = 0; axis < 3; ++axis) {
            const double x =
                std::abs(rows[std::size_t(axis) * count + p] - state.position[p][axis]);
            const double v =
                std::abs(rows[std::size_t(3 + axis) * count + p] - state.velocity[p][axis]) * kDt;
            if (!(x <= largest)) largest = x;
            if (!(v <= largest)) largest = v;
        }
    }
    return largest;
}

// In two launches, with records of all states in the first and of some in the second.
inline void expect_advances_as_the_reference(Kernels& kernels, const Cloth& cloth, int steps)
{
    const std::size_t size = kStateRows * cloth.particle_count();
    const int first = steps / 2, every = 2;
    const Lanes lanes(cloth, steps);
    LaneSet set(cloth.particle_count(), kDt);
    lanes.load(set);
    // All states of the first launch, some of the second.
    const int more = (steps - first) / every;
    DeviceArray<float> all(3 * std::size_t(first) * size), some(3 * std::size_t(more) * size);
    set.send(0, first);
    kernels.advance(set.view(), 0, first, Records{all.data(), std::size_t(first) * size, 1},
                    nullptr);
    set.send(first, steps - first);
    kernels.advance(set.view(), first, steps - first,
                    Records{some.data(), std::size_t(more) * size, every}, nullptr);
    set.fetch();
    const std::vector<float> all_rows = all.fetched(), some_rows = some.fetched();
    // Positions are rounded once a step.
    constexpr double kEpsilon = std::numeric_limits<float>::epsilon();
    const double close = 2 * kEpsilon * largest_length(lanes.start[0].position) * std::sqrt(steps);
    for (std::size_t lane = 0; lane < 3; ++lane) {
        const auto expected = reference_states(cloth, lanes, lane, steps);
        for (int n = 0; n < first; ++n) {
            EXPECT_LT(difference(all_rows.data() + (lane * first + n) * size, expected[n + 1]),
                      close)
                << kernels.name() << ", lane " << lane << ", step " << n + 1;
        }
        for (int n = 0; n < more; ++n) {
            EXPECT_LT(difference(some_rows.data() + (lane * more + n) * size,
                                 expected[std::size_t(first + (n + 1) * every)]),
                      close)
                << "lane " << lane << ", record " << n;
        }
        State last;
        set.state(int(lane), last);
        EXPECT_LT(largest_distance(last.position, expected.back().position), close);
        EXPECT_LT(largest_distance(last.velocity, expected.back().velocity) * kDt, close);
    }
}

// Adjoints of all frames, [lane][frame][xyz][particle].
struct Weights {
    int frames;
    std::vector<float> position, velocity, acceleration;

    Weights(const Cloth& cloth, const Lanes& lanes, int steps, int stride)
        : frames(steps / stride + 1)
    {
        Random random(5);
        const std::size_t count = cloth.particle_count();
        for (auto* values : {&position, &velocity, &acceleration}) {
            values->resize(lanes.start.size() * std::size_t(frames) * 3 * count);
            for (float& value : *values) value = float(random.normal());
        }
        // Accelerations weigh about as much as the rest, and nothing on what is held.
        for (float& value : acceleration) value *= 0.01f;
        for (std::size_t lane = 0; lane < lanes.start.size(); ++lane) {
            for (std::size_t row = 0; row < 3 * std::size_t(frames); ++row) {
                for (const int p : lanes.handles[lane].particles) {
                    acceleration[(lane * std::size_t(frames) * 3 + row) * count + std::size_t(p)] =
                        0;
                }
            }
        }
    }
};

// The gradient of a lane, from a tape of the CPU that has it in its first lane. What a lane says of
// frames after its end counts for its end.
template <class Real>
ParameterValues tape_gradient(std::unique_ptr<Tape<Real>> tape, const Lanes& lanes,
                              std::size_t lane, const Weights& weights, int stride,
                              const ParameterValues& values)
{
    const std::size_t count = lanes.start[lane].position.size();
    const std::size_t width = std::size_t(tape->lane_count());
    const int steps = lanes.steps[lane];
    tape->set_parameters(values);
    tape->begin(steps);
    tape->load(0, lanes.start[lane], lanes.handles[lane]);
    tape->advance(steps);
    tape->begin_back();
    int present = steps;
    for (int frame = weights.frames - 1; frame >= 0; --frame) {
        const int step = std::min(frame * stride, steps);
        tape->retreat(present - step);
        present = step;
        const std::size_t first = (lane * std::size_t(weights.frames) + std::size_t(frame)) * 3;
        std::vector<Real> acceleration(3 * count * width);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            for (std::size_t p = 0; p < count; ++p) {
                const std::size_t at = (first + axis) * count + p;
                const std::size_t to = (3 * p + axis) * width;
                tape->position_adjoint()[to] += weights.position[at];
                tape->velocity_adjoint()[to] += weights.velocity[at];
                acceleration[to] = weights.acceleration[at];
            }
        }
        tape->pull_acceleration(acceleration);
    }
    tape->retreat(present);
    ParameterValues gradient = values;
    for (auto& kind : gradient) std::fill(kind.begin(), kind.end(), 0.0);
    tape->add_lane_gradient(0, gradient);
    return gradient;
}

// |g - e| over |e|.
inline double relative_error(const double* found, const std::vector<double>& expected)
{
    double wrong = 0, whole = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        wrong += (found[i] - expected[i]) * (found[i] - expected[i]);
        whole += expected[i] * expected[i];
    }
    return std::sqrt(wrong / whole);
}

// All states of a run on the device, [lane][step][row][particle].
inline DeviceArray<float> tape_of(Kernels& kernels, LaneSet& set, int steps)
{
    const std::size_t size = kStateRows * set.particles(), lane = (std::size_t(steps) + 1) * size;
    DeviceArray<float> tape(std::size_t(set.count()) * lane);
    set.send(0, steps);
    SPRINGTIME_CUDA(cudaMemcpy2DAsync(tape.data(), lane * sizeof(float), set.view().state,
                                      size * sizeof(float), size * sizeof(float),
                                      std::size_t(set.count()), cudaMemcpyDeviceToDevice));
    kernels.advance(set.view(), 0, steps, Records{tape.data() + size, lane, 1}, nullptr);
    return tape;
}

// In two stretches, with adjoints of all frames.
inline void expect_retreats_as_the_reference(Kernels& kernels, const Cloth& cloth, bool masses,
                                             int steps)
{
    const std::size_t size = kStateRows * cloth.particle_count();
    const int stride = 2, half = steps / 2 + 1;
    const Lanes lanes(cloth, steps);
    ParameterValues values = parameters_of(cloth);
    if (masses) values.push_back(cloth.mass);
    kernels.set_parameters(values);
    LaneSet set(cloth.particle_count(), kDt);
    lanes.load(set);
    const DeviceArray<float> tape = tape_of(kernels, set, steps);
    const Weights weights(cloth, lanes, steps, stride);
    const DeviceArray<float> x(weights.position), v(weights.velocity), a(weights.acceleration);
    const FrameAdjoints frames{x.data(),       v.data(),
                               a.data(),       std::size_t(weights.frames) * size / 2,
                               weights.frames, stride};
    const std::size_t lane_stride = (std::size_t(steps) + 1) * size;
    kernels.begin_back(set.view());
    // Two stretches, one after the other.
    kernels.retreat(set.view(), half, steps - half, tape.data() + std::size_t(half) * size,
                    lane_stride, frames);
    kernels.retreat(set.view(), 0, half, tape.data(), lane_stride, frames);
    std::size_t numbers = 0;
    for (const auto& kind : values) numbers += kind.size();
    std::vector<double> found(3 * numbers);
    SPRINGTIME_CUDA(cudaMemcpy(found.data(), kernels.gradient(3), found.size() * sizeof(double),
                               cudaMemcpyDeviceToHost));
    SimulationOptions options;
    options.dt = kDt;
    options.environment = kWindy;
    for (std::size_t lane = 0; lane < 3; ++lane) {
        const auto expected = tape_gradient(make_plain_tape(cloth, options, {}), lanes, lane,
                                            weights, stride, values);
        const auto rounded =
            tape_gradient(make_fast_tape(cloth, options), lanes, lane, weights, stride, values);
        const double* next = found.data() + lane * numbers;
        for (std::size_t kind = 0; kind < expected.size(); ++kind) {
            // Rounding states to float costs either about the same; it grows with the steps. A
            // spring that passes its rest length may fall on the other side of it, with another
            // stiffness.
            const double rounding = relative_error(rounded[kind].data(), expected[kind]);
            const double other_side = cloth.springs.ranges.empty() ? 1e-5 : 1e-3;
            EXPECT_LT(relative_error(next, expected[kind]), 4 * rounding + other_side)
                << kernels.name() << ", lane " << lane << ", array " << kind;
            next += expected[kind].size();
        }
    }
}

// The same bits beside any number of others, and in one launch or in several.
inline void expect_lanes_are_their_own(Kernels& kernels, const Cloth& cloth)
{
    const int steps = 6;
    const Lanes lanes(cloth, steps);
    const auto end_of = [&](int count, int lane, int first_launch) {
        LaneSet set(cloth.particle_count(), kDt);
        set.begin(count);
        set.load(lane, lanes.start[2], lanes.handles[2]);
        set.send(0, first_launch);
        kernels.advance(set.view(), 0, first_launch, {}, nullptr);
        set.send(first_launch, steps - first_launch);
        kernels.advance(set.view(), first_launch, steps - first_launch, {}, nullptr);
        set.fetch();
        State state;
        set.state(lane, state);
        return state;
    };
    const State alone = end_of(1, 0, steps);
    for (const State& other : {end_of(5, 4, steps), end_of(1, 0, 2), end_of(3, 1, 5)}) {
        EXPECT_EQ(largest_distance(alone.position, other.position), 0);
        EXPECT_EQ(largest_distance(alone.velocity, other.velocity), 0);
    }
}

}  // namespace springtime
