#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "springtime/cloth.h"
#include "springtime/environment.h"
#include "springtime/handles.h"
#include "springtime/obstacle.h"
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

// The share of the estimate that is safe whatever shape the sheet takes. A crumpled sheet is
// stiffer than the flat one, but never more than twice: no spring resists in any direction by more
// than its largest stiffness k and its dampings b and c together, and if all resisted in all
// directions like that, the flat sheet would still feel at least half of it along one of its two
// axes; of the isotropic dashpots, which do resist in all directions, it feels all. So the w^2 and
// the rate of damping are at most twice the estimate's, which takes every spring at its largest
// stiffness.
// Measured on 32 x 32, 16 falling rollouts of 8 s: nets without diagonals are sound at 0.48 and
// shake at 0.52 when damping sets the step (0.68 and 0.72 when stiffness does), nets with all
// families 0.66 and 0.69 (0.84 and 0.87). They shake at many times their true speed long before
// they leave all bounds.
// Triangles and hinges have no such bound, since they stiffen where they are stretched. Measured on
// the sheet of the finite-element benchmark, 31 x 31 and its stretches of up to 40 %, 16 rollouts
// of 8 s: sound at 0.98 when all deformation is damped, at 0.89 and lost at 0.98 when strain is;
// with bending or damping that sets the step, sound at 0.79, the longest tried. A tenth of the
// stiffness lets it stretch threefold: sound at 0.66, but with strain damping that sets the step
// sound at 0.48 and lost at 0.66, and stretched fivefold lost at 0.30.
inline constexpr double kStableMargin = 0.5;

// The least number of equal sub-steps of `dt` that stay below the estimate with that margin; this
// many when even more would be needed.
inline constexpr int kMostSubsteps = 1000000;
int stable_substeps(const Cloth& cloth, const Environment& environment, double dt);

struct SimulationOptions {
    double dt = 1e-3;  // [s]
    Environment environment;
    Device device = Device::automatic;
    std::vector<Obstacle> obstacles{};
    double thickness = 0;      // [m] kept between particles and obstacles
    double self_distance = 0;  // [m] kept between particles of the cloth; 0: they do not meet
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
    // Acceleration of every particle in the present state, in double; zero on handles. Without
    // what obstacles and the cloth's own contact do, which are no forces but changes after a step.
    // [m/s^2]
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
