#pragma once

#include <span>
#include <vector>

#include "backends/simd/kernels.h"
#include "core/aligned.h"
#include "springtime/simulation.h"

namespace springtime {

// The obstacles of a simulation as the kernels read them.
class ContactTable {
  public:
    ContactTable(const SimulationOptions& options, int width);

    bool empty() const { return obstacles_.empty(); }
    // Puts the obstacles where each lane sees them at a time of its own. Needs `width` times.
    void place(std::span<const double> lane_time);
    ContactScene view() const;

  private:
    void write_frame(std::size_t obstacle, int lane, double time);

    std::vector<Obstacle> obstacles_;
    double thickness_, dt_;
    int width_;
    std::vector<std::vector<ContactShape>> shapes_;
    std::vector<AlignedVector<float>> frames_;
    std::vector<ContactObstacle> views_;
};

}  // namespace springtime
