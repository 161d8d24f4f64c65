#pragma once

#include <algorithm>
#include <cmath>

#include "springtime/vec3.h"

namespace springtime {

// An interior edge and the two triangles beside it, with the corners (0, 1, 2) and (1, 0, 3).
// All vectors start at corner 0: the edge to 1, the sides to 2 and 3.
template <class T>
struct HingeShape {
    // The square of twice an area [m^4] below which a triangle counts as collapsing. There the
    // angle turns without bound while corners hardly move, so the hinge fades out instead.
    T least_square1, least_square2;
};

// A triangle that has lost nine tenths of its area is collapsing. Far below what sound cloth
// reaches; at that share the hinge of the reference sheet is still softer than its triangles.
inline constexpr double kCollapsingShare = 0.1;

// From the areas of both triangles at rest [m^2].
template <class T>
HingeShape<T> hinge_shape(double area1, double area2)
{
    const double share = 2 * kCollapsingShare;
    return {T(share * area1 * share * area1), T(share * area2 * share * area2)};
}

template <class T>
struct HingeMaterial {
    T stiffness, damping;  // K [N m], K tau [N m s], per radian
};

// The angle between the normals n1 = e x s2 and n2 = s3 x e, zero when flat and of either sign:
// n1 x n2 = -(n1.s3) e, so sin : cos = -|e| (n1.s3) : n1.n2.
template <class T>
SPRINGTIME_HD inline T hinge_angle(const Vec3<T>& edge, const Vec3<T>& side2, const Vec3<T>& side3)
{
    using std::atan2;
    const Vec3<T> normal1 = cross(edge, side2), normal2 = cross(side3, edge);
    return atan2(-(length(edge) * dot(normal1, side3)), dot(normal1, normal2));
}

// Energy [J]: E = K/2 theta^2.
template <class T>
SPRINGTIME_HD inline T hinge_energy(const T& stiffness, const Vec3<T>& edge, const Vec3<T>& side2,
                                    const Vec3<T>& side3)
{
    const T angle = hinge_angle(edge, side2, side3);
    return T(0.5f) * stiffness * angle * angle;
}

// Forces on corners 1, 2 and 3; corner 0 feels minus their sum.
template <class T>
struct HingeForce {
    Vec3<T> on1, on2, on3;
};

// The angle theta of a hinge and its slopes by corners 2 and 3 (by2, by3). With t the place along
// the edge, from 0 to 1, of the foot of a corner across (foot2, foot3),
//   dtheta/dx2 = -|e| n1/|n1|^2,  dtheta/dx3 = -|e| n2/|n2|^2,  dtheta/dx1 = -t2 (..2) - t3 (..3).
// Slopes fade by the factor min(1, |n1|^2/least1) min(1, |n2|^2/least2) where a triangle collapses.
template <class T>
struct HingeSlope {
    T angle;
    Vec3<T> by2, by3;
    T foot2, foot3;
};

template <class T>
SPRINGTIME_HD inline HingeSlope<T> hinge_slope(const HingeShape<T>& shape, const Vec3<T>& edge,
                                               const Vec3<T>& side2, const Vec3<T>& side3)
{
    using std::atan2;
    using std::max;
    using std::sqrt;
    const Vec3<T> normal1 = cross(edge, side2), normal2 = cross(side3, edge);
    const T edge_square = max(dot(edge, edge), T(1e-20f));
    const T edge_length = sqrt(edge_square);
    const T angle = atan2(-(edge_length * dot(normal1, side3)), dot(normal1, normal2));

    const T square1 = dot(normal1, normal1), square2 = dot(normal2, normal2);
    const T inverse1 = T(1.0f) / max(square1, shape.least_square1);
    const T inverse2 = T(1.0f) / max(square2, shape.least_square2);
    const T share1 = square1 * inverse1, share2 = square2 * inverse2;  // one, unless it collapses
    const T inverse_edge = T(1.0f) / edge_square;
    return {angle, -(edge_length * inverse1 * share2) * normal1,
            -(edge_length * inverse2 * share1) * normal2, dot(side2, edge) * inverse_edge,
            dot(side3, edge) * inverse_edge};
}

// Force [N] = -(K theta + K tau thetadot) dtheta/dx, so that neither net force nor net torque is
// left.
template <class T>
SPRINGTIME_HD inline HingeForce<T> hinge_force(const HingeShape<T>& shape,
                                               const HingeMaterial<T>& material,
                                               const Vec3<T>& edge, const Vec3<T>& side2,
                                               const Vec3<T>& side3, const Vec3<T>& edge_rate,
                                               const Vec3<T>& rate2, const Vec3<T>& rate3)
{
    const HingeSlope<T> slope = hinge_slope(shape, edge, side2, side3);
    const T angle_rate = dot(slope.by2, rate2 - slope.foot2 * edge_rate) +
                         dot(slope.by3, rate3 - slope.foot3 * edge_rate);
    const T moment = -(material.stiffness * slope.angle + material.damping * angle_rate);
    const Vec3<T> on2 = moment * slope.by2, on3 = moment * slope.by3;
    return {-(slope.foot2 * on2 + slope.foot3 * on3), on2, on3};
}

}  // namespace springtime
