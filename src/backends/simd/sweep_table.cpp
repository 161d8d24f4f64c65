#include "backends/simd/sweep_table.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

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

namespace {

// The spring of each pair of particles; one of several.
std::map<std::pair<int, int>, int> springs_by_ends(const SpringSet& set)
{
    std::map<std::pair<int, int>, int> springs;
    for (std::size_t s = 0; s < set.spring_count(); ++s) {
        springs[std::minmax(set.ends[s][0], set.ends[s][1])] = static_cast<int>(s);
    }
    return springs;
}

}  // namespace

BendSpringSearch::BendSpringSearch(const Cloth& cloth) : in_bend_(cloth.springs.spring_count(), 0)
{
    if (cloth.bends.bend_count() == 0) return;
    const auto springs = springs_by_ends(cloth.springs);
    const auto take = [&](int a, int b) -> std::optional<int> {
        const auto found = springs.find({a, b});
        if (found == springs.end() || in_bend_[found->second]) return std::nullopt;
        in_bend_[found->second] = 1;
        return found->second;
    };
    for (const auto& [a, middle, b] : cloth.bends.particles) {
        near_.push_back(take(a, middle));
        // A far spring alone is left by itself: that is rare, and one case less to run.
        far_.push_back(near_.back() ? take(a, b) : std::nullopt);
    }
}

BendSprings BendSpringSearch::springs_of(int bend) const
{
    return far_[bend] ? kBothSprings : near_[bend] ? kNearSpring : kNoSprings;
}

SweepTable::SweepTable(const Cloth& cloth)
    : range_count_(static_cast<int>(cloth.springs.ranges.size())),
      compression_law_(has_compression_law(cloth.springs)),
      parameters_(learned_parameters(cloth))
{
    for (const double mass : cloth.mass) inverse_mass_.push_back(float(1 / mass));
    add_springs(cloth);
    set_parameters(parameters_of(cloth));
}

// Springs by their lower-numbered end; of those, the ones that belong to a bend come last.
void SweepTable::add_springs(const Cloth& cloth)
{
    const SpringSet& set = cloth.springs;
    const BendSpringSearch search(cloth);
    order_.resize(set.spring_count());
    first_.assign(cloth.particle_count() + 1, 0);
    first_in_bend_.assign(cloth.particle_count(), 0);
    std::iota(order_.begin(), order_.end(), 0);
    const auto key = [&](int s) {
        const auto [low, high] = std::minmax(set.ends[s][0], set.ends[s][1]);
        return std::tuple(low, search.in_bend(s), high);
    };
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) { return key(a) < key(b); });
    for (const int s : order_) {
        const auto [low, in_bend, high] = key(s);
        ++first_[low + 1];
        first_in_bend_[low] += !in_bend;
        springs_.push_back({high, float(set.rest_length[s]), 0, 0});
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    for (std::size_t p = 0; p < first_in_bend_.size(); ++p) first_in_bend_[p] += first_[p];
    if (has_law(set)) {
        for (const int s : order_) add_law_numbers(set, s, laws_);
    }
    std::vector<int> place(order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) place[order_[i]] = static_cast<int>(i);
    add_bends(cloth, search, place);
}

// The ends of a bend come in ascending order (check_cloth).
void SweepTable::add_bends(const Cloth& cloth, const BendSpringSearch& search,
                           const std::vector<int>& place)
{
    const BendSet& set = cloth.bends;
    bend_order_.resize(set.bend_count());
    first_bend_.assign(cloth.particle_count() * kBendSpringsCount + 1, 0);
    std::iota(bend_order_.begin(), bend_order_.end(), 0);
    const auto key = [&](int i) {
        return std::tuple(set.particles[i][0], search.springs_of(i), set.particles[i]);
    };
    std::stable_sort(bend_order_.begin(), bend_order_.end(),
                     [&](int a, int b) { return key(a) < key(b); });
    for (const int i : bend_order_) {
        const auto [low, middle, end] = set.particles[i];
        ++first_bend_[low * kBendSpringsCount + search.springs_of(i) + 1];
        const auto place_of = [&](std::optional<int> spring) {
            return spring ? place[*spring] : 0;
        };
        bends_.push_back({middle, end, place_of(search.near(i)), place_of(search.far(i)), 0, 0});
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
        if (!is_swept(parameters_[k].kind->element)) continue;
        const std::vector<int>& order = this->order(parameters_[k].kind->element);
        for (std::size_t i = 0; i < order.size(); ++i) {
            parameter(parameters_[k], i) = float(values[k][order[i]]);
        }
    }
    damped_bends_ = std::any_of(bends_.begin(), bends_.end(),
                                [](const SweepBend& bend) { return bend.damping != 0; });
    if (values.size() == parameters_.size()) return;
    for (std::size_t i = 0; i < inverse_mass_.size(); ++i) {
        inverse_mass_[i] = float(1 / values.back()[i]);
    }
}

}  // namespace springtime
