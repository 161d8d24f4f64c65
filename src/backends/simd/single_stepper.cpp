#include "backends/simd/single_stepper.h"

#include <algorithm>

namespace springtime {

SingleStepper::SingleStepper(const Cloth& cloth, const SimulationOptions& options,
                             const KernelSet& kernels)
    : kernels_(kernels),
      dt_(options.dt),
      air_(air_of(options.environment, options.dt)),
      contact_(options, kernels.width),
      course_(cloth, options),
      lane_time_(kernels.width, 0)
{
}

void SingleStepper::hold(int, std::span<const int> particles)
{
    for (const int p : particles) mobility(p) = 0;
    course_.hold(particles);
}

void SingleStepper::finish_step()
{
    springtime::finish_step(
        std::span(&course_, 1), [&](std::size_t) { return scattered(); },
        [&] {
            if (contact_.empty()) return;
            std::fill(lane_time_.begin(), lane_time_.end(), time());
            contact_.place(lane_time_, course_.walk());
            meet_obstacles(contact_.view());
        });
}

}  // namespace springtime
