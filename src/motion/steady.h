#pragma once

#include "springtime/simulation.h"

namespace springtime {

// Takes noise out of the paths of moving handles. Each handle keeps its median place relative to
// the mean of all, and the mean follows a robust local quadratic over `seconds` to either side.
// Keys that are far off, as those of a tracker that jumps, do not count.
void steady(Handles& handles, double seconds);

}  // namespace springtime
