#pragma once

#include <array>
#include <vector>

#include "physics/external.h"
#include "physics/hinge.h"
#include "physics/spring.h"
#include "physics/triangle.h"
#include "springtime/cloth.h"
#include "springtime/environment.h"
#include "springtime/handles.h"
#include "springtime/state.h"

namespace springtime {

template <class Real>
Vec3<Real> vec3_cast(const Vec3d& a)
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

// What the plain loops read of a cloth, in the precision they run in.
template <class Real>
struct ForceTable {
    struct Triangle {
        std::array<int, 3> corners;
        TriangleShape<Real> shape;
        TriangleMaterial<Real> material;
    };
    struct Hinge {
        std::array<int, 4> corners;
        HingeShape<Real> shape;
        HingeMaterial<Real> material;
    };

    std::vector<std::array<int, 2>> ends;
    std::vector<Real> rest_length, stiffness, damping;
    std::vector<Triangle> triangles;
    TriangleDamping damping_kind;
    std::vector<Hinge> hinges;
    std::vector<Real> inverse_mass;
    Vec3<Real> gravity, wind;
    Real drag;

    ForceTable(const Cloth& cloth, const Environment& environment)
        : ends(cloth.springs.ends),
          rest_length(cloth.springs.rest_length.begin(), cloth.springs.rest_length.end()),
          stiffness(cloth.springs.stiffness.begin(), cloth.springs.stiffness.end()),
          damping(cloth.springs.damping.begin(), cloth.springs.damping.end()),
          damping_kind(cloth.triangles.damping_kind),
          gravity(vec3_cast<Real>(environment.gravity)),
          wind(vec3_cast<Real>(environment.wind)),
          drag(Real(environment.drag))
    {
        for (const double mass : cloth.mass) inverse_mass.push_back(Real(1 / mass));
        const TriangleSet& t = cloth.triangles;
        for (std::size_t i = 0; i < t.triangle_count(); ++i) {
            triangles.push_back(
                {t.corners[i],
                 shape_of_triangle<Real>(cloth, t.corners[i]),
                 {Real(t.shear_stiffness[i]), Real(t.area_stiffness[i]), Real(t.damping[i])}});
        }
        const HingeSet& h = cloth.hinges;
        for (std::size_t i = 0; i < h.hinge_count(); ++i) {
            hinges.push_back({h.corners[i],
                              shape_of_hinge<Real>(cloth, h.corners[i]),
                              {Real(h.stiffness[i]), Real(h.damping[i])}});
        }
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
            spring_force(position[b] - position[a], velocity[b] - velocity[a], table.rest_length[s],
                         table.stiffness[s], table.damping[s]);
        force[a] += f;
        force[b] -= f;
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

// Adds the forces [N] of all elements of one state to `force`.
template <class Real>
void add_element_forces(const ForceTable<Real>& table, const std::vector<Vec3<Real>>& position,
                        const std::vector<Vec3<Real>>& velocity, std::vector<Vec3<Real>>& force)
{
    add_spring_forces(table, position, velocity, force);
    switch (table.damping_kind) {
        case TriangleDamping::deformation:
            add_triangle_forces<DampsDeformation>(table, position, velocity, force);
            break;
        case TriangleDamping::strain:
            add_triangle_forces<DampsStrain>(table, position, velocity, force);
            break;
    }
    add_hinge_forces(table, position, velocity, force);
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
