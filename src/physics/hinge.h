#pragma once

#include <algorithm>
#include <cmath>

#include "physics/choose.h"
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
    // What these are made of: the normals, |e|, 1/max(|n|^2, least) and min(1, |n|^2/least).
    Vec3<T> normal1, normal2;
    T edge_length, inverse1, inverse2, share1, share2;
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
    return {angle,
            -(edge_length * inverse1 * share2) * normal1,
            -(edge_length * inverse2 * share1) * normal2,
            dot(side2, edge) * inverse_edge,
            dot(side3, edge) * inverse_edge,
            normal1,
            normal2,
            edge_length,
            inverse1,
            inverse2,
            share1,
            share2};
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

// What a hinge hands back when the adjoints of the forces on corners 1, 2 and 3, less that of
// corner 0, are q1, q2 and q3. hinge_adjoint() numbers the parameters: stiffness, then damping.
inline constexpr int kHingeSlots = 2;

template <class T>
struct HingeAdjoint {
    Vec3<T> edge, side2, side3, edge_rate, rate2, rate3;
    T parameters[kHingeSlots];
};

// With the faded slopes g2, g3 of hinge_force() and B = g2.(q2 - t2 q1) + g3.(q3 - t3 q1), the sum
// of q.f is M B with the moment M = -(K theta + K tau W), and B is to q what the rate W is to the
// velocities. So its gradient is -B K dtheta - B K tau dW + M dB, where W and B differ only in the
// vectors they are taken along: together these are c = M q - B K tau v. What follows goes back
// through g2 = -|e| n1 i1 h2 with i1 = 1/max(|n1|^2, least1), h2 = min(1, |n2|^2/least2), through
// g3 likewise, and through the feet t. A triangle that collapses has a constant i and a growing h,
// any other a falling i and h = 1.
template <class T>
SPRINGTIME_HD inline HingeAdjoint<T> hinge_adjoint(
    const HingeShape<T>& shape, const HingeMaterial<T>& material, const Vec3<T>& edge,
    const Vec3<T>& side2, const Vec3<T>& side3, const Vec3<T>& edge_rate, const Vec3<T>& rate2,
    const Vec3<T>& rate3, const Vec3<T>& q1, const Vec3<T>& q2, const Vec3<T>& q3)
{
    using std::max;
    const HingeSlope<T> slope = hinge_slope(shape, edge, side2, side3);
    const auto& [angle, slope2, slope3, foot2, foot3, normal1, normal2, edge_length, inverse1,
                 inverse2, share1, share2] = slope;
    const T square1 = dot(normal1, normal1), square2 = dot(normal2, normal2);
    const T inverse_edge = T(1.0f) / (edge_length * edge_length);

    const T rate = dot(slope2, rate2 - foot2 * edge_rate) + dot(slope3, rate3 - foot3 * edge_rate);
    const T back = dot(slope2, q2 - foot2 * q1) + dot(slope3, q3 - foot3 * q1);
    const T moment = -(material.stiffness * angle + material.damping * rate);
    const T drag = -(material.damping * back);
    const Vec3<T> c1 = moment * q1 + drag * edge_rate;
    const Vec3<T> along2 = moment * q2 + drag * rate2 - foot2 * c1;
    const Vec3<T> along3 = moment * q3 + drag * rate3 - foot3 * c1;

    // By |e|, by the squares of the normals, and by the feet.
    const T onto1 = dot(normal1, along2), onto2 = dot(normal2, along3);
    const T by_length = -(onto1 * inverse1 * share2 + onto2 * inverse2 * share1);
    const T by_square1 =
        choose(square1 < shape.least_square1, -(onto2 * edge_length * inverse2 * inverse1),
               onto1 * edge_length * share2 * inverse1 * inverse1);
    const T by_square2 =
        choose(square2 < shape.least_square2, -(onto1 * edge_length * inverse1 * inverse2),
               onto2 * edge_length * share1 * inverse2 * inverse2);
    const T by_foot2 = -dot(slope2, c1), by_foot3 = -dot(slope3, c1);
    const Vec3<T> by_normal1 =
        -(edge_length * inverse1 * share2) * along2 + (T(2.0f) * by_square1) * normal1;
    const Vec3<T> by_normal2 =
        -(edge_length * inverse2 * share1) * along3 + (T(2.0f) * by_square2) * normal2;

    // By the angle itself, whose slopes do not fade.
    const T by_angle = -(material.stiffness * back);
    const T least(1e-30f);
    const Vec3<T> angle2 = -(by_angle * edge_length / max(square1, least)) * normal1;
    const Vec3<T> angle3 = -(by_angle * edge_length / max(square2, least)) * normal2;

    const T by_edge_square =
        T(0.5f) * by_length / edge_length - (by_foot2 * foot2 + by_foot3 * foot3) * inverse_edge;
    const T pull2 = by_foot2 * inverse_edge, pull3 = by_foot3 * inverse_edge;
    return {cross(side2, by_normal1) + cross(by_normal2, side3) - foot2 * angle2 - foot3 * angle3 +
                pull2 * side2 + pull3 * side3 + (T(2.0f) * by_edge_square) * edge,
            angle2 + cross(by_normal1, edge) + pull2 * edge,
            angle3 + cross(edge, by_normal2) + pull3 * edge,
            -drag * (foot2 * slope2 + foot3 * slope3),
            drag * slope2,
            drag * slope3,
            {-(angle * back), -(rate * back)}};
}

}  // namespace springtime
