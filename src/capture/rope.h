#pragma once

#include <vector>

#include "motion/point_frame.h"

namespace springtime {

// The distance of every point to the next in the list, the median over frames that show both. None
// when no frame shows some pair.
std::vector<double> spacings_along(const std::vector<PointFrame>& frames);

// Whether the points, in the order of the list, lie on a curve: consecutive ones keep their
// distance, and now and then the line through them turns little at each of them. Through the rows
// of a grid it never does at their ends.
bool is_rope(const std::vector<PointFrame>& frames);

}  // namespace springtime
