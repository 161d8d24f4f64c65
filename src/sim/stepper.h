#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "springtime/simulation.h"

namespace springtime {

// Advances a batch: many states of one cloth, one per lane. Lanes never influence each other, and
// a lane's result does not depend on how many there are.
class Stepper {
  public:
    virtual ~Stepper() = default;

    virtual int lane_count() const = 0;
    virtual void load(int lane, const State& state, const Handles& handles) = 0;
    virtual void store(int lane, State& state) const = 0;
    virtual void advance(int steps) = 0;
    virtual std::string name() const = 0;
};

// Implemented by backends/registry.cpp, the only file that knows the backends.
// A single stepper has one lane and is quickest for one cloth; a batch stepper has as many lanes as
// the backend likes to run at once.
std::unique_ptr<Stepper> make_single_stepper(const Cloth& cloth, const SimulationOptions& options);
std::unique_ptr<Stepper> make_batch_stepper(const Cloth& cloth, const SimulationOptions& options);

// A particle faster than this leaves all bounds: one sheet diagonal per step. [m/s]
double largest_speed(const Sheet& sheet, double dt);

// Advances lanes 0 .. states.size() - 1 and brings `states` up to date. When a particle leaves all
// bounds (not finite, or faster than one sheet diagonal per step) the states and the stepper go
// back to where they were, and the report says which particle was first.
std::optional<StepReport> advance_checked(Stepper& stepper, std::vector<State>& states,
                                          const std::vector<Handles>& handles, int steps,
                                          const Cloth& cloth, double dt);

// Where a handle is at a time, and the velocity that took it there in the last step.
struct HandlePose {
    Vec3d position, velocity;
};
HandlePose handle_pose(const Handles& handles, std::size_t handle, double time, double dt);

// Puts handles into a state that is about to be loaded: pins at rest, moving ones on their path.
State with_handles(State state, const Handles& handles, double dt);

}  // namespace springtime
