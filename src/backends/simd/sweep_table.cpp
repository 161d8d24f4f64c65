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
    : range_count_(static_cast<int>(cloth.springs.ranges.size())),
      parameters_(learned_parameters(cloth))
{
    for (const double mass : cloth.mass) inverse_mass_.push_back(float(1 / mass));
    add_springs(cloth);
    add_bends(cloth);
    set_parameters(parameters_of(cloth));
}

void SweepTable::add_springs(const Cloth& cloth)
{
    const SpringSet& set = cloth.springs;
    order_.resize(set.spring_count());
    first_.assign(cloth.particle_count() + 1, 0);
    std::iota(order_.begin(), order_.end(), 0);
    const auto ends = [&](int s) { return std::minmax(set.ends[s][0], set.ends[s][1]); };
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) { return ends(a) < ends(b); });
    for (const int s : order_) {
        const auto [low, high] = ends(s);
        ++first_[low + 1];
        springs_.push_back({high, float(set.rest_length[s]), 0, 0});
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    if (has_law(set)) {
        for (const int s : order_) add_law_numbers(set, s, laws_);
    }
}

// The ends of a bend come in ascending order (check_cloth).
void SweepTable::add_bends(const Cloth& cloth)
{
    const BendSet& set = cloth.bends;
    bend_order_.resize(set.bend_count());
    first_bend_.assign(cloth.particle_count() + 1, 0);
    std::iota(bend_order_.begin(), bend_order_.end(), 0);
    std::stable_sort(bend_order_.begin(), bend_order_.end(),
                     [&](int a, int b) { return set.particles[a] < set.particles[b]; });
    for (const int i : bend_order_) {
        const auto [low, middle, end] = set.particles[i];
        ++first_bend_[low + 1];
        bends_.push_back({middle, end, 0, 0});
    }
    std::partial_sum(first_bend_.begin(), first_bend_.end(), first_bend_.begin());
}

float& SweepTable::parameter(const Parameter& which, std::size_t place)
{
    const std::size_t slot = which.slot;
    if (which.kind->element == Element::bend) {
        return slot == 0 ? bends_[place].stiffness : bends_[place].damping;
    }
    if (slot == 0) return springs_[place].stiffness;
    if (slot == 1) return springs_[place].damping;
    float* const law = laws_.data() + place * law_number_count(range_count_);
    const int range = int(slot) - kFirstRangeSlot;
    return range < range_count_ ? law[3 * range + 2] : law[2 * range_count_ + range];
}

void SweepTable::set_parameters(const ParameterValues& values)
{
    for (std::size_t k = 0; k < parameters_.size(); ++k) {
        const std::vector<int>& order = this->order(parameters_[k].kind->element);
        for (std::size_t i = 0; i < order.size(); ++i) {
            parameter(parameters_[k], i) = float(values[k][order[i]]);
        }
    }
}

}  // namespace springtime
