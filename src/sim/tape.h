#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "springtime/simulation.h"

namespace springtime {

// A batch that remembers its way and can be walked back, for gradients by the adjoint method.
// Arrays are [particle][xyz][lane].
//
// It keeps every state of the last stretch of steps, which is as long as memory allows, and one
// state at the start of each stretch before; going back into an earlier stretch runs it again from
// there. With stretches as long as the root of the number of steps, memory grows with that root.
template <class Real>
class Tape {
  public:
    virtual ~Tape() = default;

    virtual int lane_count() const = 0;
    // The values of all learned parameters; then, if they are learned as well, the masses of the
    // particles in one more array. Rest lengths and ranges of strain stay.
    virtual void set_parameters(const ParameterValues& values) = 0;

    // Forgets all, then takes the start of every lane; lanes that are not loaded stay at rest.
    virtual void begin(int steps) = 0;
    virtual void load(int lane, const State& state, const Handles& handles) = 0;

    // The way there.
    virtual void advance(int steps) = 0;
    virtual std::span<const Real> position() const = 0;  // of the present step
    virtual std::span<const Real> velocity() const = 0;
    virtual std::span<const Real> acceleration() = 0;  // zero for handles

    // The way back, from where the way there ended. The adjoints of the present state are zero at
    // first; the loss adds its own to them wherever it looks at a state.
    virtual void begin_back() = 0;
    virtual std::span<Real> position_adjoint() = 0;
    virtual std::span<Real> velocity_adjoint() = 0;
    // Adds what an adjoint of the present acceleration (zero for handles) means for the state.
    virtual void pull_acceleration(std::span<const Real> adjoint) = 0;
    virtual void retreat(int steps) = 0;

    // Adds the gradient so far: summed over the lanes, or of one lane.
    virtual void add_gradient(ParameterValues& gradient) const = 0;
    virtual void add_lane_gradient(int lane, ParameterValues& gradient) const = 0;
};

struct TapeOptions {
    std::size_t memory = std::size_t(256) << 20;  // [bytes]; more than this is run twice
    // The gradient by parameters that are zero may be left out: they are not learned.
    bool zeros_stay = false;
    // Called every few steps by the thread that runs the tape. What it throws ends the run.
    std::function<void()> heartbeat{};
};

// Implemented by backends/registry.cpp.
std::unique_ptr<Tape<float>> make_fast_tape(const Cloth& cloth, const SimulationOptions& options,
                                            const TapeOptions& tape = {});
std::unique_ptr<Tape<double>> make_reference_tape(const Cloth& cloth,
                                                  const SimulationOptions& options,
                                                  const TapeOptions& tape = {});

// Throws Error for options with contact, which no tape knows the way back through.
void check_tape_options(const SimulationOptions& options);

// Steps between kept states: all of them when they fit, else the root of their number.
int stretch_length(int steps, std::size_t state_bytes, std::size_t memory);
// Where the last stretch begins: a multiple of the others' length. It has what memory they leave.
int last_stretch(int steps, std::size_t state_bytes, std::size_t memory);

}  // namespace springtime
