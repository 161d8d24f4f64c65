#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "springtime/cloth.h"
#include "springtime/error.h"
#include "springtime/geometry.h"
#include "springtime/obstacle.h"
#include "springtime/vec3.h"

namespace springtime {

// Acts on mass, not on particle count, so it means the same at every resolution.
struct Environment {
    Vec3d gravity{0, -9.81, 0};  // [m/s^2]
    double drag = 1.0;           // [1/s]: acceleration drag (wind - v)
    Vec3d wind{};                // velocity of the air [m/s]
};

// Throws Error unless all is finite and the drag not negative.
void check_environment(const Environment& environment);

// Positions and velocities of one cloth at one time. The y axis points up.
struct State {
    double time = 0;              // [s]
    std::vector<Vec3d> position;  // [m]
    std::vector<Vec3d> velocity;  // [m/s]
};

// The sheet at rest, level, centred on the origin: u along x, v along z.
State flat_state(const Cloth& cloth);

// Particles whose path is prescribed. Without keys they stand still where the state has them.
struct Handles {
    std::vector<int> particles;
    std::vector<double> key_time;     // [s], ascending; empty for pins
    std::vector<Vec3d> key_position;  // [m], key_time.size() x particles.size(), key by key

    bool moving() const { return !key_time.empty(); }
    // Linear between keys, constant before the first and after the last. Needs moving().
    Vec3d position(std::size_t handle, double time) const;
};

// Throws Error naming `source` unless indices are distinct and in range and keys are complete.
void check_handles(const Handles& handles, std::size_t particle_count, std::string_view source);

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

// [J]. Gravitational energy is zero at the origin.
struct Energy {
    double kinetic = 0, elastic = 0, gravitational = 0;
    double total() const { return kinetic + elastic + gravitational; }
};
Energy energy_of(const Cloth& cloth, const Environment& environment, const State& state);

// Largest relative change of length in a state: |l - L| / L over the springs, |s - 1| over both
// principal stretches s of the triangles.
double largest_strain(const Cloth& cloth, const State& state);

// A cloth has settled when its root-mean-square speed has stayed below `speed` for `seconds`.
struct RestRule {
    double speed = 0;       // [m/s]
    double seconds = 0.5;   // [s]; longer than the turning points of a swing last
    double not_before = 0;  // [s]: while something else is still going to move, nothing has settled
};

// A thousandth of the sheet's diagonal per second.
RestRule rest_rule(const Sheet& sheet);

// Root mean square over the particles, and the largest. [m/s]
struct Speeds {
    double rms = 0, largest = 0;
};
Speeds speeds_of(const State& state);

// Looks at states in the order of their time.
class RestWatch {
  public:
    explicit RestWatch(const RestRule& rule) : rule_(rule) {}
    // True once the cloth has settled.
    bool settled(const State& state);

  private:
    RestRule rule_;
    std::optional<double> slow_since_;  // [s]
};

struct Settling {
    bool settled = false;
    Speeds speeds;                      // at the end
    std::optional<StepReport> blow_up;  // the simulation is then where it was before
};

// The rule, with nothing settled before the last key of handles and obstacles.
RestRule after_all_paths(RestRule rule, const Simulation& simulation);

// Advances until the cloth has settled, all paths ended, or until the time is `until`. The state is
// looked at every `look` seconds.
Settling settle(Simulation& simulation, const RestRule& rule, double until,
                const Progress& progress = {}, double look = 0.05);

// The sheet of a cloth in a state, as triangles. Throws Error for a cloth without a surface.
TriangleMesh surface_of(const Cloth& cloth, const State& state);

}  // namespace springtime
