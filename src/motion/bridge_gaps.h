#pragma once

#include <vector>

#include "springtime/vec3.h"

namespace springtime {

// Draws the path of a point through the frames that do not show it (NaN): straight from the last
// that does to the next, and standing still before the first and after the last. False if none
// does.
bool bridge_gaps(std::vector<Vec3d>& path);

}  // namespace springtime
