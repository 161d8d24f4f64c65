// Compiled once per instruction set. Wrappers only: load, call the formula, store.
#include "backends/simd/lanes.h"
#include "physics/coupling.h"
#include "physics/hinge.h"

namespace springtime::SPRINGTIME_ISA {

namespace {

void add_lanes(float* array, int particle, const Vec& value)
{
    store_lanes(array, particle, load_lanes(array, particle) + value);
}

// The corners of an element in an array of [particle][xyz][lane], seen from the first.
template <int kCorners>
struct FromFirst {
    Vec to[kCorners - 1];

    FromFirst(const float* array, const int (&corners)[kCorners])
    {
        const Vec first = load_lanes(array, corners[0]);
        for (int i = 1; i < kCorners; ++i) to[i - 1] = load_lanes(array, corners[i]) - first;
    }
};

// Adds values to all corners but the first, which takes minus their sum.
template <int kCorners>
void add_balanced(float* array, const int (&corners)[kCorners], const Vec (&values)[kCorners - 1])
{
    Vec sum = values[0];
    for (int i = 1; i < kCorners - 1; ++i) sum += values[i];
    add_lanes(array, corners[0], -sum);
    for (int i = 1; i < kCorners; ++i) add_lanes(array, corners[i], values[i - 1]);
}

void add_parameters(float* to, const Pack* values, int count)
{
    for (int i = 0; i < count; ++i) {
        (Pack::load(to + kWidth * i) + values[i]).store(to + kWidth * i);
    }
}

TriangleShape<Pack> shape_of(const SweepTriangle& t)
{
    return {Pack(t.rest_area),
            {{Pack(t.inverse[0][0]), Pack(t.inverse[0][1])},
             {Pack(t.inverse[1][0]), Pack(t.inverse[1][1])}}};
}
template <class Material>
Material material_of(const SweepTriangle& t)
{
    return triangle_material<Material>([&](int i) { return Pack(t.material[i]); });
}
HingeShape<Pack> shape_of(const SweepHinge& h)
{
    return {Pack(h.least_square[0]), Pack(h.least_square[1])};
}
HingeMaterial<Pack> material_of(const SweepHinge& h)
{
    return {Pack(h.material[0]), Pack(h.material[1])};
}

// Flattened: a call would pass its many registers through memory.
template <class Damping, class Material>
[[gnu::flatten]] void triangle_forces(const SweepElements& elements, const LaneState& from,
                                      float* force)
{
    for (int i = 0; i < elements.triangle_count; ++i) {
        const SweepTriangle& t = elements.triangles[i];
        const FromFirst<3> x(from.position, t.corners), v(from.velocity, t.corners);
        const TriangleForce<Pack> f = triangle_force<Damping>(shape_of(t), material_of<Material>(t),
                                                              x.to[0], x.to[1], v.to[0], v.to[1]);
        add_balanced<3>(force, t.corners, {f.on1, f.on2});
    }
}

[[gnu::flatten]] void hinge_forces(const SweepElements& elements, const LaneState& from,
                                   float* force)
{
    for (int i = 0; i < elements.hinge_count; ++i) {
        const SweepHinge& h = elements.hinges[i];
        const FromFirst<4> x(from.position, h.corners), v(from.velocity, h.corners);
        const HingeForce<Pack> f = hinge_force(shape_of(h), material_of(h), x.to[0], x.to[1],
                                               x.to[2], v.to[0], v.to[1], v.to[2]);
        add_balanced<4>(force, h.corners, {f.on1, f.on2, f.on3});
    }
}

[[gnu::flatten]] void coupling_forces(const SweepElements& elements, const LaneState& from,
                                      float* force)
{
    for (int i = 0; i < elements.coupling_count; ++i) {
        const SweepCoupling& c = elements.couplings[i];
        const FromFirst<3> x(from.position, c.corners);
        const CouplingForce<Pack> f = coupling_force(x.to[0], x.to[1], Pack(c.rest_length[0]),
                                                     Pack(c.rest_length[1]), Pack(c.material[0]));
        add_balanced<3>(force, c.corners, {f.on1, f.on2});
    }
}

template <class Damping, class Material>
[[gnu::flatten]] void triangle_adjoints(const SweepElements& elements, const LaneState& from,
                                        const LaneAdjoint& adjoint)
{
    constexpr int kSlots =
        std::is_same_v<Material, WovenMaterial<Pack>> ? kWovenSlots : kTriangleSlots;
    for (int i = 0; i < elements.triangle_count; ++i) {
        const SweepTriangle& t = elements.triangles[i];
        const FromFirst<3> x(from.position, t.corners), v(from.velocity, t.corners);
        const FromFirst<3> s(adjoint.force, t.corners);
        const TriangleAdjoint<Pack> back =
            triangle_adjoint<Damping>(shape_of(t), material_of<Material>(t), x.to[0], x.to[1],
                                      v.to[0], v.to[1], s.to[0], s.to[1]);
        add_balanced<3>(adjoint.position, t.corners, {back.edge1, back.edge2});
        add_balanced<3>(adjoint.velocity, t.corners, {back.rate1, back.rate2});
        add_parameters(adjoint.triangle_parameters + long(kSlots) * kWidth * i, back.parameters,
                       kSlots);
    }
}

[[gnu::flatten]] void hinge_adjoints(const SweepElements& elements, const LaneState& from,
                                     const LaneAdjoint& adjoint)
{
    for (int i = 0; i < elements.hinge_count; ++i) {
        const SweepHinge& h = elements.hinges[i];
        const FromFirst<4> x(from.position, h.corners), v(from.velocity, h.corners);
        const FromFirst<4> s(adjoint.force, h.corners);
        const HingeAdjoint<Pack> back =
            hinge_adjoint(shape_of(h), material_of(h), x.to[0], x.to[1], x.to[2], v.to[0], v.to[1],
                          v.to[2], s.to[0], s.to[1], s.to[2]);
        add_balanced<4>(adjoint.position, h.corners, {back.edge, back.side2, back.side3});
        add_balanced<4>(adjoint.velocity, h.corners, {back.edge_rate, back.rate2, back.rate3});
        add_parameters(adjoint.hinge_parameters + long(kHingeSlots) * kWidth * i, back.parameters,
                       kHingeSlots);
    }
}

[[gnu::flatten]] void coupling_adjoints(const SweepElements& elements, const LaneState& from,
                                        const LaneAdjoint& adjoint)
{
    for (int i = 0; i < elements.coupling_count; ++i) {
        const SweepCoupling& c = elements.couplings[i];
        const FromFirst<3> x(from.position, c.corners), s(adjoint.force, c.corners);
        const CouplingAdjoint<Pack> back =
            coupling_adjoint(x.to[0], x.to[1], Pack(c.rest_length[0]), Pack(c.rest_length[1]),
                             Pack(c.material[0]), s.to[0], s.to[1]);
        add_balanced<3>(adjoint.position, c.corners, {back.d1, back.d2});
        add_parameters(adjoint.coupling_parameters + long(kCouplingSlots) * kWidth * i,
                       &back.stiffness, kCouplingSlots);
    }
}

}  // namespace

void lane_element_forces(const SweepElements& elements, const LaneState& from, float* force)
{
    with_triangles(elements.damps_strain, elements.woven, [&]<class Damping, class Material>() {
        triangle_forces<Damping, Material>(elements, from, force);
    });
    hinge_forces(elements, from, force);
    coupling_forces(elements, from, force);
}

void lane_element_adjoints(const SweepElements& elements, const LaneState& from,
                           const LaneAdjoint& adjoint)
{
    with_triangles(elements.damps_strain, elements.woven, [&]<class Damping, class Material>() {
        triangle_adjoints<Damping, Material>(elements, from, adjoint);
    });
    hinge_adjoints(elements, from, adjoint);
    coupling_adjoints(elements, from, adjoint);
}

}  // namespace springtime::SPRINGTIME_ISA
