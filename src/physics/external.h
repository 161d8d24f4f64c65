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

// The gradient by the mass of a particle, when the adjoint of the force f on it is s. Its velocity
// went from v to v' in a step, by f/m = (v' - v)/dt - g with g the external acceleration. The
// adjoint of the acceleration is m s, so the gradient is -(m s).f/m^2 = -s.f/m.
template <class T>
SPRINGTIME_HD inline T mass_adjoint(const Vec3<T>& before, const Vec3<T>& after,
                                    const Vec3<T>& external, const T& steps_per_second,
                                    const Vec3<T>& force_adjoint)
{
    return -dot(force_adjoint, steps_per_second * (after - before) - external);
}

}  // namespace springtime
