#pragma once

#include "backends/cuda/unroll.h"
#include "physics/bend.h"
#include "physics/coupling.h"
#include "physics/hinge.h"
#include "physics/spring.h"
#include "physics/triangle.h"
#include "springtime/cloth.h"

// The types of elements as the kernels for lists know them: how many corners and numbers they have,
// and how the formulas take these. `Numbers` gives number i of an element as n(i), and range j of a
// spring as n.range(j). Forces and adjoints come for each corner.
namespace springtime::cuda {

// The corners of an element: vectors of each.
template <class T, int kCorners>
struct Corners {
    Vec3<T> of[kCorners];

    SPRINGTIME_HD Vec3<T> from_first(int corner) const { return of[corner] - of[0]; }
    // What the first corner takes so that all sum to zero.
    SPRINGTIME_HD void balance()
    {
        of[0] = -of[1];
        SPRINGTIME_UNROLL
        for (int i = 2; i < kCorners; ++i) of[0] -= of[i];
    }
};

// What an element hands back: adjoints of positions and velocities.
template <class T, int kCorners>
struct CornerAdjoints {
    Corners<T, kCorners> position, velocity;
};

// ---- Springs

// The numbers of a spring: rest length, then these.
enum SpringNumber { kRest, kStiffness, kDamping, kIsotropic, kCompression, kSpringNumbers };

struct PlainSpringLaw {
    template <class T, class Numbers>
    SPRINGTIME_HD static NoLaw of(const Numbers&)
    {
        return {};
    }
};
struct CompressedSpringLaw {
    template <class T, class Numbers>
    SPRINGTIME_HD static CompressionLaw<T> of(const Numbers& n)
    {
        return {{n(kCompression)}, n(kIsotropic)};
    }
};
// Any ranges, or none, and isotropic damping.
struct RangedSpringLaw {
    template <class T, class Numbers>
    struct Ranges {
        const Numbers& n;
        int range_count;
        T isotropic_damping;

        SPRINGTIME_HD SpringRange<T> range(int j) const { return n.range(j); }
        SPRINGTIME_HD const T& isotropic() const { return isotropic_damping; }
    };
    template <class T, class Numbers>
    SPRINGTIME_HD static Ranges<T, Numbers> of(const Numbers& n)
    {
        return {n, n.range_count(), n(kIsotropic)};
    }
};

template <class Law>
struct SpringElement {
    static constexpr Element kElement = Element::spring;
    static constexpr int kCorners = 2, kNumbers = kSpringNumbers;

    template <class T, class Numbers>
    SPRINGTIME_HD static Corners<T, 2> forces(const Numbers& n, const Corners<T, 2>& x,
                                              const Corners<T, 2>& v)
    {
        const auto law = Law::template of<T>(n);
        const Vec3<T> f = spring_force(x.from_first(1), v.from_first(1), n(kRest), n(kStiffness),
                                       n(kDamping), law);
        return {{f, -f}};
    }
    // add(slot, value) takes the gradient by the parameters.
    template <class T, class Numbers, class Add>
    SPRINGTIME_HD static CornerAdjoints<T, 2> adjoints(const Numbers& n, const Corners<T, 2>& x,
                                                       const Corners<T, 2>& v,
                                                       const Corners<T, 2>& s, const Add& add)
    {
        const auto law = Law::template of<T>(n);
        const auto back = spring_adjoint(
            x.from_first(1), v.from_first(1), n(kRest), n(kStiffness), n(kDamping), law,
            s.of[0] - s.of[1],
            [&](int further, const T& value) { add(kFirstRangeSlot + further, value); });
        add(0, back.stiffness);
        add(1, back.damping);
        return {{{-back.d, back.d}}, {{-back.v, back.v}}};
    }
};

// ---- Bends

struct BendElement {
    static constexpr Element kElement = Element::bend;
    static constexpr int kCorners = 3, kNumbers = kBendSlots, kFirstSlot = 0;

