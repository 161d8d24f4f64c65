#pragma once

#include "physics/spring.h"
#include "springtime/vec3.h"

namespace springtime {

template <class T>
struct CouplingForce {
    Vec3<T> on1, on2;
};

template <class T>
SPRINGTIME_HD inline CouplingForce<T> coupling_force(const Vec3<T>& edge1, const Vec3<T>& edge2,
                                                     const T& rest1, const T& rest2,
                                                     const T& stiffness)
{
    const T inverse1 = inverse_length_of(edge1), inverse2 = inverse_length_of(edge2);
    const T stretch1 = T(1.0f) / inverse1 - rest1, stretch2 = T(1.0f) / inverse2 - rest2;
    return {-(stiffness * stretch2 * inverse1) * edge1, -(stiffness * stretch1 * inverse2) * edge2};
}

}  // namespace springtime
