#pragma once

#include <array>
#include <vector>

#include "backends/simd/single_stepper.h"
#include "core/aligned.h"

namespace springtime {

// One state of a cloth of triangles and hinges, with many elements in the lanes of a register.
class MeshStepper : public SingleStepper {
  public:
    // True for a cloth of triangles and hinges alone.
    static bool fits(const Cloth& cloth);

    MeshStepper(const Cloth& cloth, const SimulationOptions& options, const KernelSet& kernels);

    void load(int lane, const State& state, const Handles& handles) override;
    void store(int lane, State& state) const override;
    void advance(int steps) override;

  private:
    // Elements in groups of the width: [group][corner or number][lane].
    struct Groups {
        int count = 0;
        std::vector<int> corners;
        AlignedVector<float> numbers;
    };
    template <class Element, class NumbersOf>
    Groups grouped(const std::vector<Element>& elements, NumbersOf numbers_of) const;

    ScatteredParticles scattered() override;
    float& mobility(std::size_t particle) override { return mobility_[particle]; }
    void meet_obstacles(const ContactScene& scene) override;

    std::size_t particle_count_;
    Groups triangles_, hinges_;
    bool damps_strain_, woven_;
    AlignedVector<float> state_;  // [particle][position, 0, velocity, 0]
    AlignedVector<float> force_, mobility_, inverse_mass_;
    std::vector<int> index_;                             // of every particle in state_
    std::array<AlignedVector<float>, 6> contact_state_;  // x, y, z of positions, then velocities
};

}  // namespace springtime
