#pragma once

#include <algorithm>
#include <cmath>

#include "physics/spring.h"
#include "springtime/vec3.h"

namespace springtime {

// A product of the stretches of two edges that meet in corner 0 (Delingette 2008, "Triangular
// springs for modeling nonlinear membranes"). Both vectors start there.

// An edge d of rest length L: its stretch s = |d| - L and its direction u = d/|d|. Coincident ends
// have no direction: they count as a little apart, as those of springs do.
template <class T>
struct CoupledEdge {
    T stretch, inverse_length;
    Vec3<T> unit;
};

template <class T>
SPRINGTIME_HD inline CoupledEdge<T> coupled_edge(const Vec3<T>& d, const T& rest_length)
{
    using std::max;
    using std::sqrt;
    const T square = max(dot(d, d), T(kMinLengthSquared));
    const T inverse_length = T(1.0f) / sqrt(square);
    return {square * inverse_length - rest_length, inverse_length, inverse_length * d};
}

// Energy [J]: E = c s1 s2.
template <class T>
SPRINGTIME_HD inline T coupling_energy(const Vec3<T>& d1, const Vec3<T>& d2, const T& rest1,
                                       const T& rest2, const T& stiffness)
{
    return stiffness * coupled_edge(d1, rest1).stretch * coupled_edge(d2, rest2).stretch;
}

// Forces on corners 1 and 2; corner 0 feels minus their sum.
template <class T>
struct CouplingForce {
    Vec3<T> on1, on2;
};

// Force [N]: -c s2 u1 on corner 1, -c s1 u2 on corner 2. Each acts along its edge, so neither net
// force nor net torque is left.
template <class T>
SPRINGTIME_HD inline CouplingForce<T> coupling_force(const Vec3<T>& d1, const Vec3<T>& d2,
                                                     const T& rest1, const T& rest2,
                                                     const T& stiffness)
{
    const CoupledEdge<T> edge1 = coupled_edge(d1, rest1), edge2 = coupled_edge(d2, rest2);
    return {-(stiffness * edge2.stretch) * edge1.unit, -(stiffness * edge1.stretch) * edge2.unit};
}

// What a coupling hands back when the adjoints of the forces on its corners, less that of corner 0,
// are q1 and q2: the gradient of q1.f1 + q2.f2 = -c (s2 p1 + s1 p2) with p = q.u. By d1 it is
//   -c (p2 u1 + s2 (q1 - p1 u1)/|d1|).
// coupling_adjoint() has one parameter: c.
inline constexpr int kCouplingSlots = 1;

template <class T>
struct CouplingAdjoint {
    Vec3<T> d1, d2;
    T stiffness;
};

template <class T>
SPRINGTIME_HD inline CouplingAdjoint<T> coupling_adjoint(const Vec3<T>& d1, const Vec3<T>& d2,
                                                         const T& rest1, const T& rest2,
                                                         const T& stiffness, const Vec3<T>& q1,
                                                         const Vec3<T>& q2)
{
    const CoupledEdge<T> edge1 = coupled_edge(d1, rest1), edge2 = coupled_edge(d2, rest2);
    const T along1 = dot(q1, edge1.unit), along2 = dot(q2, edge2.unit);
    const T turn1 = edge2.stretch * edge1.inverse_length;
    const T turn2 = edge1.stretch * edge2.inverse_length;
    return {-stiffness * ((along2 - turn1 * along1) * edge1.unit + turn1 * q1),
            -stiffness * ((along1 - turn2 * along2) * edge2.unit + turn2 * q2),
            -(edge2.stretch * along1 + edge1.stretch * along2)};
}

}  // namespace springtime
