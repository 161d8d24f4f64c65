#include "sim/forces.h"

namespace springtime {

std::vector<Vec3d> acceleration(const ForceTable<double>& table, const Handles& handles,
                                const State& state)
{
    std::vector<Vec3d> result(state.position.size());
    add_element_forces(table, state.position, state.velocity, result);
    for (std::size_t p = 0; p < result.size(); ++p) {
        result[p] = particle_acceleration(table, p, result[p], state.velocity[p]);
    }
    for (const int p : handles.particles) result[p] = {};
    return result;
}

}  // namespace springtime
