#pragma once

#include <array>
#include <vector>

#include "backends/simd/single_stepper.h"
#include "core/aligned.h"

namespace springtime {

// One state of a regular grid, with neighbouring columns in the lanes of a register.
class GridStepper : public SingleStepper {
  public:
    // True for a grid of springs that all lead along kGridOffsets, at most one each from a
    // particle, and of bends likewise.
    static bool fits(const Cloth& cloth);

    GridStepper(const Cloth& cloth, const SimulationOptions& options, const KernelSet& kernels);

    void load(int lane, const State& state, const Handles& handles) override;
    void store(int lane, State& state) const override;
    void advance(int steps) override;

  private:
    std::size_t index(std::size_t particle) const
    {
        return kGridMargin + particle / cols_ * pitch_ + particle % cols_;
    }
    ScatteredParticles scattered() override;
    float& mobility(std::size_t particle) override { return mobility_[index(particle)]; }
    void meet_obstacles(const ContactScene& scene) override;

    // Springs along one offset, by their first end.
    struct OffsetSprings {
        AlignedVector<float> rest_length, stiffness, damping;
        AlignedVector<float> laws;  // [number of the law][place]; empty where there are none
    };
    // Bends along one line, by their first end.
    struct LineBends {
        AlignedVector<float> stiffness, damping;
        bool damped = false;  // some of them has damping
    };
    void add_springs(const Cloth& cloth, std::size_t numbers);
    void add_bends(const Cloth& cloth, std::size_t numbers);
    int add_offset(int offset, GridArrays& grid) const;
    GridArrays arrays();

    std::size_t rows_, cols_, pitch_;
    int range_count_;
    long law_pitch_;  // numbers in an array of the springs, or zero without laws
    bool compression_law_;
    std::array<OffsetSprings, kGridOffsetCount> springs_;
    std::array<LineBends, kGridLineCount> bends_;
    std::array<AlignedVector<float>, 3> position_, velocity_;
    AlignedVector<float> mobility_, inverse_mass_, force_;
    std::vector<int> index_;  // of particles
};

}  // namespace springtime
