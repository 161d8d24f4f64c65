#pragma once

#include <algorithm>
#include <cmath>

#include "physics/spring.h"
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
// The same with fibres along the sheet's u and v. A type of its own, so that cloth without fibres
// does not pay for them.
template <class T>
struct WovenMaterial : TriangleMaterial<T> {
    T warp, weft;  // w, f [N/m]
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
    Vec3<T> normal;
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
    return {ratio, unit, {cross(f.v, unit), cross(unit, f.u)}};
}

// Energy of the fibres over area [N/m]: w/2 (|F_u| - 1)^2 + f/2 (|F_v| - 1)^2.
template <class T>
SPRINGTIME_HD inline T fibre_energy(const TriangleMaterial<T>&, const Columns<T>&)
{
    return T(0.0f);
}
template <class T>
SPRINGTIME_HD inline T fibre_energy(const WovenMaterial<T>& material, const Columns<T>& f)
{
    using std::sqrt;
    const T u = sqrt(dot(f.u, f.u)) - T(1.0f), v = sqrt(dot(f.v, f.v)) - T(1.0f);
    return T(0.5f) * (material.warp * u * u + material.weft * v * v);
}

// Energy [J]: E = A [ mu/2 (|F|^2 - 2) - mu (J - 1) + lambda/2 (J - 1)^2 ] and that of the fibres.
// Up to a constant this is A [ mu/2 |F|^2 + lambda/2 (J - 1 - mu/lambda)^2 ], but it is zero at
// rest and lambda may be.
template <class Material, class T>
SPRINGTIME_HD inline T triangle_energy(const TriangleShape<T>& shape, const Material& material,
                                       const Vec3<T>& edge1, const Vec3<T>& edge2)
{
    const Columns<T> f = deformation(shape, edge1, edge2);
    const T square = dot(f.u, f.u) + dot(f.v, f.v) - T(2.0f);
    const T growth = area_ratio(f).ratio - T(1.0f);
    return shape.area * (T(0.5f) * material.shear * square - material.shear * growth +
                         T(0.5f) * material.area * growth * growth + fibre_energy(material, f));
}

// What damping works against, beside the change of area. Rate of F in, stress over gamma out. The
// stress is linear in the rate, by a symmetric matrix; slope() is the gradient of q : stress by F.
// Every change of F:
struct DampsDeformation {
    template <class T>
    SPRINGTIME_HD static Columns<T> stress(const Columns<T>&, const Columns<T>& rate)
    {
        return rate;
    }
    template <class T>
    SPRINGTIME_HD static Columns<T> slope(const Columns<T>&, const Columns<T>&, const Columns<T>&)
    {
        return {};
    }
};
// The rate of Green's strain G = (F^T F - I)/2 alone, so that rigid motion is free:
// stress F Gdot with Gdot = (F^T Fdot + Fdot^T F)/2. At rest the same for every stretch.
struct DampsStrain {
    template <class T>
    SPRINGTIME_HD static Columns<T> stress(const Columns<T>& f, const Columns<T>& rate)
    {
        return product(f, f, rate);
    }
    // q : F Gdot = Gq : Gdot with Gq = (F^T q + q^T F)/2, so F takes q Gdot and Fdot Gq.
    template <class T>
    SPRINGTIME_HD static Columns<T> slope(const Columns<T>& f, const Columns<T>& rate,
                                          const Columns<T>& q)
    {
        const Columns<T> a = product(q, f, rate), b = product(rate, f, q);
        return {a.u + b.u, a.v + b.v};
    }

  private:
    // Y (F^T Z + Z^T F)/2
    template <class T>
    SPRINGTIME_HD static Columns<T> product(const Columns<T>& y, const Columns<T>& f,
                                            const Columns<T>& z)
    {
        const T uu = dot(f.u, z.u), vv = dot(f.v, z.v);
        const T uv = T(0.5f) * (dot(f.u, z.v) + dot(f.v, z.u));
        return {uu * y.u + uv * y.v, uv * y.u + vv * y.v};
    }
};

