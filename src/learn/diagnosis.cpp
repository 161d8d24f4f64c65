#include "learn/diagnosis.h"

#include <cmath>

#include "sim/stepper.h"
#include "sim/tape.h"

namespace springtime {

namespace {

// A particle that crosses more than the sheet's diagonal in one step, as in a simulation: floats
// lose it soon after, and with it the loss.
std::optional<int> first_out_of_bounds(const Tape<double>& tape, double speed_limit)
{
    const auto x = tape.position(), v = tape.velocity();
    for (std::size_t i = 0; i < x.size(); i += 3) {
        // Written so that NaN fails.
        const bool good = std::hypot(v[i], v[i + 1], v[i + 2]) <= speed_limit &&
                          std::isfinite(x[i]) && std::isfinite(x[i + 1]) && std::isfinite(x[i + 2]);
        if (!good) return int(i / 3);
    }
    return std::nullopt;
}

std::optional<int> first_not_finite(std::span<const double> numbers)
{
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        // Floats run this clip: what they cannot hold is lost to them.
        if (!(std::abs(numbers[i]) < 1e30)) return int(i / 3);
    }
    return std::nullopt;
}

}  // namespace

std::optional<Diagnosis> diagnose(const Cloth& surrogate, const SimulationOptions& options,
                                  int stride, const Rollout& clip)
{
    const auto tape = make_reference_tape(surrogate, options);
    const int steps = int(clip.frame_count - 1) * stride;
    const double speed_limit = largest_speed(surrogate.sheet, options.dt);
    tape->begin(steps);
    tape->load(0, clip.state(0, options.dt * stride, options.dt), clip.handles);
    for (int step = 0; step <= steps; ++step) {
        if (step > 0) tape->advance(1);
        if (const auto p = first_out_of_bounds(*tape, speed_limit)) {
            return Diagnosis{"the state leaves all bounds", step, *p};
        }
    }
    tape->begin_back();
    for (double& back : tape->velocity_adjoint()) back = 1;
    for (int step = steps - 1; step >= 0; --step) {
        tape->retreat(1);
        for (const auto& numbers : {tape->position_adjoint(), tape->velocity_adjoint()}) {
            if (const auto p = first_not_finite(numbers)) {
                return Diagnosis{"the gradient is not finite", step, *p};
            }
        }
    }
    return std::nullopt;
}

}  // namespace springtime
