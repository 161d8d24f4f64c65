#include <algorithm>

#include "springtime/motion.h"

namespace springtime {

void project_onto_rest_lengths(State& state, const Cloth& cloth, const std::vector<int>& handles)
{
    constexpr int kSweeps = 20;
    const SpringSet& springs = cloth.springs;
    std::vector<double> share(state.position.size(), 0);  // one over the springs of a particle
    for (std::size_t s = 0; s < springs.spring_count(); ++s) {
        if (springs.family[s] == SpringFamily::bending) continue;
        for (const int p : springs.ends[s]) ++share[std::size_t(p)];
    }
    for (double& count : share) count = count > 0 ? 1 / count : 0;
    for (const int p : handles) share[std::size_t(p)] = 0;
    std::vector<Vec3d> pull(state.position.size());
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
        std::fill(pull.begin(), pull.end(), Vec3d{});
        for (std::size_t s = 0; s < springs.spring_count(); ++s) {
            if (springs.family[s] == SpringFamily::bending) continue;
            const auto [a, b] = springs.ends[s];
            const Vec3d d = state.position[b] - state.position[a];
            const double now = std::max(length(d), 1e-9 * springs.rest_length[s]);
            const Vec3d half = 0.5 * (1 - springs.rest_length[s] / now) * d;
            pull[a] += half;
            pull[b] -= half;
        }
        for (std::size_t p = 0; p < pull.size(); ++p) state.position[p] += share[p] * pull[p];
    }
}

}  // namespace springtime