// What multiplies F_u and F_v in the elastic stress: mu, and in woven cloth the tension of the
// fibre over its stretch, mu + w (1 - 1/|F_u|).
template <class T>
struct ColumnStiffness {
    T u, v;
};

template <class T>
SPRINGTIME_HD inline ColumnStiffness<T> column_stiffness(const TriangleMaterial<T>& material,
                                                         const Columns<T>&)
{
    return {material.shear, material.shear};
}
template <class T>
SPRINGTIME_HD inline ColumnStiffness<T> column_stiffness(const WovenMaterial<T>& material,
                                                         const Columns<T>& f)
{
    return {material.shear + material.warp * (T(1.0f) - inverse_length_of(f.u)),
            material.shear + material.weft * (T(1.0f) - inverse_length_of(f.v))};
}

// Forces on corners 1 and 2; corner 0 feels minus their sum.
template <class T>
struct TriangleForce {
    Vec3<T> on1, on2;
};

// Force [N] = -A P : dF/dx with the stress P = dE/dF / A + gamma (S + Jdot dJ/dF), where S is what
// `Damping` gives and, without fibres,
//   dE/dF / A = mu F + (lambda (J - 1) - mu) dJ/dF.
template <class Damping, class Material, class T>
SPRINGTIME_HD inline TriangleForce<T> triangle_force(const TriangleShape<T>& shape,
                                                     const Material& material, const Vec3<T>& edge1,
                                                     const Vec3<T>& edge2, const Vec3<T>& rate1,
                                                     const Vec3<T>& rate2)
{
    const Columns<T> f = deformation(shape, edge1, edge2);
    const Columns<T> rate = deformation(shape, rate1, rate2);
    const AreaRatio<T> j = area_ratio(f);
    const T j_rate = dot(j.slope.u, rate.u) + dot(j.slope.v, rate.v);
    const T pressure =
        material.area * (j.ratio - T(1.0f)) - material.shear + material.damping * j_rate;
    const Columns<T> viscous = Damping::stress(f, rate);
    const ColumnStiffness<T> stiffness = column_stiffness(material, f);
    const Vec3<T> u = stiffness.u * f.u + pressure * j.slope.u + material.damping * viscous.u;
    const Vec3<T> v = stiffness.v * f.v + pressure * j.slope.v + material.damping * viscous.v;
    const T area = -shape.area;
    return {(area * shape.inverse[0][0]) * u + (area * shape.inverse[0][1]) * v,
            (area * shape.inverse[1][0]) * u + (area * shape.inverse[1][1]) * v};
}

// The second derivative of J times Y, which is the gradient of Y : dJ/dF by F. With N = F_u x F_v
// and its change N' = Y_u x F_v + F_u x Y_v along Y, Y : dJ/dF = n.N', and n turns by
// t = (N' - n (n.N'))/J. A triangle without a normal has no such derivative: what comes out then
// is finite and means nothing.
template <class T>
SPRINGTIME_HD inline Columns<T> area_curvature(const Columns<T>& f, const AreaRatio<T>& j,
                                               const Columns<T>& y)
{
    const Vec3<T> change = cross(y.u, f.v) + cross(f.u, y.v);
    const Vec3<T> turn = (T(1.0f) / j.ratio) * (change - dot(j.normal, change) * j.normal);
    return {cross(y.v, j.normal) + cross(f.v, turn), cross(j.normal, y.u) + cross(turn, f.u)};
}

// The gradients of q_u.F_u (mu + w (1 - 1/|F_u|)) + q_v.F_v (mu + f (1 - 1/|F_v|)) by F, w and f.
template <class T>
struct FibreAdjoint {
    Columns<T> by_f;
    T warp, weft;
};

