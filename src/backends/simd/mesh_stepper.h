#pragma once

#include <array>
#include <optional>
#include <vector>

#include "backends/simd/contact_table.h"
#include "backends/simd/kernels.h"
#include "core/aligned.h"
#include "sim/self_collision.h"
#include "sim/stepper.h"

namespace springtime {

// One state of a cloth of triangles and hinges, with many elements in the lanes of a register.
class MeshStepper : public Stepper {
  public:
    // True for a cloth of triangles and hinges alone.
    static bool fits(const Cloth& cloth);

    MeshStepper(const Cloth& cloth, const SimulationOptions& options, const KernelSet& kernels);

    int lane_count() const override { return 1; }
    void load(int lane, const State& state, const Handles& handles) override;
    void store(int lane, State& state) const override;
    void advance(int steps) override;
    std::string name() const override { return std::string("cpu/") + kernels_.name; }

  private:
    // Elements in groups of the width: [group][corner or number][lane].
    struct Groups {
        int count = 0;
        std::vector<int> corners;
        AlignedVector<float> numbers;
    };
    template <class Element, class NumbersOf>
    Groups grouped(const std::vector<Element>& elements, NumbersOf numbers_of) const;

    double time() const { return start_time_ + double(steps_) * dt_; }
    void place(std::size_t particle, const Vec3d& position, const Vec3d& velocity);
    void place_moving_handles();
    void meet_itself();
    void meet_obstacles();

    KernelSet kernels_;
    double dt_;
    Air air_;
    std::size_t particle_count_;
    Groups triangles_, hinges_;
    bool damps_strain_;
    AlignedVector<float> state_;  // [particle][position, 0, velocity, 0]
    AlignedVector<float> force_, mobility_, inverse_mass_;
    std::optional<SelfCollision> self_;
    std::vector<int> place_;  // of every particle in state_
    ContactTable contact_;
    std::vector<double> lane_time_;                      // [s]
    std::array<AlignedVector<float>, 6> contact_state_;  // x, y, z of positions, then velocities
    Handles handles_;
    double start_time_ = 0;
    long steps_ = 0;
};

}  // namespace springtime
