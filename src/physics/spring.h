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

// How much of a stretch l - L lies between two others, counted from rest. [m]
template <class T>
SPRINGTIME_HD inline T stretch_within(const T& stretch, const T& from, const T& to)
{
    using std::max;
    using std::min;
    return min(max(stretch, from), to) - min(max(T(0.0f), from), to);
}

// What a spring hands back when the adjoint of its force f is s: the gradient of s.f by
// d, v, k and b. With f = c d, c = k (1 - L/l) + b (v.d)/l^2:
//   by d: c s + (s.d) dc/dd,  dc/dd = (k L/l - 2 b (v.d)/l^2) d/l^2 + b v/l^2
//   by v: b (s.d) d/l^2      by k: (s.d) (1 - L/l)      by b: (s.d) (v.d)/l^2
template <class T>
struct SpringAdjoint {
    Vec3<T> d, v;
    T stiffness, damping;
};

template <class T>
SPRINGTIME_HD inline SpringAdjoint<T> spring_adjoint(const Vec3<T>& d, const Vec3<T>& v,
                                                     const T& rest_length, const T& stiffness,
                                                     const T& damping, const Vec3<T>& s)
{
    using std::max;
    using std::sqrt;
    const T inverse_length = T(1.0f) / sqrt(max(dot(d, d), T(kMinLengthSquared)));
    const T inverse_square = inverse_length * inverse_length;
    const T ratio = rest_length * inverse_length;
    const T along = dot(s, d);
    const T rate = dot(v, d) * inverse_square;
    const T viscous = damping * rate;
    const T coefficient = stiffness * (T(1.0f) - ratio) + viscous;
    const T by_d = (stiffness * ratio - T(2.0f) * viscous) * inverse_square * along;
    const T by_v = damping * inverse_square * along;
    return {coefficient * s + by_d * d + by_v * v, by_v * d, along * (T(1.0f) - ratio),
            along * rate};
}

}  // namespace springtime