template <class T>
SPRINGTIME_HD inline FibreAdjoint<T> fibre_adjoint(const TriangleMaterial<T>& material,
                                                   const Columns<T>&, const Columns<T>& q)
{
    return {{material.shear * q.u, material.shear * q.v}, T(0.0f), T(0.0f)};
}
template <class T>
SPRINGTIME_HD inline FibreAdjoint<T> fibre_adjoint(const WovenMaterial<T>& material,
                                                   const Columns<T>& f, const Columns<T>& q)
{
    const T u = inverse_length_of(f.u), v = inverse_length_of(f.v);
    const T along_u = dot(q.u, f.u), along_v = dot(q.v, f.v);
    const ColumnStiffness<T> stiffness = column_stiffness(material, f);
    return {{stiffness.u * q.u + (material.warp * along_u * u * u * u) * f.u,
             stiffness.v * q.v + (material.weft * along_v * v * v * v) * f.v},
            (T(1.0f) - u) * along_u,
            (T(1.0f) - v) * along_v};
}

// What a triangle hands back when the adjoints of the forces on corners 1 and 2, less that of
// corner 0, are s1 and s2: the gradient of s1.f1 + s2.f2 by edges, rates and parameters.
// triangle_adjoint() numbers the parameters: shear, area, damping, then warp and weft.
inline constexpr int kTriangleSlots = 3, kWovenSlots = 5;

template <class T>
struct TriangleAdjoint {
    Vec3<T> edge1, edge2, rate1, rate2;
    T parameters[kWovenSlots];  // the last two are zero without fibres
};

// With q = -A (s1, s2) Dm^-T that is q : P, and with C = dJ/dF, H its derivative and S, S' the
// stress and slope of `Damping`:
//   by F:    mu q + (q:C) lambda C + H (p q + gamma (q:C) Fdot) + gamma S'(Fdot, q)
//   by Fdot: gamma (S(q) + (q:C) C)
// where p is the pressure, the factor of C in the stress.
template <class Damping, class Material, class T>
SPRINGTIME_HD inline TriangleAdjoint<T> triangle_adjoint(const TriangleShape<T>& shape,
                                                         const Material& material,
                                                         const Vec3<T>& edge1, const Vec3<T>& edge2,
                                                         const Vec3<T>& rate1, const Vec3<T>& rate2,
                                                         const Vec3<T>& s1, const Vec3<T>& s2)
{
    const Columns<T> f = deformation(shape, edge1, edge2);
    const Columns<T> rate = deformation(shape, rate1, rate2);
    const Columns<T> q = deformation(shape, -shape.area * s1, -shape.area * s2);
    const AreaRatio<T> j = area_ratio(f);
    const T growth = j.ratio - T(1.0f);
    const T j_rate = dot(j.slope.u, rate.u) + dot(j.slope.v, rate.v);
    const T j_back = dot(j.slope.u, q.u) + dot(j.slope.v, q.v);
    const T pressure = material.area * growth - material.shear + material.damping * j_rate;

    const Columns<T> viscous = Damping::stress(f, q);
    const T gamma = material.damping, swelling = gamma * j_back, tension = material.area * j_back;
    const Columns<T> by_rate{gamma * viscous.u + swelling * j.slope.u,
                             gamma * viscous.v + swelling * j.slope.v};
    const Columns<T> bent = area_curvature(
        f, j, Columns<T>{pressure * q.u + swelling * rate.u, pressure * q.v + swelling * rate.v});
    const Columns<T> turned = Damping::slope(f, rate, q);
    const FibreAdjoint<T> fibres = fibre_adjoint(material, f, q);
    const Columns<T> by_f{fibres.by_f.u + tension * j.slope.u + bent.u + gamma * turned.u,
                          fibres.by_f.v + tension * j.slope.v + bent.v + gamma * turned.v};
    const auto& m = shape.inverse;
    return {m[0][0] * by_f.u + m[0][1] * by_f.v,
            m[1][0] * by_f.u + m[1][1] * by_f.v,
            m[0][0] * by_rate.u + m[0][1] * by_rate.v,
            m[1][0] * by_rate.u + m[1][1] * by_rate.v,
            {dot(q.u, f.u) + dot(q.v, f.v) - j_back, growth * j_back,
             dot(viscous.u, rate.u) + dot(viscous.v, rate.v) + j_rate * j_back, fibres.warp,
             fibres.weft}};
}

}  // namespace springtime
