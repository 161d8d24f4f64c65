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

}  // namespace springtime
