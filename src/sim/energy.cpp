#include "springtime/simulation.h"

#include <algorithm>
#include <cmath>

#include "sim/forces.h"

namespace springtime {

namespace {

double energy_of_springs(const SpringSet& set, const State& state)
{
    std::vector<SpringRange<double>> ranges(set.ranges.size());
    const RangeLaw<double> law{static_cast<int>(ranges.size()), ranges.data(), 0};
    double energy = 0;
    for (std::size_t s = 0; s < set.spring_count(); ++s) {
        const auto [a, b] = set.ends[s];
        for (std::size_t j = 0; j < ranges.size(); ++j) ranges[j] = range_of<double>(set, j, s);
        energy += spring_energy(state.position[b] - state.position[a], set.rest_length[s],
                                set.stiffness[s], law);
    }
    return energy;
}

double energy_of_bends(const BendSet& set, const State& state)
{
    double energy = 0;
    for (std::size_t i = 0; i < set.bend_count(); ++i) {
        const auto [a, m, b] = set.particles[i];
        energy +=
            bend_energy(second_difference(state.position[a], state.position[m], state.position[b]),
                        set.stiffness[i]);
    }
    return energy;
}

double energy_of_triangles(const Cloth& cloth, const State& state)
{
    const TriangleSet& set = cloth.triangles;
    double energy = 0;
    for (std::size_t t = 0; t < set.triangle_count(); ++t) {
        const auto [a, b, c] = set.corners[t];
        energy += triangle_energy(
            shape_of_triangle<double>(cloth, set.corners[t]), material_of<double>(set, t),
            state.position[b] - state.position[a], state.position[c] - state.position[a]);
    }
    return energy;
}

double energy_of_hinges(const Cloth& cloth, const State& state)
{
    double energy = 0;
    for (std::size_t h = 0; h < cloth.hinges.hinge_count(); ++h) {
        const auto [a, b, c, d] = cloth.hinges.corners[h];
        const Vec3d origin = state.position[a];
        energy += hinge_energy(cloth.hinges.stiffness[h], state.position[b] - origin,
                               state.position[c] - origin, state.position[d] - origin);
    }
    return energy;
}

double energy_of_couplings(const CouplingSet& set, const State& state)
{
    double energy = 0;
    for (std::size_t i = 0; i < set.coupling_count(); ++i) {
        const auto [a, b, c] = set.corners[i];
        const auto [rest1, rest2] = set.rest_length[i];
        energy +=
            coupling_energy(state.position[b] - state.position[a],
                            state.position[c] - state.position[a], rest1, rest2, set.stiffness[i]);
    }
    return energy;
}

// The principal stretches are the roots of the eigenvalues of F^T F, m + r and m - r.
double triangle_strain(const Columns<double>& f)
{
    const double uu = dot(f.u, f.u), vv = dot(f.v, f.v), uv = dot(f.u, f.v);
    const double m = 0.5 * (uu + vv), r = std::hypot(0.5 * (uu - vv), uv);
    return std::max(std::sqrt(m + r) - 1, 1 - std::sqrt(std::max(m - r, 0.0)));
}

}  // namespace

Energy energy_of(const Cloth& cloth, const Environment& environment, const State& state)
{
    Energy energy;
    for (std::size_t p = 0; p < cloth.particle_count(); ++p) {
        energy.kinetic += 0.5 * cloth.mass[p] * dot(state.velocity[p], state.velocity[p]);
        energy.gravitational -= cloth.mass[p] * dot(environment.gravity, state.position[p]);
    }
    energy.elastic += energy_of_springs(cloth.springs, state) +
                      energy_of_bends(cloth.bends, state) + energy_of_triangles(cloth, state) +
                      energy_of_hinges(cloth, state) + energy_of_couplings(cloth.couplings, state);
    if (cloth.rod) energy.elastic += RodForces(cloth).energy(state.position);
    return energy;
}

double largest_strain(const Cloth& cloth, const State& state)
{
    double largest = 0;
    for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
        const double rest = cloth.springs.rest_length[s];
        if (rest <= 0) continue;
        const auto [a, b] = cloth.springs.ends[s];
        const double strain = length(state.position[b] - state.position[a]) / rest - 1;
        largest = std::max(largest, std::abs(strain));
    }
    for (const auto& corners : cloth.triangles.corners) {
        const auto [a, b, c] = corners;
        const auto f = deformation(shape_of_triangle<double>(cloth, corners),
                                   state.position[b] - state.position[a],
                                   state.position[c] - state.position[a]);
        largest = std::max(largest, triangle_strain(f));
    }
    return largest;
}

}  // namespace springtime
