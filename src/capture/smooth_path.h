#pragma once

#include "motion/point_frame.h"

namespace springtime {

// A path of noisy places at even times, smoothed where it is seen: at every frame the quadratic
// through the `window` nearest frames that show the point, with weights that fall off with time and
// with the residual (Cleveland 1979), so that stray places do not bend it.
PointFrame smooth_robustly(const PointFrame& path, std::size_t window);

}  // namespace springtime
