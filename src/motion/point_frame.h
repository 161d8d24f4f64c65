#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "springtime/vec3.h"

namespace springtime {

// Tracked points in one frame; one that is missing is NaN in all three coordinates.
using PointFrame = std::vector<Vec3d>;

inline constexpr Vec3d kMissingPoint{std::numeric_limits<double>::quiet_NaN(),
                                     std::numeric_limits<double>::quiet_NaN(),
                                     std::numeric_limits<double>::quiet_NaN()};

inline bool is_seen(const Vec3d& point)
{
    return !std::isnan(point.x);
}

}  // namespace springtime
