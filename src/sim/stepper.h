#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/key_path.h"
#include "springtime/simulation.h"

namespace springtime {

struct FrameMotion;

// Advances a batch: many states of one cloth, one per lane. Lanes never influence each other, and
// a lane's result does not depend on how many there are. The step is the dt of its options.
// Nothing is allocated while it advances; only lists of particles that meet each other may grow.
class Stepper {
  public:
    virtual ~Stepper() = default;

    virtual int lane_count() const = 0;
    virtual void load(int lane, const State& state, const Handles& handles) = 0;
    virtual void store(int lane, State& state) const = 0;
    virtual void advance(int steps) = 0;
    virtual std::string name() const = 0;

    // ---- While it runs ----

    virtual void set_environment(const Environment& environment) = 0;
    // Holds particles beside the handles of load(), which frees them again.
    virtual void hold(int lane, std::span<const int> particles) = 0;
    // The next step is the first of a frame. Of steppers with one lane; the motion must stay until
    // the next call of this or of load().
    virtual void begin_frame(const FrameMotion& motion) = 0;
};

// Implemented by backends/registry.cpp, the only file that knows the backends.
// A single stepper has one lane and is quickest for one cloth; a batch stepper has as many lanes as
// the backend likes to run at once.
std::unique_ptr<Stepper> make_single_stepper(const Cloth& cloth, const SimulationOptions& options);
std::unique_ptr<Stepper> make_batch_stepper(const Cloth& cloth, const SimulationOptions& options);

// A particle faster than this leaves all bounds: one sheet diagonal per step. [m/s]
double largest_speed(const Sheet& sheet, double dt);

// The first particle that has left all bounds: it is not finite, or faster than `speed_limit`.
std::optional<int> first_bad_particle(const State& state, double speed_limit);

// Of the lanes of the stepper, brought up to date in `states`, the first in lane order that holds a
// particle which has left all bounds.
std::optional<StepReport> store_checked(const Stepper& stepper, std::vector<State>& states,
                                        double speed_limit);

// Advances lanes 0 .. states.size() - 1 and brings `states` up to date. When a particle leaves all
// bounds, the states and the stepper go back to where they were, and the report says which
// particle was first. `spare` is room for as many states; `go_back` loads `states` again.
template <class GoBack>
std::optional<StepReport> advance_checked(Stepper& stepper, std::vector<State>& states,
                                          std::vector<State>& spare, int steps, double speed_limit,
                                          GoBack go_back)
{
    stepper.advance(steps);
    auto report = store_checked(stepper, spare, speed_limit);
    if (!report) {
        states.swap(spare);
        return std::nullopt;
    }
    // Go back and step singly, to name the first particle and the exact time.
    go_back();
    for (int step = 1; step <= steps; ++step) {
        stepper.advance(1);
        if (const auto first = store_checked(stepper, spare, speed_limit)) {
            report = first;
            report->step = step;
            break;
        }
    }
    go_back();
    return report;
}

// So many steps of so many particles take some hundredths of a second, and a tenth with triangles.
// Longer runs are cut into such pieces, to ask whether they are cancelled.
inline int steps_per_piece(std::size_t particles)
{
    constexpr std::size_t kParticleSteps = 2000000;
    return int(std::max<std::size_t>(1, kParticleSteps / std::max<std::size_t>(1, particles)));
}

// Called after every piece with its share of the steps; what it throws ends them.
using PieceDone = std::function<void(double share)>;

// The same for a batch whose lanes follow their handles alone, in pieces: states and stepper go
// back to the beginning of the piece.
std::optional<StepReport> advance_checked(Stepper& stepper, std::vector<State>& states,
                                          const std::vector<Handles>& handles, int steps,
                                          const Cloth& cloth, double dt,
                                          const PieceDone& piece_done = {});

KeyPath key_path(const Handles& handles);
KeyShare key_share(const Handles& handles, double time);
HandlePose handle_pose(const Handles& handles, std::size_t handle, double time, double dt);

// Calls place(particle, position, velocity) for every handle that moves.
template <class Place>
void place_moving_handles(const Handles& handles, double time, double dt, Place place)
{
    if (!handles.moving()) return;
    for (std::size_t h = 0; h < handles.particles.size(); ++h) {
        const HandlePose pose = handle_pose(handles, h, time, dt);
        place(handles.particles[h], pose.position, pose.velocity);
    }
}

// Puts handles into a state that is about to be loaded: pins at rest, moving ones on their path.
State with_handles(State state, const Handles& handles, double dt);

}  // namespace springtime
