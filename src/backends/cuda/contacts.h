#pragma once

#include <span>
#include <vector>

#include "backends/cuda/contact.h"
#include "backends/cuda/device_array.h"
#include "backends/cuda/lane_set.h"
#include "sim/frame_motion.h"
#include "springtime/simulation.h"

namespace springtime::cuda {

// The obstacles of a simulation on the device. Those that move are placed for every step of a
// launch, once for all lanes that began at the same time.
class Contacts {
  public:
    explicit Contacts(const SimulationOptions& options);

    // For steps first + 1 to first + count of lanes that began at these times, as LaneSet::send()
    // counts them. `walk` is that of a stepper after step `first`: it says where obstacles are
    // that do not follow their keys. The view holds until the next call; it is null where there
    // are no obstacles.
    const ContactView* send(std::span<const double> start_time, int first, int count,
                            const FrameWalk& walk = {});
    const ContactView* send(const LaneSet& lanes, int first, int count, const FrameWalk& walk = {});

    // Memory of the device that a lane of so many steps in one launch takes, at most. [bytes]
    std::size_t bytes_per_lane(int steps) const;

  private:
    void send_shapes();
    void group_lanes(std::span<const double> start_time);
    void add_keyed(std::size_t obstacle, int first, int count);
    void add_led(std::size_t obstacle, const FrameMotion::Solid& solid, int count, FrameWalk walk);
    void add(std::size_t obstacle, const ObstaclePlacement& placement);

    std::vector<Obstacle> obstacles_;
    double dt_;
    ContactView view_;
    std::vector<double> group_time_;  // when the lanes of a group began, ascending [s]
    std::vector<int> group_;          // by lane
    std::vector<ContactBounds> bounds_;
    std::vector<ObstacleView> obstacle_views_, sent_views_;
    std::vector<PlacementView> placements_;
    DeviceArray<InPieces<ObstacleView>> device_obstacles_;
    DeviceArray<InPieces<ContactBounds>> device_bounds_;
    DeviceArray<InPieces<ContactShape>> shapes_;
    DeviceArray<PlacementView> device_placements_;
    DeviceArray<int> device_group_;
    std::vector<DeviceArray<float>> grids_;
};

}  // namespace springtime::cuda
