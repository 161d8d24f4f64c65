#pragma once

#include <cmath>

#include "springtime/vec3.h"

namespace springtime {

inline bool is_finite(const Vec3d& a)
{
    return std::isfinite(a.x) && std::isfinite(a.y) && std::isfinite(a.z);
}

}  // namespace springtime
