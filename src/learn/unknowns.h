#pragma once

#include <vector>

#include "springtime/cloth.h"
#include "springtime/identify.h"

namespace springtime {

// Numbers the learned parameters of a cloth for a linear system: element by element, with the
// parameters of one element side by side. Elements of a region share their unknowns. A parameter is
// its unknown times a scale: one, but for hinges, whose unknown is the bending of the material.
class Unknowns {
  public:
    explicit Unknowns(const Cloth& cloth, const std::optional<Regions>& regions = std::nullopt);

    std::size_t size() const { return parameter_of_.size(); }
    const std::vector<Parameter>& parameters() const { return parameters_; }

    // `parameter` is an index into learned_parameters() and ParameterValues.
    std::size_t number(std::size_t parameter, std::size_t element) const
    {
        const auto type = std::size_t(parameters_[parameter].kind->element);
        const std::vector<int>& region = region_of_[type];
        return first_[parameter] +
               (region.empty() ? element : std::size_t(region[element])) * strides_[type];
    }
    double scale(std::size_t parameter, std::size_t element) const
    {
        const bool hinge = parameters_[parameter].kind->element == Element::hinge;
        return hinge ? hinge_shapes_[element] : 1;
    }
    std::size_t parameter_of(std::size_t unknown) const { return parameter_of_[unknown]; }
    const Parameter& parameter(std::size_t unknown) const
    {
        return parameters_[parameter_of_[unknown]];
    }

  private:
    std::vector<Parameter> parameters_;
    std::vector<std::size_t> first_;  // of each parameter
    std::array<std::size_t, kElements.size()> strides_{};
    std::array<std::vector<int>, kElements.size()> region_of_{};
    std::vector<double> hinge_shapes_;
    std::vector<std::size_t> parameter_of_;  // by unknown
};

inline Unknowns::Unknowns(const Cloth& cloth, const std::optional<Regions>& regions)
    : parameters_(learned_parameters(cloth)),
      first_(parameters_.size()),
      hinge_shapes_(hinge_shapes(cloth))
{
    for (const Element type : kElements) {
        const auto at = std::size_t(type);
        if (regions) region_of_[at] = regions->of[at];
        std::vector<std::size_t> members;
        for (std::size_t k = 0; k < parameters_.size(); ++k) {
            if (parameters_[k].kind->element != type) continue;
            first_[k] = parameter_of_.size() + members.size();
            members.push_back(k);
        }
        strides_[at] = members.size();
        const std::size_t own =
            region_of_[at].empty() ? element_count(cloth, type) : std::size_t(regions->count);
        const std::size_t count = members.empty() ? 0 : own;
        for (std::size_t e = 0; e < count; ++e) {
            parameter_of_.insert(parameter_of_.end(), members.begin(), members.end());
        }
    }
}

}  // namespace springtime
