#pragma once

#include "springtime/vec3.h"

namespace springtime {

// Bending that is quadratic in positions, of three neighbours in line a, m, b (Bergou et al. 2006,
// "A quadratic bending model for inextensible surfaces"). e = x_a - 2 x_m + x_b is a linear
// function of positions, so everything here is linear in them, and there is no square root.

// The second difference of anything along the line: of positions it is e, of velocities its rate.
// It is given by the differences from a to the middle and from a to b, or by all three.
template <class T>
SPRINGTIME_HD inline Vec3<T> second_difference(const Vec3<T>& to_middle, const Vec3<T>& to_b)
{
    return to_b - T(2.0f) * to_middle;
}
template <class T>
SPRINGTIME_HD inline Vec3<T> second_difference(const Vec3<T>& a, const Vec3<T>& middle,
                                               const Vec3<T>& b)
{
    return second_difference(middle - a, b - a);  // close points first: less is lost to rounding
}

// Energy [J]: E = kappa/2 |e|^2.
template <class T>
SPRINGTIME_HD inline T bend_energy(const Vec3<T>& e, const T& stiffness)
{
    return T(0.5f) * stiffness * dot(e, e);
}

// Force on a and on b [N]: f = -(kappa e + eta e'), with e' the rate of e; m feels -2 f. The forces
// sum to zero. Those of kappa exert no torque, because their energy does not change when all three
// turn together; those of eta slow a line that turns only while it is bent.
template <class T>
SPRINGTIME_HD inline Vec3<T> bend_force(const Vec3<T>& e, const Vec3<T>& rate, const T& stiffness,
                                        const T& damping)
{
    return -(stiffness * e + damping * rate);
}
// Without damping.
template <class T>
SPRINGTIME_HD inline Vec3<T> bend_force(const Vec3<T>& e, const T& stiffness)
{
    return -(stiffness * e);
}

// What a bend hands back when the adjoints of its three forces are s_a, s_m, s_b. These act through
// their second difference s alone: the gradient of s.f by e, e', kappa and eta. a and b take the
// first two as adjoints of position and velocity, m takes -2 times them.
// bend_adjoint() numbers the parameters: stiffness, then damping.
inline constexpr int kBendSlots = 2;

template <class T>
struct BendAdjoint {
    Vec3<T> e, rate;
    T stiffness, damping;
};

template <class T>
SPRINGTIME_HD inline BendAdjoint<T> bend_adjoint(const Vec3<T>& e, const Vec3<T>& rate,
                                                 const T& stiffness, const T& damping,
                                                 const Vec3<T>& s)
{
    return {-stiffness * s, -damping * s, -dot(s, e), -dot(s, rate)};
}
// Without damping: by e and kappa.
template <class T>
struct UndampedBendAdjoint {
    Vec3<T> e;
    T stiffness;
};

template <class T>
SPRINGTIME_HD inline UndampedBendAdjoint<T> bend_adjoint(const Vec3<T>& e, const T& stiffness,
                                                         const Vec3<T>& s)
{
    return {-stiffness * s, -dot(s, e)};
}

}  // namespace springtime
