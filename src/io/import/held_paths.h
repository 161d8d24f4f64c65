#pragma once

#include <vector>

#include "data/point_frame.h"
#include "springtime/handles.h"
#include "springtime/import.h"

namespace springtime {

// The paths of held landmarks, gathered frame by frame, and what handles become of them.
class HeldPaths {
  public:
    HeldPaths(std::vector<int> pinned, std::vector<int> driven);

    void add(const PointFrame& landmarks);

    // Pinned landmarks stand at the median of their places. Driven ones follow their observed
    // paths, straight through gaps; smoothed, by the quadratic through the five nearest frames that
    // show them, as Rollout::state() has it. Throws Error naming `source` for a held landmark that
    // no frame shows.
    Handles handles(double frame_interval, bool smooth, TakeReport& report) const;

  private:
    std::vector<Vec3d> driven_path(std::size_t held, double frame_interval, bool smooth,
                                   double& squares) const;

    std::vector<int> landmarks_;  // pinned, then driven
    std::size_t pinned_count_;
    std::vector<PointFrame> paths_;  // of every held landmark, over frames
};

}  // namespace springtime
