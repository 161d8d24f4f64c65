#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#ifdef SPRINGTIME_TEST_CUDA
#include "backends/cuda/cuda.h"
#endif
#include "backends/reference/reference.h"
#include "backends/simd/simd.h"
#include "sim/stepper.h"

namespace springtime {

// One way to run a cloth. A test that takes a Backend must hold for all of them.
struct Backend {
    std::string name;
    double epsilon;  // distance from one to the next number in its precision
    std::function<std::unique_ptr<Stepper>(const Cloth&, const SimulationOptions&)> make;

    friend void PrintTo(const Backend& backend, std::ostream* out) { *out << backend.name; }
};

#ifdef SPRINGTIME_TEST_CUDA
// A batch of some lanes and a single state on the device. What it does not know runs elsewhere.
inline void add_cuda_backends(std::vector<Backend>& backends)
{
    if (!cuda_device_present()) return;
    const auto add = [&](const char* name, int lanes) {
        backends.push_back({name, std::numeric_limits<float>::epsilon(),
                            [lanes](const Cloth& cloth, SimulationOptions options) {
                                options.device = Device::cuda;
                                return cuda_can_run(cloth, options)
                                           ? make_cuda_stepper(cloth, options, lanes)
                                           : make_single_stepper(cloth, options);
                            }});
    };
    add("cuda_batch", 3);
    add("cuda_single", 1);
}
#endif

// The reference in double, a batch and a single stepper in float for every instruction set that
// this machine has, and in the tests of the CUDA backend those of the device.
inline std::vector<Backend> all_backends()
{
    std::vector<Backend> backends{{"reference", std::numeric_limits<double>::epsilon(),
                                   [](const Cloth& cloth, const SimulationOptions& options) {
                                       return make_reference_stepper(cloth, options, 1);
                                   }}};
    for (const KernelSet& set : instruction_sets()) {
        const auto add = [&](const char* kind, auto make) {
            backends.push_back({set.name + std::string(kind), std::numeric_limits<float>::epsilon(),
                                [set, make](const Cloth& cloth, const SimulationOptions& options) {
                                    return make(cloth, options, set);
                                }});
        };
        add("_batch", make_simd_batch);
        add("_single", make_simd_single);
    }
#ifdef SPRINGTIME_TEST_CUDA
    add_cuda_backends(backends);
#endif
    return backends;
}

inline void PrintTo(const KernelSet& set, std::ostream* out)
{
    *out << set.name;
}

inline std::string backend_name(const testing::TestParamInfo<Backend>& info)
{
    return info.param.name;
}

// A state after `steps`, run in the last lane of a stepper.
inline State advanced(Stepper& stepper, const State& start, const Handles& handles, double dt,
                      int steps)
{
    State state = with_handles(start, handles, dt);
    stepper.load(stepper.lane_count() - 1, state, handles);
    stepper.advance(steps);
    stepper.store(stepper.lane_count() - 1, state);
    return state;
}

inline State advanced(const Backend& backend, const Cloth& cloth, const State& start,
                      const Handles& handles, const SimulationOptions& options, int steps)
{
    return advanced(*backend.make(cloth, options), start, handles, options.dt, steps);
}

}  // namespace springtime
