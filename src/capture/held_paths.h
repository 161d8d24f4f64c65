#pragma once

#include <functional>
#include <vector>

#include "motion/point_frame.h"
#include "springtime/import.h"
#include "springtime/simulation.h"

namespace springtime {

// The paths of held landmarks, gathered frame by frame, and what handles become of them.
class HeldPaths {
  public:
    HeldPaths(std::vector<int> pinned, std::vector<int> driven);

    void add(const PointFrame& landmarks);

    // Pinned landmarks stand at the median of their places. Driven ones follow their observed
    // paths, straight through gaps; smoothed, by the quadratic through the five nearest frames that
    // show them, as Rollout::state() has it. Frames in which a driven one is missing are counted in
    // the report. Throws Error for a held landmark that no frame shows, by what `label` calls it.
    Handles handles(double frame_interval, bool smooth,
                    const std::function<std::string(int)>& label, RecordingReport& report) const;

  private:
    std::vector<Vec3d> driven_path(std::size_t held, double frame_interval, bool smooth,
                                   double& squares) const;

    std::vector<int> landmarks_;  // pinned, then driven
    std::size_t pinned_count_;
    std::vector<PointFrame> paths_;  // of every held landmark, over frames
};

}  // namespace springtime
