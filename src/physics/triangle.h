#pragma once

#include <algorithm>
#include <cmath>

#include "springtime/vec3.h"

namespace springtime {

// The flat rest shape of a triangle: its area [m^2] and the inverse of Dm [1/m], whose columns are
// the edges from corner 0 to corners 1 and 2.
template <class T>
struct TriangleShape {
    T area, inverse[2][2];
};

// Edges e = (eu, ev) to corner 1 and f to corner 2 [m]; they must not be parallel.
template <class T>
TriangleShape<T> triangle_shape(double eu, double ev, double fu, double fv)
{
    const double determinant = eu * fv - fu * ev;
    return {
        T(0.5 * std::abs(determinant)),
        {{T(fv / determinant), T(-fu / determinant)}, {T(-ev / determinant), T(eu / determinant)}}};
}

template <class T>
struct TriangleMaterial {
    T shear, area, damping;  // mu [N/m], lambda [N/m], gamma [N s/m]
};

// A vector for each of the two directions of the sheet: the columns of a 3 x 2 matrix.
template <class T>
struct Columns {
    Vec3<T> u, v;
};

// F = Ds Dm^-1, where the columns of Ds are the edges to corners 1 and 2. With their rates of
// change instead it is the rate of F.
template <class T>
SPRINGTIME_HD inline Columns<T> deformation(const TriangleShape<T>& shape, const Vec3<T>& edge1,
                                            const Vec3<T>& edge2)
{
    return {shape.inverse[0][0] * edge1 + shape.inverse[1][0] * edge2,
            shape.inverse[0][1] * edge1 + shape.inverse[1][1] * edge2};
}

// J = |F_u x F_v|, the area over that at rest, and dJ/dF = (F_v x n, n x F_u) with the unit normal
// n. An area ratio below this has no normal: it feels no force of area, rather than NaN.
inline constexpr float kMinAreaRatioSquared = 1e-20f;

template <class T>
struct AreaRatio {
    T ratio;
    Columns<T> slope;
};

template <class T>
SPRINGTIME_HD inline AreaRatio<T> area_ratio(const Columns<T>& f)
{
    using std::max;
    using std::sqrt;
    const Vec3<T> normal = cross(f.u, f.v);
    const T ratio = sqrt(max(dot(normal, normal), T(kMinAreaRatioSquared)));
    const Vec3<T> unit = (T(1.0f) / ratio) * normal;
    return {ratio, {cross(f.v, unit), cross(unit, f.u)}};
}

// Energy [J]: E = A [ mu/2 (|F|^2 - 2) - mu (J - 1) + lambda/2 (J - 1)^2 ]. Up to a constant this
// is A [ mu/2 |F|^2 + lambda/2 (J - 1 - mu/lambda)^2 ], but it is zero at rest and lambda may be.
template <class T>
SPRINGTIME_HD inline T triangle_energy(const TriangleShape<T>& shape,
                                       const TriangleMaterial<T>& material, const Vec3<T>& edge1,
                                       const Vec3<T>& edge2)
{
    const Columns<T> f = deformation(shape, edge1, edge2);
    const T square = dot(f.u, f.u) + dot(f.v, f.v) - T(2.0f);
    const T growth = area_ratio(f).ratio - T(1.0f);
    return shape.area * (T(0.5f) * material.shear * square - material.shear * growth +
                         T(0.5f) * material.area * growth * growth);
}

// What damping works against, beside the change of area. Rate of F in, stress over gamma out.
// Every change of F:
struct DampsDeformation {
    template <class T>
    SPRINGTIME_HD static Columns<T> stress(const Columns<T>&, const Columns<T>& rate)
    {
        return rate;
    }
};
// The rate of Green's strain G = (F^T F - I)/2 alone, so that rigid motion is free:
// stress F Gdot with Gdot = (F^T Fdot + Fdot^T F)/2. At rest the same for every stretch.
struct DampsStrain {
    template <class T>
    SPRINGTIME_HD static Columns<T> stress(const Columns<T>& f, const Columns<T>& rate)
    {
        const T uu = dot(f.u, rate.u), vv = dot(f.v, rate.v);
        const T uv = T(0.5f) * (dot(f.u, rate.v) + dot(f.v, rate.u));
        return {uu * f.u + uv * f.v, uv * f.u + vv * f.v};
    }
};

// Forces on corners 1 and 2; corner 0 feels minus their sum.
template <class T>
struct TriangleForce {
    Vec3<T> on1, on2;
};

// Force [N] = -A P : dF/dx with the stress P = dE/dF / A + gamma (S + Jdot dJ/dF), where S is what
// `Damping` gives and
//   dE/dF / A = mu F + (lambda (J - 1) - mu) dJ/dF.
template <class Damping, class T>
SPRINGTIME_HD inline TriangleForce<T> triangle_force(const TriangleShape<T>& shape,
                                                     const TriangleMaterial<T>& material,
                                                     const Vec3<T>& edge1, const Vec3<T>& edge2,
                                                     const Vec3<T>& rate1, const Vec3<T>& rate2)
{
    const Columns<T> f = deformation(shape, edge1, edge2);
    const Columns<T> rate = deformation(shape, rate1, rate2);
    const AreaRatio<T> j = area_ratio(f);
    const T j_rate = dot(j.slope.u, rate.u) + dot(j.slope.v, rate.v);
    const T pressure =
        material.area * (j.ratio - T(1.0f)) - material.shear + material.damping * j_rate;
    const Columns<T> viscous = Damping::stress(f, rate);
    const Vec3<T> u = material.shear * f.u + pressure * j.slope.u + material.damping * viscous.u;
    const Vec3<T> v = material.shear * f.v + pressure * j.slope.v + material.damping * viscous.v;
    const T area = -shape.area;
    return {(area * shape.inverse[0][0]) * u + (area * shape.inverse[0][1]) * v,
            (area * shape.inverse[1][0]) * u + (area * shape.inverse[1][1]) * v};
}

}  // namespace springtime
