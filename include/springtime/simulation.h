#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "springtime/cloth.h"
#include "springtime/error.h"
#include "springtime/geometry.h"
#include "springtime/obstacle.h"
#include "springtime/vec3.h"

// To run a cloth: its state, what acts on it, and Simulation. examples/game_loop.cpp shows the use.
namespace springtime {

class Crew;  // other processes that share the work of long functions: ranks.h

// ---- What acts on a cloth

// Acts on mass, not on particle count, so it means the same at every resolution.
struct Environment {
    Vec3d gravity{0, -9.81, 0};  // [m/s^2]
    double drag = 1.0;           // [1/s]: acceleration drag (wind - v)
    Vec3d wind{};                // velocity of the air [m/s]
};

// Throws Error unless all numbers are finite and the drag is not negative.
void check_environment(const Environment& environment);

// ---- States and handles

// Positions and velocities of one cloth at one time. The y axis points up.
struct State {
    double time = 0;              // [s]
    std::vector<Vec3d> position;  // [m]
    std::vector<Vec3d> velocity;  // [m/s]
};

// The flat sheet at rest, level and centred on the origin: u along x, v along z.
State flat_state(const Cloth& cloth);

// Particles whose path is prescribed. Without keys they stay where the state has them.
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

// The same handles, and pins at their places in `state` beside them. A particle that is held
// already keeps its path.
Handles with_pins(const Handles& handles, const std::vector<int>& pins, const State& state);

// Throws Error naming the obstacle that a free particle starts inside of: it would be thrown out.
void check_clear(const State& start, const Handles& handles,
                 const std::vector<Obstacle>& obstacles);

// Of contact with obstacles, where nobody says otherwise: 1/500 of the longer side. [m]
double usual_thickness(const Sheet& sheet);

// ---- Devices and steps

enum class Device { automatic, reference, cpu, cuda };

// By name: auto, reference, cpu or cuda. Throws Error for an unknown name, and for a device that
// this build does not have. Every function that takes a Device refuses such a device.
Device device_named(std::string_view name);

// A blow-up: the first particle that became infinite or moved by more than the diagonal of the
// sheet in one step.
struct StepReport {
    int particle = 0;
    long step = 0;    // counts sub-steps from the start of the run
    double time = 0;  // [s]
    int lane = 0;     // which state of a batch
};

// The explicit step of the flat sheet is stable below this estimate. [s]
double largest_stable_step(const Cloth& cloth, const Environment& environment);

// The longest step that is safe in every shape of the sheet: a share of largest_stable_step() that
// depends on the network. docs/architecture.md, "Stability", lists the shares. [s]
double safe_step(const Cloth& cloth, const Environment& environment);

// The smallest number of equal sub-steps of `dt` that are safe, at most kMostSubsteps.
inline constexpr int kMostSubsteps = 1000000;
int stable_substeps(const Cloth& cloth, const Environment& environment, double dt);

// ---- Simulation

// For SimulationOptions::substeps: the number that stable_substeps() returns.
inline constexpr std::nullopt_t kAutomatic = std::nullopt;

// The range of time steps, and of the time from one frame to the next. [s]
inline constexpr double kLeastTimeStep = 1e-9, kMostTimeStep = 100;
inline bool is_time_step(double dt)  // false for NaN
{
    return dt >= kLeastTimeStep && dt <= kMostTimeStep;
}

struct SimulationOptions {
    double dt = 1e-3;  // length of a frame [s]
    Environment environment{};
    Device device = Device::automatic;
    std::vector<Obstacle> obstacles{};
    double thickness = 0;             // [m] kept between particles and obstacles
    double self_distance = 0;         // [m] kept between particles; 0: no self-collision
    std::optional<int> substeps = 1;  // equal steps that a frame is cut into, or kAutomatic
};

// What Simulation::hold() returns.
enum class HandleId : long {};

// One cloth that runs, frame by frame. Two simulations share nothing.
//
// Targets are reached along the next frame: held particles and obstacles move straight, by the same
// distance in every sub-step, and stand still afterwards. Only constructors, hold(), release() and
// set_drag() with automatic sub-steps allocate memory, and functions that return a vector or a
// string. A function that throws Error changes nothing.
class Simulation {
  public:
    // Starts flat and at rest. The cloth is copied.
    explicit Simulation(const Cloth& cloth, const SimulationOptions& options = {});
    // Starts from a state. The handles follow their keys and cannot be released.
    Simulation(const Cloth& cloth, State start, Handles handles, const SimulationOptions& options);
    ~Simulation();
    Simulation(Simulation&&) noexcept;
    Simulation& operator=(Simulation&&) noexcept;

    // Advances by frames. After a blow-up the state and the targets are those before the call.
    [[nodiscard]] std::optional<StepReport> advance(int frames = 1);

    // Holds particles where they are until they are released: those of a name (particles_named), a
    // single one, or several together. A particle can be held once only.
    HandleId hold(std::string_view name);
    HandleId hold(int particle);
    HandleId hold(std::span<const int> particles);
    // Sets where the centre of the held particles is at the end of the next frame. They move like a
    // solid. `turn` is a rotation vector [rad] about the centre, relative to the time of hold().
    void move(HandleId handle, const Vec3d& target, const Vec3d& turn = {});
    // The particles are free again and keep the velocity of their path.
    void release(HandleId handle);
    Vec3d center(HandleId handle) const;  // the present centre [m]

