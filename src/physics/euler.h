#pragma once

#include "springtime/vec3.h"

namespace springtime {

// Semi-implicit Euler: v <- v + h a, then x <- x + dt v. The mobility h is dt for a free particle
// and zero for a handle, whose velocity is prescribed.
template <class T>
SPRINGTIME_HD inline void euler_step(Vec3<T>& position, Vec3<T>& velocity,
                                     const Vec3<T>& acceleration, const T& mobility, const T& dt)
{
    velocity += mobility * acceleration;
    position += dt * velocity;
}

// Adjoint of euler_step: turns the adjoint of the new velocity into that of the old one and returns
// that of the acceleration. The adjoint of the position stays what it was.
template <class T>
SPRINGTIME_HD inline Vec3<T> euler_adjoint(const Vec3<T>& position_adjoint,
                                           Vec3<T>& velocity_adjoint, const T& mobility,
                                           const T& dt)
{
    velocity_adjoint += dt * position_adjoint;
    return mobility * velocity_adjoint;
}

}  // namespace springtime
