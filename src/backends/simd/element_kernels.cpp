// Compiled once per instruction set. Wrappers only: load, call the formula, store.
#include "backends/simd/lanes.h"
#include "physics/hinge.h"
#include "physics/triangle.h"

namespace springtime::SPRINGTIME_ISA {

namespace {

void add_lanes(float* array, int particle, const Vec& value)
{
    store_lanes(array, particle, load_lanes(array, particle) + value);
}

// Flattened: a call would pass its many registers through memory.
template <class Damping>
[[gnu::flatten]] void triangle_forces(const SweepElements& elements, const LaneState& from,
                                      float* force)
{
    for (int i = 0; i < elements.triangle_count; ++i) {
        const SweepTriangle& t = elements.triangles[i];
        const auto [a, b, c] = t.corners;
        const TriangleShape<Pack> shape{Pack(t.rest_area),
                                        {{Pack(t.inverse[0][0]), Pack(t.inverse[0][1])},
                                         {Pack(t.inverse[1][0]), Pack(t.inverse[1][1])}}};
        const TriangleMaterial<Pack> material{Pack(t.shear), Pack(t.area), Pack(t.damping)};
        const Vec x = load_lanes(from.position, a), v = load_lanes(from.velocity, a);
        const TriangleForce<Pack> f = triangle_force<Damping>(
            shape, material, load_lanes(from.position, b) - x, load_lanes(from.position, c) - x,
            load_lanes(from.velocity, b) - v, load_lanes(from.velocity, c) - v);
        add_lanes(force, a, -(f.on1 + f.on2));
        add_lanes(force, b, f.on1);
        add_lanes(force, c, f.on2);
    }
}

[[gnu::flatten]] void hinge_forces(const SweepElements& elements, const LaneState& from,
                                   float* force)
{
    for (int i = 0; i < elements.hinge_count; ++i) {
        const SweepHinge& h = elements.hinges[i];
        const auto [a, b, c, d] = h.corners;
        const Vec x = load_lanes(from.position, a), v = load_lanes(from.velocity, a);
        const HingeForce<Pack> f =
            hinge_force<Pack>({Pack(h.least_square[0]), Pack(h.least_square[1])},
                              {Pack(h.stiffness), Pack(h.damping)},
                              load_lanes(from.position, b) - x, load_lanes(from.position, c) - x,
                              load_lanes(from.position, d) - x, load_lanes(from.velocity, b) - v,
                              load_lanes(from.velocity, c) - v, load_lanes(from.velocity, d) - v);
        add_lanes(force, a, -(f.on1 + f.on2 + f.on3));
        add_lanes(force, b, f.on1);
        add_lanes(force, c, f.on2);
        add_lanes(force, d, f.on3);
    }
}

}  // namespace

void lane_element_forces(const SweepElements& elements, const LaneState& from, float* force)
{
    if (elements.damps_strain) {
        triangle_forces<DampsStrain>(elements, from, force);
    } else {
        triangle_forces<DampsDeformation>(elements, from, force);
    }
    hinge_forces(elements, from, force);
}

}  // namespace springtime::SPRINGTIME_ISA