    template <class T>
    SPRINGTIME_HD static Vec3<T> difference(const Corners<T, 3>& of)
    {
        return second_difference(of.of[0], of.of[1], of.of[2]);
    }
    template <class T>
    SPRINGTIME_HD static Corners<T, 3> spread(const Vec3<T>& f)
    {
        return {{f, T(-2.0f) * f, f}};
    }

    template <class T, class Numbers>
    SPRINGTIME_HD static Corners<T, 3> forces(const Numbers& n, const Corners<T, 3>& x,
                                              const Corners<T, 3>& v)
    {
        return spread(bend_force(difference(x), difference(v), n(0), n(1)));
    }
    template <class T, class Numbers, class Add>
    SPRINGTIME_HD static CornerAdjoints<T, 3> adjoints(const Numbers& n, const Corners<T, 3>& x,
                                                       const Corners<T, 3>& v,
                                                       const Corners<T, 3>& s, const Add& add)
    {
        const auto back = bend_adjoint(difference(x), difference(v), n(0), n(1), difference(s));
        add(0, back.stiffness);
        add(1, back.damping);
        return {spread(back.e), spread(back.rate)};
    }
};

// ---- Triangles

// The numbers of a triangle: the inverse of Dm by rows, the area, then the material.
template <class Damping, template <class> class Material, int kSlots>
struct TriangleElement {
    static constexpr Element kElement = Element::triangle;
    static constexpr int kCorners = 3, kFirstSlot = 5, kNumbers = kFirstSlot + kSlots;

    template <class T, class Numbers>
    SPRINGTIME_HD static TriangleShape<T> shape(const Numbers& n)
    {
        return {n(4), {{n(0), n(1)}, {n(2), n(3)}}};
    }
    template <class T, class Numbers>
    SPRINGTIME_HD static Material<T> material(const Numbers& n)
    {
        Material<T> of;
        of.shear = n(kFirstSlot);
        of.area = n(kFirstSlot + 1);
        of.damping = n(kFirstSlot + 2);
        if constexpr (kSlots == kWovenSlots) {
            of.warp = n(kFirstSlot + 3);
            of.weft = n(kFirstSlot + 4);
        }
        return of;
    }

    template <class T, class Numbers>
    SPRINGTIME_HD static Corners<T, 3> forces(const Numbers& n, const Corners<T, 3>& x,
                                              const Corners<T, 3>& v)
    {
        const auto f = triangle_force<Damping>(shape<T>(n), material<T>(n), x.from_first(1),
                                               x.from_first(2), v.from_first(1), v.from_first(2));
        Corners<T, 3> on{{{}, f.on1, f.on2}};
        on.balance();
        return on;
    }
    template <class T, class Numbers, class Add>
    SPRINGTIME_HD static CornerAdjoints<T, 3> adjoints(const Numbers& n, const Corners<T, 3>& x,
                                                       const Corners<T, 3>& v,
                                                       const Corners<T, 3>& s, const Add& add)
    {
        const auto back = triangle_adjoint<Damping>(
            shape<T>(n), material<T>(n), x.from_first(1), x.from_first(2), v.from_first(1),
            v.from_first(2), s.from_first(1), s.from_first(2));
        SPRINGTIME_UNROLL
        for (int slot = 0; slot < kSlots; ++slot) add(slot, back.parameters[slot]);
        CornerAdjoints<T, 3> by{{{{}, back.edge1, back.edge2}}, {{{}, back.rate1, back.rate2}}};
        by.position.balance();
        by.velocity.balance();
        return by;
    }
};
template <class Damping>
using PlainTriangle = TriangleElement<Damping, TriangleMaterial, kTriangleSlots>;
template <class Damping>
using WovenTriangle = TriangleElement<Damping, WovenMaterial, kWovenSlots>;

// ---- Hinges

struct HingeElement {
    static constexpr Element kElement = Element::hinge;
    static constexpr int kCorners = 4, kFirstSlot = 2, kNumbers = kFirstSlot + kHingeSlots;

