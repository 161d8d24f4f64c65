#include "backends/simd/contact_table.h"

#include "core/assert.h"
#include "sim/obstacle_placement.h"

namespace springtime {

ContactTable::ContactTable(const SimulationOptions& options, int width)
    : obstacles_(options.obstacles), thickness_(options.thickness), dt_(options.dt), width_(width)
{
    for (const Obstacle& obstacle : obstacles_) {
        shapes_.push_back(contact_shapes(obstacle));
        placements_.emplace_back(std::size_t(kPlacementNumbers) * width, 0.0f);
        views_.push_back({static_cast<int>(shapes_.back().size()), shapes_.back().data(),
                          placements_.back().data(), static_cast<float>(obstacle.friction),
                          contact_bounds(obstacle, thickness_)});
    }
    for (std::size_t o = 0; o < obstacles_.size(); ++o) {
        write_placement(o, 0, placement_of(obstacles_[o], 0, dt_));
        for (int lane = 1; lane < width; ++lane) copy_placement(o, lane);
    }
}

void ContactTable::write_placement(std::size_t obstacle, int lane,
                                   const ObstaclePlacement& placement)
{
    float* to = placements_[obstacle].data() + lane;
    for (const Vec3d& v :
         {placement.axes[0], placement.axes[1], placement.axes[2], placement.position,
          placement.spin[0], placement.spin[1], placement.spin[2], placement.drift}) {
        for (int axis = 0; axis < 3; ++axis, to += width_) *to = float(v[axis]);
    }
}

// From the lane before.
void ContactTable::copy_placement(std::size_t obstacle, int lane)
{
    float* number = placements_[obstacle].data() + lane;
    for (int i = 0; i < kPlacementNumbers; ++i, number += width_) *number = number[-1];
}

void ContactTable::place(std::span<const double> lane_time, const FrameWalk& walk)
{
    SPRINGTIME_ASSERT(lane_time.size() == std::size_t(width_));
    for (std::size_t o = 0; o < obstacles_.size(); ++o) {
        const FrameMotion::Solid* solid = walk.solid(o);
        if (solid ? !walk.changes(*solid) : !obstacles_[o].moving()) continue;
        for (int lane = 0; lane < width_; ++lane) {
            if (lane > 0 && (solid || lane_time[lane] == lane_time[lane - 1])) {
                copy_placement(o, lane);
            } else {
                write_placement(o, lane,
                                solid ? walk.placement(*solid, dt_)
                                      : placement_of(obstacles_[o], lane_time[lane], dt_));
            }
        }
    }
}

ContactScene ContactTable::view() const
{
    return {static_cast<int>(views_.size()), views_.data(), float(thickness_), float(dt_)};
}

}  // namespace springtime
