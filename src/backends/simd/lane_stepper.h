#pragma once

#include <vector>

#include "backends/simd/contact_table.h"
#include "backends/simd/sweep_table.h"
#include "core/aligned.h"
#include "sim/stepper.h"

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

  private:
    struct Lane {
        Handles handles;
        double start_time = 0;
        long steps = 0;
    };
    std::size_t index(std::size_t particle, int axis, int lane) const
    {
        return (particle * 3 + axis) * kernels_.width + lane;
    }
    double time(const Lane& lane) const { return lane.start_time + double(lane.steps) * dt_; }
    void place(int lane, std::size_t particle, const Vec3d& position, const Vec3d& velocity);
    void place_moving_handles();
    void meet_obstacles();

    KernelSet kernels_;
    double dt_;
    Air air_;
    std::size_t particle_count_;
    SweepTable table_;
    std::vector<Lane> lanes_;
    ContactTable contact_;
    std::vector<double> lane_time_;  // [s]
    AlignedVector<float> position_, velocity_, force_, mobility_;
};

}  // namespace springtime
