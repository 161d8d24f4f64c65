#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "springtime/cloth.h"
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
    long step = 0;    // counted from the start of the run, sub-steps each
    double time = 0;  // [s]
    int lane = 0;     // which state of a batch
};

// An estimate for the flat sheet: the explicit step is stable for dt below this. [s]
double largest_stable_step(const Cloth& cloth, const Environment& environment);

// The longest step that is safe whatever shape the sheet takes: a share of largest_stable_step()
// that depends on the network. docs/architecture.md, "Stability", has the shares. [s]
double safe_step(const Cloth& cloth, const Environment& environment);

// The least number of equal sub-steps of `dt` that are safe; this many when even more would be
// needed.
inline constexpr int kMostSubsteps = 1000000;
int stable_substeps(const Cloth& cloth, const Environment& environment, double dt);

// For SimulationOptions::substeps: as many as stable_substeps() says.
inline constexpr std::nullopt_t kAutomatic = std::nullopt;

struct SimulationOptions {
    double dt = 1e-3;  // a frame [s]: what one advance() goes forward by
    Environment environment{};
    Device device = Device::automatic;
    std::vector<Obstacle> obstacles{};
    double thickness = 0;             // [m] kept between particles and obstacles
    double self_distance = 0;         // [m] kept between particles; 0: they do not meet
    std::optional<int> substeps = 1;  // equal steps of a frame, or kAutomatic
};

// Names something that Simulation::hold() holds.
enum class HandleId : long {};

// One cloth that runs. Two simulations never share anything.
//
// Targets are reached along a frame: held particles and obstacles go straight from where they are
// to where they shall be at its end, the same way in every step, and stand still afterwards.
// Nothing here but the constructors, hold(), release() and set_drag() with automatic sub-steps
// allocates memory, unless a return type says so. A wrong argument throws Error and changes
// nothing.
class Simulation {
  public:
    // Starts flat and at rest, with nothing held. The cloth is copied.
    explicit Simulation(const Cloth& cloth, const SimulationOptions& options = {});
    // Starts from a state, with handles that follow their keys from then on, for good.
    Simulation(const Cloth& cloth, State start, Handles handles, const SimulationOptions& options);
    ~Simulation();
    Simulation(Simulation&&) noexcept;
    Simulation& operator=(Simulation&&) noexcept;

    // Goes forward by frames. On a blow-up the state stays as it was before the call, and so do
    // the targets.
    [[nodiscard]] std::optional<StepReport> advance(int frames = 1);

    // Holds particles where they are, at rest, until they are released: those of a name (see
    // particles_named), one, or several together. None of them may be held already.
    HandleId hold(std::string_view name);
    HandleId hold(int particle);
    HandleId hold(std::span<const int> particles);
    // Where the held particles, or their centre, shall be at the end of the next frame. Several
    // move like a solid: with a turn (rotation vector, [rad]) they also turn about their centre,
    // away from the shape in which they were taken hold of.
    void move(HandleId handle, const Vec3d& target, const Vec3d& turn = {});
    // Lets go. Every particle keeps the velocity of its path.
    void release(HandleId handle);
    Vec3d center(HandleId handle) const;  // where it is now [m]

    void set_gravity(const Vec3d& gravity);  // [m/s^2]
    void set_wind(const Vec3d& wind);        // [m/s]
    void set_drag(double drag);              // [1/s]

    // The place of an obstacle in the options, by its name.
    std::size_t obstacle_named(std::string_view name) const;
    // Where an obstacle shall be at the end of the next frame. It turns the shorter way. From now
    // on its keys count no more.
    void set_pose(std::size_t obstacle, const Pose& pose);

    // Of every particle, in float. A span stays where it is as long as the simulation lives, but
    // what it shows is brought up to date by the call alone.
    std::span<const Vec3f> positions() const;   // [m]
    std::span<const Vec3f> velocities() const;  // [m/s]
    // Of length one, on the upper side of a sheet that lies flat: the mean of the triangles around
    // a particle, weighted by area; zero where that is none. Throws Error for a cloth without a
    // surface.
    std::span<const Vec3f> normals() const;

    const State& state() const;
    // Acceleration of every particle in the present state, in double; zero on handles. Without
    // what obstacles and the cloth's own contact do, which are no forces but changes after a step.
    // [m/s^2]
    std::vector<Vec3d> acceleration() const;
    const Cloth& cloth() const;
    // All that is held now. What hold() holds stands where it is.
    Handles handles() const;
    // As they are now: with the present gravity, wind, drag, and poses that were set.
    const SimulationOptions& options() const;
    int substeps() const;             // steps of a frame
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
                const std::function<bool(double time)>& keep_going = {}, double look = 0.05);

// The sheet of a cloth in a state, as triangles. Throws Error for a cloth without a surface.
TriangleMesh surface_of(const Cloth& cloth, const State& state);

}  // namespace springtime
