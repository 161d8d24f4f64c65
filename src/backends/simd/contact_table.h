#pragma once

#include <span>
#include <vector>

#include "backends/simd/kernels.h"
#include "core/aligned.h"
#include "sim/frame_motion.h"
#include "springtime/simulation.h"

namespace springtime {

// The obstacles of a simulation as the kernels read them.
class ContactTable {
  public:
    ContactTable(const SimulationOptions& options, int width);

    bool empty() const { return obstacles_.empty(); }
    // Puts the obstacles where each lane sees them at a time of its own, or where the frame has
    // them. Needs `width` times.
    void place(std::span<const double> lane_time, const FrameWalk& walk);
    ContactScene view() const;

  private:
    void write_placement(std::size_t obstacle, int lane, const ObstaclePlacement& placement);
    void copy_placement(std::size_t obstacle, int lane);

    std::vector<Obstacle> obstacles_;
    double thickness_, dt_;
    int width_;
    std::vector<std::vector<ContactShape>> shapes_;
    std::vector<AlignedVector<float>> placements_;
    std::vector<ContactObstacle> views_;
};

}  // namespace springtime