    void set_gravity(const Vec3d& gravity);  // [m/s^2]
    void set_wind(const Vec3d& wind);        // [m/s]
    void set_drag(double drag);              // [1/s]

    // The index of an obstacle of the options.
    std::size_t obstacle_named(std::string_view name) const;
    // Sets the pose of an obstacle at the end of the next frame. The obstacle turns the shorter way
    // and no longer follows its keys.
    void set_pose(std::size_t obstacle, const Pose& pose);

    // One entry per particle, in float. A call updates the values; the address stays the same. Not
    // for several threads at once.
    std::span<const Vec3f> positions() const;   // [m]
    std::span<const Vec3f> velocities() const;  // [m/s]
    // Unit normals of the surface, averaged over the triangles of a particle by area. They point up
    // where the sheet is flat. Throws Error for a cloth without a surface.
    std::span<const Vec3f> normals() const;

    const State& state() const;
    // Accelerations in the present state, in double; zero for held particles. Contact is not
    // included: it changes positions and velocities after a step and is not a force. [m/s^2]
    std::vector<Vec3d> acceleration() const;
    const Cloth& cloth() const;
    // Everything that is held now. Particles of hold() are included as pins.
    Handles handles() const;
    // The options with the present gravity, wind, drag and poses.
    const SimulationOptions& options() const;
    int substeps() const;             // in a frame
    std::string device_name() const;  // e.g. "cpu/avx512"

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// A message for people: which particle, when, and what to change.
std::string describe(const StepReport& report, const Cloth& cloth,
                     const SimulationOptions& options);

// ---- Gradients of a run

// The derivatives of a number that depends on the frames of a run, by all that goes into the run.
struct RunGradient {
    ParameterValues parameters;       // by the learned parameters of the cloth
    std::vector<Vec3d> key_position;  // by the keys of the handles, in their order
    State start;                      // by position and velocity at the start
    Vec3d gravity;
    double drag = 0;
};

class RunTrace;

// A run whose frames are kept and which can be walked back, step by step, by the adjoint method.
// Nothing leads back through contact: obstacles and self-collision are refused with Error. The
// reference device has double precision, the others have float.
class TracedRun {
  public:
    // Runs so many frames of options.dt from the start. Throws Failure when the cloth blows up.
    TracedRun(const Cloth& cloth, const State& start, const Handles& handles,
              const SimulationOptions& options, int frames, const Progress& progress = {});
    ~TracedRun();
    TracedRun(TracedRun&&) noexcept;
    TracedRun& operator=(TracedRun&&) noexcept;

    // The start and every frame, one entry per particle. [m]
    const std::vector<Vec3d>& positions() const;
    std::size_t frame_count() const;  // the start is one of them

    // `by_position` are the derivatives by positions(). A number may be walked back for several
    // times; each walk after the first runs forward again before.
    RunGradient back(std::span<const Vec3d> by_position, const Progress& progress = {});

  private:
    std::unique_ptr<RunTrace> trace_;
};

// ---- Measures of a state

// [J]. Gravitational energy is zero at the origin.
struct Energy {
    double kinetic = 0, elastic = 0, gravitational = 0;
    double total() const { return kinetic + elastic + gravitational; }
};
Energy energy_of(const Cloth& cloth, const Environment& environment, const State& state);

// Largest relative change of length in a state: |l - L| / L over the springs, |s - 1| over both
// principal stretches s of the triangles.
double largest_strain(const Cloth& cloth, const State& state);

// ---- Coming to rest

// A cloth has settled when its root-mean-square speed has stayed below `speed` for `seconds`.
struct RestRule {
    double speed = 0;       // [m/s]
    double seconds = 0.5;   // [s]; a turning point of a swing is shorter
    double not_before = 0;  // [s]: nothing counts as settled before this time
};

// With a speed of a thousandth of the sheet's diagonal per second.
RestRule rest_rule(const Sheet& sheet);

// Root mean square over the particles, and the largest. [m/s]
struct Speeds {
    double rms = 0, largest = 0;
};
Speeds speeds_of(const State& state);

// Applies a rule to states in the order of their time.
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
    std::optional<StepReport> blow_up;  // the simulation keeps the state before it
};

// The same rule, with not_before at or after the last key of handles and obstacles.
RestRule after_all_paths(RestRule rule, const Simulation& simulation);

// Advances until the cloth has settled after all paths have ended, or until the time is `until`.
// The rule is applied every `interval` seconds. When Progress cancels, the simulation keeps the
// state that it has reached.
Settling settle(Simulation& simulation, const RestRule& rule, double until,
                const Progress& progress = {}, double interval = 0.05);

// The sheet of a cloth in a state, as triangles. Throws Error for a cloth without a surface.
TriangleMesh surface_of(const Cloth& cloth, const State& state);

}  // namespace springtime
