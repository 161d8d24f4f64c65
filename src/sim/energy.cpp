#include "springtime/energy.h"

#include <algorithm>
#include <cmath>

#include "physics/spring.h"

namespace springtime {

Energy energy_of(const Cloth& cloth, const Environment& environment, const State& state)
{
    Energy energy;
    for (std::size_t p = 0; p < cloth.particle_count(); ++p) {
        energy.kinetic += 0.5 * cloth.mass[p] * dot(state.velocity[p], state.velocity[p]);
        energy.gravitational -= cloth.mass[p] * dot(environment.gravity, state.position[p]);
    }
    for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
        const auto [a, b] = cloth.springs.ends[s];
        energy.elastic += spring_energy(state.position[b] - state.position[a],
                                        cloth.springs.rest_length[s], cloth.springs.stiffness[s]);
    }
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
    return largest;
}

}  // namespace springtime