    template <class T, class Numbers>
    SPRINGTIME_HD static Corners<T, 4> forces(const Numbers& n, const Corners<T, 4>& x,
                                              const Corners<T, 4>& v)
    {
        const auto f = hinge_force(HingeShape<T>{n(0), n(1)}, HingeMaterial<T>{n(2), n(3)},
                                   x.from_first(1), x.from_first(2), x.from_first(3),
                                   v.from_first(1), v.from_first(2), v.from_first(3));
        Corners<T, 4> on{{{}, f.on1, f.on2, f.on3}};
        on.balance();
        return on;
    }
    template <class T, class Numbers, class Add>
    SPRINGTIME_HD static CornerAdjoints<T, 4> adjoints(const Numbers& n, const Corners<T, 4>& x,
                                                       const Corners<T, 4>& v,
                                                       const Corners<T, 4>& s, const Add& add)
    {
        const auto back =
            hinge_adjoint(HingeShape<T>{n(0), n(1)}, HingeMaterial<T>{n(2), n(3)}, x.from_first(1),
                          x.from_first(2), x.from_first(3), v.from_first(1), v.from_first(2),
                          v.from_first(3), s.from_first(1), s.from_first(2), s.from_first(3));
        SPRINGTIME_UNROLL
        for (int slot = 0; slot < kHingeSlots; ++slot) add(slot, back.parameters[slot]);
        CornerAdjoints<T, 4> by{{{{}, back.edge, back.side2, back.side3}},
                                {{{}, back.edge_rate, back.rate2, back.rate3}}};
        by.position.balance();
        by.velocity.balance();
        return by;
    }
};

// ---- Couplings

struct CouplingElement {
    static constexpr Element kElement = Element::coupling;
    static constexpr int kCorners = 3, kFirstSlot = 2, kNumbers = kFirstSlot + kCouplingSlots;

    template <class T, class Numbers>
    SPRINGTIME_HD static Corners<T, 3> forces(const Numbers& n, const Corners<T, 3>& x,
                                              const Corners<T, 3>&)
    {
        const auto f = coupling_force(x.from_first(1), x.from_first(2), n(0), n(1), n(2));
        Corners<T, 3> on{{{}, f.on1, f.on2}};
        on.balance();
        return on;
    }
    template <class T, class Numbers, class Add>
    SPRINGTIME_HD static CornerAdjoints<T, 3> adjoints(const Numbers& n, const Corners<T, 3>& x,
                                                       const Corners<T, 3>&, const Corners<T, 3>& s,
                                                       const Add& add)
    {
        const auto back = coupling_adjoint(x.from_first(1), x.from_first(2), n(0), n(1), n(2),
                                           s.from_first(1), s.from_first(2));
        add(0, back.stiffness);
        CornerAdjoints<T, 3> by{{{{}, back.d1, back.d2}}, {}};
        by.position.balance();
        return by;
    }
};

// ---- All of them

inline constexpr int kElementTypes = int(kElements.size());

// Which formulas the elements of a cloth follow.
enum class ListLaw { plain, compression, ranges };
struct ListLaws {
    ListLaw springs = ListLaw::plain;
    bool damps_strain = false, woven = false;
};

// Calls do_one.operator()<type>() for one type after the other, in the order of Element.
template <class DoOne>
SPRINGTIME_HD inline void for_each_element_type(const ListLaws& laws, const DoOne& do_one)
{
    switch (laws.springs) {
        case ListLaw::plain:
            do_one.template operator()<SpringElement<PlainSpringLaw>>();
            break;
        case ListLaw::compression:
            do_one.template operator()<SpringElement<CompressedSpringLaw>>();
            break;
        case ListLaw::ranges:
            do_one.template operator()<SpringElement<RangedSpringLaw>>();
            break;
    }
    do_one.template operator()<BendElement>();
    if (laws.woven) {
        if (laws.damps_strain) {
            do_one.template operator()<WovenTriangle<DampsStrain>>();
        } else {
            do_one.template operator()<WovenTriangle<DampsDeformation>>();
        }
    } else {
        if (laws.damps_strain) {
            do_one.template operator()<PlainTriangle<DampsStrain>>();
        } else {
            do_one.template operator()<PlainTriangle<DampsDeformation>>();
        }
    }
    do_one.template operator()<HingeElement>();
    do_one.template operator()<CouplingElement>();
}

}  // namespace springtime::cuda
