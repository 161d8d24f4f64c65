#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "springtime/cloth.h"
#include "springtime/environment.h"
#include "springtime/handles.h"
#include "springtime/state.h"

namespace springtime {

enum class Device { automatic, reference, cpu, cuda };

// Throws Error for an unknown name, or for a device that this build or machine does not have.
Device device_named(std::string_view name);

// What went wrong in a step: the first particle that left all bounds, and when.
struct StepReport {
    int particle = 0;
    long step = 0;    // counted from the start of the run
    double time = 0;  // [s]
    int lane = 0;     // which state of a batch
};

// An estimate for the flat sheet: the explicit step is stable for dt below this. [s]
double largest_stable_step(const Cloth& cloth, const Environment& environment);

// A folded sheet is a little stiffer than the flat one of the estimate.
inline constexpr double kStableMargin = 0.9;

// The least number of equal sub-steps of `dt` that stay below the estimate with that margin.
int stable_substeps(const Cloth& cloth, const Environment& environment, double dt);

struct SimulationOptions {
    double dt = 1e-3;  // [s]
    Environment environment;
    Device device = Device::automatic;
};

class Stepper;

// One cloth that runs. Two simulations never share anything.
class Simulation {
  public:
    // The cloth is copied. Throws Error on bad input.
    Simulation(const Cloth& cloth, State start, Handles handles, const SimulationOptions& options);
    ~Simulation();
    Simulation(Simulation&&) noexcept;
    Simulation& operator=(Simulation&&) noexcept;

    // Advances by `steps`. On a blow-up the state stays as it was before the call.
    [[nodiscard]] std::optional<StepReport> advance(int steps);

    const State& state() const;
    // Acceleration of every particle in the present state, in double; zero on handles. [m/s^2]
    std::vector<Vec3d> acceleration() const;
    const Cloth& cloth() const;
    const Handles& handles() const;
    const SimulationOptions& options() const;
    std::string device_name() const;  // e.g. "cpu/avx512"

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// The sentence a person needs: which particle, when, and what to change.
std::string describe(const StepReport& report, const Cloth& cloth,
                     const SimulationOptions& options);

}  // namespace springtime
