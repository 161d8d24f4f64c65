#pragma once

#include <vector>

#include "backends/simd/contact_table.h"
#include "backends/simd/element_table.h"
#include "backends/simd/sweep_table.h"
#include "core/aligned.h"
#include "sim/lane_course.h"

namespace springtime {

// Several states of any cloth, one per lane of a register.
class LaneStepper : public Stepper {
  public:
    LaneStepper(const Cloth& cloth, const SimulationOptions& options, const KernelSet& kernels,
                int lanes);

    int lane_count() const override { return static_cast<int>(lanes_.size()); }
    void load(int lane, const State& state, const Handles& handles) override;
    void store(int lane, State& state) const override;
    void advance(int steps) override;
    std::string name() const override { return std::string("cpu/") + kernels_.name; }
    void set_environment(const Environment& environment) override
    {
        air_ = air_of(environment, dt_);
    }
    void hold(int lane, std::span<const int> particles) override;
    void begin_frame(const FrameMotion& motion) override;

  private:
    std::size_t index(std::size_t particle, int axis, int lane) const
    {
        return (particle * 3 + axis) * kernels_.width + lane;
    }
    ScatteredParticles scattered(int lane);
    void meet_obstacles();

    KernelSet kernels_;
    double dt_;
    Air air_;
    std::size_t particle_count_;
    SweepTable table_;
    ElementTable elements_;
    std::vector<LaneCourse> lanes_;
    ContactTable contact_;
    std::vector<int> index_;         // of particles in their lane
    std::vector<double> lane_time_;  // [s]
    AlignedVector<float> position_, velocity_, force_, mobility_;
};

}  // namespace springtime
