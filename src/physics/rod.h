#pragma once

#include <array>
#include <cmath>

#include "springtime/vec3.h"

namespace springtime {

// Bending and twisting of an elastic rod (Bergou et al. 2008, "Discrete elastic rods", and 2010,
// "Discrete viscous threads"). Edges e and f meet in a joint. An edge has a tangent t and a
// material frame (t, m1, m2), m2 = t x m1, that turns with the material about the edge.

inline Vec3d unit_vector(const Vec3d& a)
{
    return (1 / length(a)) * a;
}

// Any direction across a unit tangent.
inline Vec3d direction_across(const Vec3d& tangent)
{
    const Vec3d axis = std::abs(tangent.x) < 0.7 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
    return unit_vector(cross(tangent, axis));
}

// Turns a vector as the shortest rotation does that takes one unit tangent to another. Tangents
// that oppose each other have no shortest rotation.
inline Vec3d transported(const Vec3d& from, const Vec3d& to, const Vec3d& v)
{
    const Vec3d axis = cross(from, to);
    const double c = dot(from, to);
    return c * v + cross(axis, v) + (dot(axis, v) / (1 + c)) * axis;
}

// Turns a vector across a unit tangent about it, by an angle.
inline Vec3d rolled(const Vec3d& tangent, const Vec3d& v, double angle)
{
    return std::cos(angle) * v + std::sin(angle) * cross(tangent, v);
}

// The angle about a unit tangent from one vector across it to another, from -pi to pi.
inline double angle_about(const Vec3d& tangent, const Vec3d& from, const Vec3d& to)
{
    return std::atan2(dot(cross(from, to), tangent), dot(from, to));
}

struct RodEdge {
    Vec3d tangent, m1, m2;
    double length = 0;  // [m]
};

// What a joint costs: bending along both directions of the frame, and twist.
struct JointMaterial {
    double bending = 0, twisting = 0;   // B, G [N m^2]
    std::array<double, 2> curvature{};  // that it has by itself [1/m]
    double length = 0;                  // half of both edges at rest [m]
};

// The curvature of a joint, times its length: 2 tan(angle/2) between the edges, along their
// binormal; and its parts along the mean frame.
struct JointCurvature {
    Vec3d binormal;
    std::array<double, 2> along;
};

inline JointCurvature joint_curvature(const RodEdge& e, const RodEdge& f)
{
    const Vec3d kb = (2 / (1 + dot(e.tangent, f.tangent))) * cross(e.tangent, f.tangent);
    return {kb, {0.5 * dot(kb, e.m2 + f.m2), -0.5 * dot(kb, e.m1 + f.m1)}};
}

// E = B/(2 l) |kappa - l kappa_0|^2 + G/(2 l) twist^2. [J]
inline double joint_energy(const JointMaterial& joint, const JointCurvature& curvature,
                           double twist)
{
    const double a = curvature.along[0] - joint.length * joint.curvature[0];
    const double b = curvature.along[1] - joint.length * joint.curvature[1];
    return 0.5 / joint.length * (joint.bending * (a * a + b * b) + joint.twisting * twist * twist);
}

// The gradient of that energy by the two edges, as vectors from their first to their second end.
// Frames follow their edges without turning about them. [N]
struct JointGradient {
    Vec3d by_e, by_f;
};

inline JointGradient joint_gradient(const JointMaterial& joint, const RodEdge& e, const RodEdge& f,
                                    double twist)
{
    const JointCurvature kappa = joint_curvature(e, f);
    const double chi = 1 + dot(e.tangent, f.tangent);
    const Vec3d tangent = (1 / chi) * (e.tangent + f.tangent);
    const Vec3d m1 = (1 / chi) * (e.m1 + f.m1), m2 = (1 / chi) * (e.m2 + f.m2);
    const double scale = joint.bending / joint.length;
    const double a = scale * (kappa.along[0] - joint.length * joint.curvature[0]);
    const double b = scale * (kappa.along[1] - joint.length * joint.curvature[1]);
    const double c = joint.twisting / joint.length * twist;
    const Vec3d common =
        0.5 * c * kappa.binormal - (a * kappa.along[0] + b * kappa.along[1]) * tangent;
    return {(1 / e.length) * (common + cross(f.tangent, a * m2 - b * m1)),
            (1 / f.length) * (common - cross(e.tangent, a * m2 - b * m1))};
}

// The gradient of the bending energy by the angles of the two frames about their edges [N m], and
// its second derivatives.
struct JointTorques {
    double by_e, by_f, by_ee, by_ff, by_ef;
};

inline JointTorques joint_torques(const JointMaterial& joint, const RodEdge& e, const RodEdge& f)
{
    const JointCurvature kappa = joint_curvature(e, f);
    const double scale = joint.bending / joint.length;
    const double a = kappa.along[0] - joint.length * joint.curvature[0];
    const double b = kappa.along[1] - joint.length * joint.curvature[1];
    // Half of kb along the directions of each frame: what the parts of kappa lose when it turns.
    const double e1 = 0.5 * dot(kappa.binormal, e.m1), e2 = 0.5 * dot(kappa.binormal, e.m2);
    const double f1 = 0.5 * dot(kappa.binormal, f.m1), f2 = 0.5 * dot(kappa.binormal, f.m2);
    return {-scale * (a * e1 + b * e2), -scale * (a * f1 + b * f2),
            scale * (e1 * e1 + e2 * e2 - a * e2 + b * e1),
            scale * (f1 * f1 + f2 * f2 - a * f2 + b * f1), scale * (e1 * f1 + e2 * f2)};
}

}  // namespace springtime
