#include "backends/simd/sweep_table.h"

#include <algorithm>
#include <numeric>

#include "sim/forces.h"

namespace springtime {

Air air_of(const Environment& e, double dt)
{
    return {{float(e.gravity.x), float(e.gravity.y), float(e.gravity.z)},
            {float(e.wind.x), float(e.wind.y), float(e.wind.z)},
            float(e.drag),
            float(dt)};
}

void add_law_numbers(const SpringSet& springs, std::size_t spring, std::vector<float>& numbers)
{
    for (std::size_t j = 0; j < springs.ranges.size(); ++j) {
        const auto range = range_of<float>(springs, j, spring);
        numbers.insert(numbers.end(), {range.from, range.to, range.stiffness});
    }
    const auto& isotropic = springs.isotropic_damping;
    numbers.push_back(isotropic.empty() ? 0.0f : float(isotropic[spring]));
}

SweepTable::SweepTable(const Cloth& cloth)
    : order_(cloth.springs.spring_count()),
      first_(cloth.particle_count() + 1, 0),
      range_count_(static_cast<int>(cloth.springs.ranges.size())),
      parameters_(learned_parameters(cloth))
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
    if (has_law(set)) {
        for (const int s : order_) add_law_numbers(set, s, laws_);
    }
    set_parameters(parameters_of(cloth));
}

float& SweepTable::parameter(std::size_t place, std::size_t slot)
{
    if (slot == 0) return springs_[place].stiffness;
    if (slot == 1) return springs_[place].damping;
    float* const law = laws_.data() + place * law_number_count(range_count_);
    const int range = int(slot) - kFirstRangeSlot;
    return range < range_count_ ? law[3 * range + 2] : law[2 * range_count_ + range];
}

void SweepTable::set_parameters(const ParameterValues& values)
{
    for (std::size_t k = 0; k < parameters_.size(); ++k) {
        for (std::size_t i = 0; i < order_.size(); ++i) {
            parameter(i, parameters_[k].slot) = float(values[k][order_[i]]);
        }
    }
}

}  // namespace springtime
