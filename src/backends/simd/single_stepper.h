#pragma once

#include <span>
#include <string>
#include <vector>

#include "backends/simd/contact_table.h"
#include "backends/simd/kernels.h"
#include "backends/simd/sweep_table.h"
#include "sim/lane_course.h"

namespace springtime {

// One state alone: its clock, its handles and what it meets. How particles lie in memory, and how
// they step, is up to the class that derives from it.
class SingleStepper : public Stepper {
  public:
    int lane_count() const override { return 1; }
    std::string name() const override { return std::string("cpu/") + kernels_.name; }
    void set_environment(const Environment& environment) override
    {
        air_ = air_of(environment, dt_);
    }
    void hold(int lane, std::span<const int> particles) override;
    void begin_frame(const FrameMotion& motion) override { course_.begin_frame(motion); }

  protected:
    SingleStepper(const Cloth& cloth, const SimulationOptions& options, const KernelSet& kernels);

    double time() const { return course_.time(); }
    // What follows a step.
    void finish_step();

    virtual ScatteredParticles scattered() = 0;
    virtual float& mobility(std::size_t particle) = 0;
    virtual void meet_obstacles(const ContactScene& scene) = 0;

    KernelSet kernels_;
    double dt_;
    Air air_;
    ContactTable contact_;
    LaneCourse course_;

  private:
    std::vector<double> lane_time_;  // [s]
};

}  // namespace springtime
