#include "backends/simd/sweep_table.h"

#include <algorithm>
#include <numeric>

namespace springtime {

Air air_of(const SimulationOptions& options)
{
    const Environment& e = options.environment;
    return {{float(e.gravity.x), float(e.gravity.y), float(e.gravity.z)},
            {float(e.wind.x), float(e.wind.y), float(e.wind.z)},
            float(e.drag),
            float(options.dt)};
}

SweepTable::SweepTable(const Cloth& cloth)
    : order_(cloth.springs.spring_count()), first_(cloth.particle_count() + 1, 0)
{
    const SpringSet& set = cloth.springs;
    std::iota(order_.begin(), order_.end(), 0);
    const auto ends = [&](int s) { return std::minmax(set.ends[s][0], set.ends[s][1]); };
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) { return ends(a) < ends(b); });
    for (const int s : order_) {
        const auto [low, high] = ends(s);
        ++first_[low + 1];
        springs_.push_back({high, float(set.rest_length[s]), 0, 0});
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    for (const double mass : cloth.mass) inverse_mass_.push_back(float(1 / mass));
    set_parameters(set.stiffness, set.damping);
}

void SweepTable::set_parameters(std::span<const double> stiffness, std::span<const double> damping)
{
    for (std::size_t i = 0; i < order_.size(); ++i) {
        springs_[i].stiffness = float(stiffness[order_[i]]);
        springs_[i].damping = float(damping[order_[i]]);
    }
}

}  // namespace springtime
