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

// Adjoint: what the adjoint of the acceleration adds to that of the velocity.
template <class T>
SPRINGTIME_HD inline Vec3<T> external_adjoint(const Vec3<T>& acceleration_adjoint, const T& drag)
{
    return -(drag * acceleration_adjoint);
}

}  // namespace springtime
