#pragma once

#include <array>
#include <vector>

#include "physics/external.h"
#include "physics/spring.h"
#include "springtime/cloth.h"
#include "springtime/environment.h"
#include "springtime/handles.h"
#include "springtime/state.h"

namespace springtime {

template <class Real, class Other>
Vec3<Real> vec3_cast(const Vec3<Other>& a)
{
    return {Real(a.x), Real(a.y), Real(a.z)};
}

// What the plain loops read of a cloth, in the precision they run in.
template <class Real>
struct ForceTable {
    std::vector<std::array<int, 2>> ends;
    std::vector<Real> rest_length, stiffness, damping;
    std::vector<Real> inverse_mass;
    Vec3<Real> gravity, wind;
    Real drag;

    ForceTable(const Cloth& cloth, const Environment& environment)
        : ends(cloth.springs.ends),
          rest_length(cloth.springs.rest_length.begin(), cloth.springs.rest_length.end()),
          stiffness(cloth.springs.stiffness.begin(), cloth.springs.stiffness.end()),
          damping(cloth.springs.damping.begin(), cloth.springs.damping.end()),
          gravity(vec3_cast<Real>(environment.gravity)),
          wind(vec3_cast<Real>(environment.wind)),
          drag(Real(environment.drag))
    {
        for (const double mass : cloth.mass) inverse_mass.push_back(Real(1 / mass));
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
