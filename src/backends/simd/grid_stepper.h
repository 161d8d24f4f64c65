#pragma once

#include <array>
#include <vector>

#include "backends/simd/contact_table.h"
#include "backends/simd/kernels.h"
#include "core/aligned.h"
#include "sim/stepper.h"

namespace springtime {

// One state of a regular grid, with neighbouring columns in the lanes of a register.
class GridStepper : public Stepper {
  public:
    // True for a grid whose springs all lead along kGridOffsets, at most one each.
    static bool fits(const Cloth& cloth);

    GridStepper(const Cloth& cloth, const SimulationOptions& options, const KernelSet& kernels);

    int lane_count() const override { return 1; }
    void load(int lane, const State& state, const Handles& handles) override;
    void store(int lane, State& state) const override;
    void advance(int steps) override;
    std::string name() const override { return std::string("cpu/") + kernels_.name; }

  private:
    std::size_t index(std::size_t particle) const
    {
        return kGridMargin + particle / cols_ * pitch_ + particle % cols_;
    }
    double time() const { return start_time_ + double(steps_) * dt_; }
    void place(std::size_t particle, const Vec3d& position, const Vec3d& velocity);
    void place_moving_handles();
    void meet_obstacles();

    // Springs along one offset, by their first end.
    struct OffsetSprings {
        GridOffset offset;
        AlignedVector<float> rest_length, stiffness, damping;
    };

    KernelSet kernels_;
    double dt_;
    Air air_;
    std::size_t rows_, cols_, pitch_;
    std::vector<OffsetSprings> springs_;
    std::array<AlignedVector<float>, 3> position_, velocity_;
    AlignedVector<float> mobility_, inverse_mass_, force_;
    ContactTable contact_;
    Handles handles_;
    double start_time_ = 0;
    long steps_ = 0;
};

}  // namespace springtime
