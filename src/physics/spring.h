#pragma once

#include <algorithm>
#include <cmath>

#include "physics/choose.h"
#include "physics/inverse_root.h"
#include "springtime/vec3.h"

namespace springtime {

// Squared lengths below this [m^2] count as this, so that coincident ends give zero, not NaN.
inline constexpr float kMinLengthSquared = 1e-20f;

// 1/l [1/m], with l = |d|.
template <class T>
SPRINGTIME_HD inline T inverse_length_of(const Vec3<T>& d)
{
    using std::max;
    return inverse_root(max(dot(d, d), T(kMinLengthSquared)));
}

// Energy [J]: E = k/2 (l - L)^2, with d = x_b - x_a and l = |d|.
template <class T>
SPRINGTIME_HD inline T spring_energy(const Vec3<T>& d, const T& rest_length, const T& stiffness)
{
    const T stretch = length(d) - rest_length;
    return T(0.5f) * stiffness * stretch * stretch;
}

// Force on a [N]: f = p d, with the pull p = k (l - L)/l + b (v.d)/l^2 [N/m] and v = v_b - v_a; b
// feels the opposite. The first term is minus the energy gradient, the second a dashpot along the
// spring.
template <class T>
SPRINGTIME_HD inline T spring_pull(const Vec3<T>& d, const Vec3<T>& v, const T& rest_length,
                                   const T& stiffness, const T& damping)
{
    const T inverse_length = inverse_length_of(d);
    const T elastic = stiffness * (T(1.0f) - rest_length * inverse_length);
    const T viscous = damping * dot(v, d) * inverse_length * inverse_length;
    return elastic + viscous;
}

template <class T>
SPRINGTIME_HD inline Vec3<T> spring_force(const Vec3<T>& d, const Vec3<T>& v, const T& rest_length,
                                          const T& stiffness, const T& damping)
{
    return spring_pull(d, v, rest_length, stiffness, damping) * d;
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
    const T inverse_length = inverse_length_of(d);
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

// ---- Laws beyond one stiffness and a dashpot along the spring

// The formulas number their parameters: stiffness, damping, the stiffness of every range, then
// isotropic damping. That is the order of the table of parameter kinds (cloth/parameters.cpp).
inline constexpr int kFirstRangeSlot = 2;
inline constexpr int kSlotsBesideRanges = 3;

// No more than that: the formulas above, with nothing added to them.
struct NoLaw {};

// A range of stretches l - L [m] with a stiffness k_j [N/m] of its own: the slope of the force.
template <class T>
struct SpringRange {
    T from, to;
    T stiffness;
};

// The ranges of one spring and its isotropic damping [N s/m], as the formulas below ask for them.
template <class T>
struct RangeLaw {
    int range_count;
    const SpringRange<T>* ranges;
    T isotropic_damping;

    SPRINGTIME_HD const SpringRange<T>& range(int j) const { return ranges[j]; }
    SPRINGTIME_HD const T& isotropic() const { return isotropic_damping; }
};

// One range, all strains below rest, and nothing else: the formulas below with a choice between two
// stiffnesses in place of shares. It is the most common law and costs little more than none.
template <class T>
struct CompressionKnot {
    T stiffness;

    // Of a spring along d.
    SPRINGTIME_HD auto compressed(const Vec3<T>& d, const T& rest_length) const
    {
        return T(1.0f) - rest_length * inverse_length_of(d) < T(0.0f);
    }
};

// The same with isotropic damping.
template <class T>
struct CompressionLaw {
    CompressionKnot<T> knot;
    T isotropic_damping;

    SPRINGTIME_HD const T& isotropic() const { return isotropic_damping; }
};

// How much of a stretch l - L lies between two others, counted from rest. [m]
template <class T>
SPRINGTIME_HD inline T stretch_within(const T& stretch, const T& from, const T& to)
{
    using std::max;
    using std::min;
    return min(max(stretch, from), to) - min(max(T(0.0f), from), to);
}

// Energy [J]: E = k/2 s^2 + sum_j (k_j - k) e_j, with s = l - L and w_j the share of s in range j.
// e_j = w_j^2/2 + w_j (s - s_j), with s_j the stretch in the range that is nearest to s: beyond the
// range the share stays, and the energy grows in proportion. So de_j/ds = w_j.
template <class T, class Law>
SPRINGTIME_HD inline T spring_energy(const Vec3<T>& d, const T& rest_length, const T& stiffness,
                                     const Law& law)
{
    using std::max;
    using std::min;
    const T stretch = length(d) - rest_length;
    T energy = spring_energy(d, rest_length, stiffness);
    for (int j = 0; j < law.range_count; ++j) {
        const SpringRange<T> range = law.range(j);
        const T within = stretch_within(stretch, range.from, range.to);
        const T beyond = stretch - min(max(stretch, range.from), range.to);
        energy = energy + (range.stiffness - stiffness) * within * (T(0.5f) * within + beyond);
    }
    return energy;
}

// Force on a [N]: p d + c v, where the pull is that of one stiffness plus sum_j (k_j - k) w_j / l.
// The dashpot c works against all relative velocity, so it keeps momentum but slows a spring that
// turns: angular momentum is lost.
template <class T>
SPRINGTIME_HD inline T spring_pull(const Vec3<T>& d, const Vec3<T>& v, const T& rest_length,
                                   const T& stiffness, const T& damping, const NoLaw&)
{
    return spring_pull(d, v, rest_length, stiffness, damping);
}

template <class T, class Law>
SPRINGTIME_HD inline T spring_pull(const Vec3<T>& d, const Vec3<T>& v, const T& rest_length,
                                   const T& stiffness, const T& damping, const Law& law)
{
    using std::max;
    const T square = max(dot(d, d), T(kMinLengthSquared));
    const T inverse_length = inverse_root(square);
    const T stretch = square * inverse_length - rest_length;
    T more(0.0f);
    for (int j = 0; j < law.range_count; ++j) {
        const SpringRange<T> range = law.range(j);
        more = more + (range.stiffness - stiffness) * stretch_within(stretch, range.from, range.to);
    }
    return spring_pull(d, v, rest_length, stiffness, damping) + more * inverse_length;
}

template <class T>
SPRINGTIME_HD inline T spring_pull(const Vec3<T>& d, const Vec3<T>& v, const T& rest_length,
                                   const T& stiffness, const T& damping,
                                   const CompressionKnot<T>& knot)
{
    const T chosen = choose(knot.compressed(d, rest_length), knot.stiffness, stiffness);
    return spring_pull(d, v, rest_length, chosen, damping);
}

template <class T>
SPRINGTIME_HD inline T spring_pull(const Vec3<T>& d, const Vec3<T>& v, const T& rest_length,
                                   const T& stiffness, const T& damping,
                                   const CompressionLaw<T>& law)
{
    return spring_pull(d, v, rest_length, stiffness, damping, law.knot);
}

template <class T>
SPRINGTIME_HD inline Vec3<T> spring_force(const Vec3<T>& d, const Vec3<T>& v, const T& rest_length,
                                          const T& stiffness, const T& damping, const NoLaw&)
{
    return spring_force(d, v, rest_length, stiffness, damping);
}

template <class T, class Law>
SPRINGTIME_HD inline Vec3<T> spring_force(const Vec3<T>& d, const Vec3<T>& v, const T& rest_length,
                                          const T& stiffness, const T& damping, const Law& law)
{
    return law.isotropic() * v + spring_pull(d, v, rest_length, stiffness, damping, law) * d;
}

// The adjoint likewise. With g = sum_j (k_j - k) w_j / l and S' the sum of k_j - k over the ranges
// that s lies in (from their lower end on; at a knot the derivative is that from above):
//   by d: g s + (s.d) (S' - g) d/l^2      by v: c s       by k: -(s.d) sum_j w_j / l
//   by k_j: (s.d) w_j / l                 by c: s.v
// `add` takes the last two: add(j, value) for every range, then add(range_count, value).
template <class T, class Add>
SPRINGTIME_HD inline SpringAdjoint<T> spring_adjoint(const Vec3<T>& d, const Vec3<T>& v,
                                                     const T& rest_length, const T& stiffness,
                                                     const T& damping, const NoLaw&,
                                                     const Vec3<T>& s, const Add&)
{
    return spring_adjoint(d, v, rest_length, stiffness, damping, s);
}

template <class T, class Law, class Add>
SPRINGTIME_HD inline SpringAdjoint<T> spring_adjoint(const Vec3<T>& d, const Vec3<T>& v,
                                                     const T& rest_length, const T& stiffness,
                                                     const T& damping, const Law& law,
                                                     const Vec3<T>& s, const Add& add)
{
    using std::max;
    const T square = max(dot(d, d), T(kMinLengthSquared));
    const T inverse_length = inverse_root(square);
    const T stretch = square * inverse_length - rest_length;
    const T along = dot(s, d);
    T more(0.0f), slope(0.0f), shares(0.0f);
    for (int j = 0; j < law.range_count; ++j) {
        const SpringRange<T> range = law.range(j);
        const T share = stretch_within(stretch, range.from, range.to) * inverse_length;
        const T extra = range.stiffness - stiffness;
        more = more + extra * share;
        shares = shares + share;
        slope = slope + choose((stretch >= range.from) & (stretch < range.to), extra, T(0.0f));
        add(j, along * share);
    }
    add(law.range_count, dot(s, v));
    SpringAdjoint<T> back = spring_adjoint(d, v, rest_length, stiffness, damping, s);
    back.d += more * s + (along * (slope - more) * inverse_length * inverse_length) * d;
    back.v += law.isotropic() * s;
    back.stiffness = back.stiffness - along * shares;
    return back;
}

template <class T, class Add>
SPRINGTIME_HD inline SpringAdjoint<T> spring_adjoint(const Vec3<T>& d, const Vec3<T>& v,
                                                     const T& rest_length, const T& stiffness,
                                                     const T& damping,
                                                     const CompressionKnot<T>& knot,
                                                     const Vec3<T>& s, const Add& add)
{
    const auto compressed = knot.compressed(d, rest_length);
    const T chosen = choose(compressed, knot.stiffness, stiffness);
    SpringAdjoint<T> back = spring_adjoint(d, v, rest_length, chosen, damping, s);
    const T in_compression = choose(compressed, back.stiffness, T(0.0f));
    add(0, in_compression);
    back.stiffness = back.stiffness - in_compression;
    return back;
}

template <class T, class Add>
SPRINGTIME_HD inline SpringAdjoint<T> spring_adjoint(const Vec3<T>& d, const Vec3<T>& v,
                                                     const T& rest_length, const T& stiffness,
                                                     const T& damping, const CompressionLaw<T>& law,
                                                     const Vec3<T>& s, const Add& add)
{
    SpringAdjoint<T> back = spring_adjoint(d, v, rest_length, stiffness, damping, law.knot, s, add);
    add(1, dot(s, v));
    back.v += law.isotropic_damping * s;
    return back;
}

}  // namespace springtime
