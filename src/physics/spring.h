#pragma once

#include <algorithm>
#include <cmath>

#include "springtime/vec3.h"

namespace springtime {

// Squared lengths below this [m^2] count as this, so that coincident ends give zero, not NaN.
inline constexpr float kMinLengthSquared = 1e-20f;

// Energy [J]: E = k/2 (l - L)^2, with d = x_b - x_a and l = |d|.
template <class T>
SPRINGTIME_HD inline T spring_energy(const Vec3<T>& d, const T& rest_length, const T& stiffness)
{
    const T stretch = length(d) - rest_length;
    return T(0.5f) * stiffness * stretch * stretch;
}

// Force on a [N]: f = [k (l - L)/l + b (v.d)/l^2] d, with v = v_b - v_a; b feels the opposite.
// The first term is minus the energy gradient, the second a dashpot along the spring.
template <class T>
SPRINGTIME_HD inline Vec3<T> spring_force(const Vec3<T>& d, const Vec3<T>& v, const T& rest_length,
                                          const T& stiffness, const T& damping)
{
    using std::max;
    using std::sqrt;
    const T inverse_length = T(1.0f) / sqrt(max(dot(d, d), T(kMinLengthSquared)));
    const T elastic = stiffness * (T(1.0f) - rest_length * inverse_length);
    const T viscous = damping * dot(v, d) * inverse_length * inverse_length;
    return (elastic + viscous) * d;
}

}  // namespace springtime
