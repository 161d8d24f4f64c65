#pragma once

#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "physics/bend.h"
#include "physics/coupling.h"
#include "physics/external.h"
#include "physics/hinge.h"
#include "physics/spring.h"
#include "physics/triangle.h"
#include "sim/rod.h"
#include "springtime/cloth.h"
#include "springtime/simulation.h"

namespace springtime {

template <class Real, class Other>
Vec3<Real> vec3_cast(const Vec3<Other>& a)
{
    return {Real(a.x), Real(a.y), Real(a.z)};
}

// The rest shape of a triangle, and of a hinge, of a cloth.
template <class Real>
TriangleShape<Real> shape_of_triangle(const Cloth& cloth, const std::array<int, 3>& corners)
{
    const SheetPoint a = cloth.rest[corners[0]], b = cloth.rest[corners[1]],
                     c = cloth.rest[corners[2]];
    return triangle_shape<Real>(b.u - a.u, b.v - a.v, c.u - a.u, c.v - a.v);
}
template <class Real>
HingeShape<Real> shape_of_hinge(const Cloth& cloth, const std::array<int, 4>& corners)
{
    const auto [a, b, c, d] = corners;
    return hinge_shape<Real>(shape_of_triangle<double>(cloth, {a, b, c}).area,
                             shape_of_triangle<double>(cloth, {b, a, d}).area);
}

// True for triangles with fibres.
inline bool is_woven(const TriangleSet& triangles)
{
    return !triangles.warp_stiffness.empty() || !triangles.weft_stiffness.empty();
}

// The material of a triangle; fibres that it does not have count as zero.
template <class Real>
WovenMaterial<Real> material_of(const TriangleSet& set, std::size_t triangle)
{
    const auto fibre = [&](const std::vector<double>& values) {
        return Real(values.empty() ? 0.0 : values[triangle]);
    };
    return {{Real(set.shear_stiffness[triangle]), Real(set.area_stiffness[triangle]),
             Real(set.damping[triangle])},
            fibre(set.warp_stiffness),
            fibre(set.weft_stiffness)};
}

// True for springs with more than one stiffness and a dashpot along themselves.
inline bool has_law(const SpringSet& springs)
{
    return !springs.ranges.empty() || !springs.isotropic_damping.empty();
}

// True for springs whose law is one stiffness above and one below rest.
inline bool has_compression_law(const SpringSet& springs)
{
    return springs.ranges.size() == 1 && std::isinf(springs.ranges[0].from) &&
           springs.ranges[0].to == 0;
}

// A range of one spring. An infinite end stays so, whatever the rest length.
template <class Real>
SpringRange<Real> range_of(const SpringSet& springs, std::size_t range, std::size_t spring)
{
    const StiffnessRange& r = springs.ranges[range];
    const auto stretch = [&](double strain) {
        return Real(std::isinf(strain) ? strain : strain * springs.rest_length[spring]);
    };
    return {stretch(r.from), stretch(r.to), Real(r.stiffness[spring])};
}

// What the plain loops read of a cloth, in the precision they run in.
template <class Real>
struct ForceTable {
    struct Bend {
        std::array<int, 3> particles;
        Real stiffness, damping;
    };
    struct Triangle {
        std::array<int, 3> corners;
        TriangleShape<Real> shape;
        WovenMaterial<Real> material;  // fibres of zero stiffness where the cloth has none
    };
    struct Hinge {
        std::array<int, 4> corners;
        HingeShape<Real> shape;
        HingeMaterial<Real> material;
    };
    struct Coupling {
        std::array<int, 3> corners;
        std::array<Real, 2> rest_length;
        Real stiffness;
    };

    std::vector<std::array<int, 2>> ends;
    std::vector<Real> rest_length, stiffness, damping;
    bool plain;  // no spring has a law
    int range_count;
    std::vector<SpringRange<Real>> ranges;  // [spring][range]
    std::vector<Real> isotropic_damping;    // zero where the cloth has none
    std::vector<Bend> bends;
    std::vector<Triangle> triangles;
    TriangleDamping damping_kind;
    std::vector<Hinge> hinges;
    std::vector<Coupling> couplings;
    std::optional<RodForces> rod;
    std::vector<Real> inverse_mass;
    Vec3<Real> gravity, wind;
    Real drag;

