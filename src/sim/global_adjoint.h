#pragma once

#include <vector>

#include "sim/forces.h"
#include "sim/tape.h"
#include "springtime/cloth.h"
#include "springtime/simulation.h"

namespace springtime {

// What an adjoint of a state of a held particle says: of one step.
struct HeldAdjoint {
    Vec3d position, velocity;
};

// The gradient of one lane by what is no parameter of an element.
struct GlobalAdjoint {
    Vec3d gravity{};
    double drag = 0;
    std::vector<double> rest_length;  // by spring; ranges of strain stay
    std::vector<HeldAdjoint> held;    // [step, from the last to the first][handle]
};

// Goes back through the steps of a tape and gathers these gradients on the way, from the outside: a
// tape that nobody asks for them does not pay for them. The loss adds its adjoints to those of the
// tape wherever it looks at a state, as ever.
template <class Real>
class GlobalRetreat {
  public:
    // The cloth and options of the tape, and what every lane was loaded with.
    GlobalRetreat(Tape<Real>& tape, const Cloth& cloth, const SimulationOptions& options,
                  const std::vector<Handles>& handles);

    void retreat(int steps);
    // Ends at the first state, where held particles are on their paths, too.
    void end();
    const std::vector<GlobalAdjoint>& lanes() const { return lanes_; }

  private:
    void take_held();
    void add_step(const std::vector<Real>& back_position, const std::vector<Real>& back_velocity);
    Vec3d at(const Real* array, std::size_t particle, std::size_t lane) const;

    Tape<Real>& tape_;
    const Cloth& cloth_;
    ForceTable<double> table_;
    Environment environment_;
    double dt_;
    std::size_t width_;
    std::vector<Handles> handles_;
    std::vector<std::vector<bool>> held_;  // by lane and particle
    std::vector<GlobalAdjoint> lanes_;
    std::vector<Vec3d> force_;  // adjoints of the forces of one lane
};

}  // namespace springtime
