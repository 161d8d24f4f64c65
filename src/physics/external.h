#pragma once

#include "springtime/vec3.h"

namespace springtime {

// Acceleration [m/s^2] by gravity, and by drag [1/s] against air that moves with the wind.
template <class T>
SPRINGTIME_HD inline Vec3<T> external_acceleration(const Vec3<T>& velocity, const Vec3<T>& gravity,
                                                   const Vec3<T>& wind, const T& drag)
{
    return gravity + drag * (wind - velocity);
}

}  // namespace springtime