    ForceTable(const Cloth& cloth, const Environment& environment)
        : ends(cloth.springs.ends),
          rest_length(cloth.springs.rest_length.begin(), cloth.springs.rest_length.end()),
          stiffness(cloth.springs.stiffness.begin(), cloth.springs.stiffness.end()),
          damping(cloth.springs.damping.begin(), cloth.springs.damping.end()),
          plain(!has_law(cloth.springs)),
          range_count(static_cast<int>(cloth.springs.ranges.size())),
          isotropic_damping(cloth.springs.isotropic_damping.begin(),
                            cloth.springs.isotropic_damping.end()),
          damping_kind(cloth.triangles.damping_kind)
    {
        set_environment(environment);
        isotropic_damping.resize(ends.size());
        for (std::size_t s = 0; s < ends.size(); ++s) {
            for (int j = 0; j < range_count; ++j) {
                ranges.push_back(range_of<Real>(cloth.springs, j, s));
            }
        }
        for (const double mass : cloth.mass) inverse_mass.push_back(Real(1 / mass));
        for (std::size_t i = 0; i < cloth.bends.bend_count(); ++i) {
            bends.push_back({cloth.bends.particles[i], Real(cloth.bends.stiffness[i]),
                             Real(cloth.bends.damping[i])});
        }
        for (std::size_t i = 0; i < cloth.triangles.triangle_count(); ++i) {
            const std::array<int, 3>& corners = cloth.triangles.corners[i];
            triangles.push_back({corners, shape_of_triangle<Real>(cloth, corners),
                                 material_of<Real>(cloth.triangles, i)});
        }
        const HingeSet& h = cloth.hinges;
        for (std::size_t i = 0; i < h.hinge_count(); ++i) {
            hinges.push_back({h.corners[i],
                              shape_of_hinge<Real>(cloth, h.corners[i]),
                              {Real(h.stiffness[i]), Real(h.damping[i])}});
        }
        const CouplingSet& c = cloth.couplings;
        for (std::size_t i = 0; i < c.coupling_count(); ++i) {
            couplings.push_back({c.corners[i],
                                 {Real(c.rest_length[i][0]), Real(c.rest_length[i][1])},
                                 Real(c.stiffness[i])});
        }
        if (cloth.rod) rod.emplace(cloth);
    }

    void set_environment(const Environment& environment)
    {
        gravity = vec3_cast<Real>(environment.gravity);
        wind = vec3_cast<Real>(environment.wind);
        drag = Real(environment.drag);
    }

