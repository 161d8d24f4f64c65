#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/simd/contact_table.h"
#include "backends/simd/kernels.h"
#include "backends/simd/sweep_table.h"
#include "sim/self_collision.h"
#include "sim/stepper.h"

namespace springtime {

// One state alone: its clock, its handles and what it meets. How particles lie in memory, and how
// they step, is up to the class that derives from it.
class SingleStepper : public Stepper {
  public:
    int lane_count() const override { return 1; }
    std::string name() const override { return std::string("cpu/") + kernels_.name; }

  protected:
    SingleStepper(const Cloth& cloth, const SimulationOptions& options, const KernelSet& kernels);

    void begin(const State& state, const Handles& handles);
    double time() const { return start_time_ + double(steps_) * dt_; }
    // What follows a step: handles, then contact of the cloth with itself, then obstacles, which
    // have the last word so that nothing ends inside them.
    void finish_step();

    virtual void place(std::size_t particle, const Vec3d& position, const Vec3d& velocity) = 0;
    virtual ScatteredParticles scattered() = 0;
    virtual void meet_obstacles(const ContactScene& scene) = 0;

    KernelSet kernels_;
    double dt_;
    Air air_;
    ContactTable contact_;

  private:
    std::optional<SelfCollision> self_;
    std::vector<double> lane_time_;  // [s]
    Handles handles_;
    double start_time_ = 0;
    long steps_ = 0;
};

}  // namespace springtime
