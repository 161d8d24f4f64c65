#pragma once

#include <span>
#include <vector>

#include "backends/simd/kernels.h"
#include "springtime/simulation.h"

namespace springtime {

Air air_of(const SimulationOptions& options);

// A cloth in the order the kernels sweep it.
class SweepTable {
  public:
    explicit SweepTable(const Cloth& cloth);

    SweepCloth view() const
    {
        return {static_cast<int>(inverse_mass_.size()), first_.data(), springs_.data(),
                inverse_mass_.data()};
    }
    // For each place in the sweep, the index of the spring in the cloth.
    const std::vector<int>& order() const { return order_; }
    void set_parameters(std::span<const double> stiffness, std::span<const double> damping);

  private:
    std::vector<int> order_, first_;
    std::vector<SweepSpring> springs_;
    std::vector<float> inverse_mass_;
};

}  // namespace springtime
