#pragma once

#include <optional>

#include "capture/frame_plan.h"
#include "motion/point_frame.h"

namespace springtime {

// The time between two frames by the clock of the tracker: velocities that it made of differences
// are these, divided by that time. None where they are not. [s]
std::optional<double> step_by_velocities(const PointFrame& before, const PointFrame& now,
                                         const PointFrame& velocity);

// Puts the clock of the tracker in the place of stamps that say when frames were logged. `steps`
// are those above, from the last frame that differs, for every frame. Runs of known steps are set
// where their stamps are on average. Nothing is changed where steps are rarely known or contradict
// the stamps. Returns the root mean square change [s] of frames that differ, or none.
std::optional<double> correct_stamps(FrameStamps& stamps,
                                     const std::vector<std::optional<double>>& steps);

}  // namespace springtime
