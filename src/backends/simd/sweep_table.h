#pragma once

#include <optional>
#include <vector>

#include "backends/simd/kernels.h"
#include "springtime/simulation.h"

namespace springtime {

Air air_of(const Environment& environment, double dt);

// Numbers of the law of a spring, as SweepCloth has them.
constexpr int law_number_count(int range_count)
{
    return 3 * range_count + 1;
}
void add_law_numbers(const SpringSet& springs, std::size_t spring, std::vector<float>& numbers);

// Which springs lead from the first particle of a bend to its middle and to its other end. No
// spring belongs to two bends.
class BendSpringSearch {
  public:
    explicit BendSpringSearch(const Cloth& cloth);

    bool in_bend(int spring) const { return in_bend_[spring] != 0; }
    BendSprings springs_of(int bend) const;
    const std::optional<int>& near(int bend) const { return near_[bend]; }
    const std::optional<int>& far(int bend) const { return far_[bend]; }

  private:
    std::vector<char> in_bend_;
    std::vector<std::optional<int>> near_, far_;
};

// Springs and bends are swept; other elements have a table of their own (element_table.h).
constexpr bool is_swept(Element element)
{
    return element == Element::spring || element == Element::bend;
}

// The springs and bends of a cloth in the order the kernels sweep them.
class SweepTable {
  public:
    explicit SweepTable(const Cloth& cloth);

    SweepCloth view() const
    {
        return {static_cast<int>(inverse_mass_.size()),
                first_.data(),
                springs_.data(),
                inverse_mass_.data(),
                laws_.empty() ? nullptr : laws_.data(),
                range_count_,
                law_number_count(range_count_),
                compression_law_,
                bends_.empty() ? nullptr : first_bend_.data(),
                first_in_bend_.data(),
                bends_.data(),
                damped_bends_,
                false};
    }
    // For each place in the sweep, the index of the spring or of the bend in the cloth.
    const std::vector<int>& order(Element element) const
    {
        return element == Element::bend ? bend_order_ : order_;
    }
    // The learned parameters of the cloth, in the order of their values.
    const std::vector<Parameter>& parameters() const { return parameters_; }
    // As Tape::set_parameters() takes them; those of other elements are left alone.
    void set_parameters(const ParameterValues& values);

  private:
    void add_springs(const Cloth& cloth);
    void add_bends(const Cloth& cloth, const BendSpringSearch& search,
                   const std::vector<int>& place);
    float& parameter(const Parameter& which, std::size_t place);

    std::vector<int> order_, first_, first_in_bend_, bend_order_, first_bend_;
    std::vector<SweepSpring> springs_;
    std::vector<SweepBend> bends_;
    std::vector<float> inverse_mass_;
    int range_count_;
    bool compression_law_;
    bool damped_bends_ = false;
    std::vector<Parameter> parameters_;
    std::vector<float> laws_;  // empty where springs have none
};

}  // namespace springtime
