#pragma once

#include <vector>

#include "springtime/motion.h"

namespace springtime {

// What the first frame of a recording shows of each landmark beside where the cloth hangs at rest,
// and beside the common bias. Zero for landmarks that are held or not seen; jumps of the tracker
// are cut. Empty if the recording does not begin at rest. The handles are corrected, the frame is
// not; `size` is that of the sheet. [m]
std::vector<Vec3d> first_frame_beside(const Rollout& first, const Handles& handles,
                                      const TrackerBias& tracker, double size);

// Seen minus real of every landmark in all frames of a recording: the common bias, and the part of
// the recording's own that lasts. [m]
std::vector<Vec3d> bias_of_recording(const Rollout& first, const Handles& handles,
                                     const TrackerBias& tracker, double size);

}  // namespace springtime