    // A learned parameter of an element, by the slot of its formula (physics/).
    Real& parameter(const Parameter& which, std::size_t element)
    {
        const std::size_t slot = which.slot;
        switch (which.kind->element) {
            case Element::spring:
                break;
            case Element::bend:
                return slot == 0 ? bends[element].stiffness : bends[element].damping;
            case Element::triangle: {
                WovenMaterial<Real>& m = triangles[element].material;
                return *std::array{&m.shear, &m.area, &m.damping, &m.warp, &m.weft}[slot];
            }
            case Element::hinge: {
                HingeMaterial<Real>& m = hinges[element].material;
                return slot == 0 ? m.stiffness : m.damping;
            }
            case Element::coupling:
                return couplings[element].stiffness;
        }
        if (slot == 0) return stiffness[element];
        if (slot == 1) return damping[element];
        const int range = int(slot) - kFirstRangeSlot;
        return range < range_count ? ranges[element * range_count + range].stiffness
                                   : isotropic_damping[element];
    }
    RangeLaw<Real> law(std::size_t spring) const
    {
        return {range_count, ranges.data() + spring * range_count, isotropic_damping[spring]};
    }
    // Of a spring along d, whose ends part with v, on its first end. [N]
    Vec3<Real> force_of_spring(std::size_t spring, const Vec3<Real>& d, const Vec3<Real>& v) const
    {
        const Real &rest = rest_length[spring], &k = stiffness[spring], &b = damping[spring];
        return plain ? spring_force(d, v, rest, k, b) : spring_force(d, v, rest, k, b, law(spring));
    }
};

// Adds the spring forces [N] of one state to `force`.
template <class Real>
void add_spring_forces(const ForceTable<Real>& table, const std::vector<Vec3<Real>>& position,
                       const std::vector<Vec3<Real>>& velocity, std::vector<Vec3<Real>>& force)
{
    for (std::size_t s = 0; s < table.ends.size(); ++s) {
        const auto [a, b] = table.ends[s];
        const Vec3<Real> f =
            table.force_of_spring(s, position[b] - position[a], velocity[b] - velocity[a]);
        force[a] += f;
        force[b] -= f;
    }
}

// Adds the forces [N] of the bends of one state to `force`.
template <class Real>
void add_bend_forces(const ForceTable<Real>& table, const std::vector<Vec3<Real>>& position,
                     const std::vector<Vec3<Real>>& velocity, std::vector<Vec3<Real>>& force)
{
    for (const auto& [particles, stiffness, damping] : table.bends) {
        const auto [a, m, b] = particles;
        const Vec3<Real> f = bend_force(second_difference(position[a], position[m], position[b]),
                                        second_difference(velocity[a], velocity[m], velocity[b]),
                                        stiffness, damping);
        force[a] += f;
        force[m] -= Real(2) * f;
        force[b] += f;
    }
}

// Adds the forces [N] of the triangles of one state to `force`.
template <class Damping, class Real>
void add_triangle_forces(const ForceTable<Real>& table, const std::vector<Vec3<Real>>& position,
                         const std::vector<Vec3<Real>>& velocity, std::vector<Vec3<Real>>& force)
{
    for (const auto& [corners, shape, material] : table.triangles) {
        const auto [a, b, c] = corners;
        const TriangleForce<Real> f = triangle_force<Damping>(
            shape, material, position[b] - position[a], position[c] - position[a],
            velocity[b] - velocity[a], velocity[c] - velocity[a]);
        force[a] -= f.on1 + f.on2;
        force[b] += f.on1;
        force[c] += f.on2;
    }
}

// Adds the forces [N] of the hinges of one state to `force`.
template <class Real>
void add_hinge_forces(const ForceTable<Real>& table, const std::vector<Vec3<Real>>& position,
                      const std::vector<Vec3<Real>>& velocity, std::vector<Vec3<Real>>& force)
{
    for (const auto& [corners, shape, material] : table.hinges) {
        const auto [a, b, c, d] = corners;
        const HingeForce<Real> f =
            hinge_force(shape, material, position[b] - position[a], position[c] - position[a],
                        position[d] - position[a], velocity[b] - velocity[a],
                        velocity[c] - velocity[a], velocity[d] - velocity[a]);
        force[a] -= f.on1 + f.on2 + f.on3;
        force[b] += f.on1;
        force[c] += f.on2;
        force[d] += f.on3;
    }
}

// Adds the forces [N] of the couplings of one state to `force`.
template <class Real>
void add_coupling_forces(const ForceTable<Real>& table, const std::vector<Vec3<Real>>& position,
                         std::vector<Vec3<Real>>& force)
{
    for (const auto& [corners, rest, stiffness] : table.couplings) {
        const auto [a, b, c] = corners;
        const CouplingForce<Real> f = coupling_force(
            position[b] - position[a], position[c] - position[a], rest[0], rest[1], stiffness);
        force[a] -= f.on1 + f.on2;
        force[b] += f.on1;
        force[c] += f.on2;
    }
}

// Adds the forces [N] of all elements of one state to `force`.
template <class Real>
void add_element_forces(const ForceTable<Real>& table, const std::vector<Vec3<Real>>& position,
                        const std::vector<Vec3<Real>>& velocity, std::vector<Vec3<Real>>& force)
{
    add_spring_forces(table, position, velocity, force);
    add_bend_forces(table, position, velocity, force);
    switch (table.damping_kind) {
        case TriangleDamping::deformation:
            add_triangle_forces<DampsDeformation>(table, position, velocity, force);
            break;
        case TriangleDamping::strain:
            add_triangle_forces<DampsStrain>(table, position, velocity, force);
            break;
    }
    add_hinge_forces(table, position, velocity, force);
    add_coupling_forces(table, position, force);
    if (table.rod) table.rod->add(position, velocity, force);
}

template <class Real>
Vec3<Real> particle_acceleration(const ForceTable<Real>& table, std::size_t particle,
                                 const Vec3<Real>& force, const Vec3<Real>& velocity)
{
    return table.inverse_mass[particle] * force +
           external_acceleration(velocity, table.gravity, table.wind, table.drag);
}

// Acceleration of every particle, zero on handles. [m/s^2]
std::vector<Vec3d> acceleration(const ForceTable<double>& table, const Handles& handles,
                                const State& state);

}  // namespace springtime
