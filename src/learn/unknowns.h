#pragma once

#include <vector>

#include "springtime/cloth.h"

namespace springtime {

// Numbers the learned parameters of a cloth for a linear system: element by element, with the
// parameters of one element side by side.
class Unknowns {
  public:
    struct Position {
        std::size_t parameter;  // index into learned_parameters() and ParameterValues
        std::size_t element;
    };

    explicit Unknowns(const Cloth& cloth)
        : parameters_(learned_parameters(cloth)), first_(parameters_.size())
    {
        for (const Element type : kElements) {
            std::vector<std::size_t> members;
            for (std::size_t k = 0; k < parameters_.size(); ++k) {
                if (parameters_[k].kind->element != type) continue;
                first_[k] = positions_.size() + members.size();
                members.push_back(k);
            }
            const std::size_t count = members.empty() ? 0 : element_count(cloth, type);
            strides_[std::size_t(type)] = members.size();
            for (std::size_t e = 0; e < count; ++e) {
                for (const std::size_t k : members) positions_.push_back({k, e});
            }
        }
    }

    std::size_t size() const { return positions_.size(); }
    const std::vector<Parameter>& parameters() const { return parameters_; }

    std::size_t number(std::size_t parameter, std::size_t element) const
    {
        const auto type = std::size_t(parameters_[parameter].kind->element);
        return first_[parameter] + element * strides_[type];
    }
    const Position& position(std::size_t unknown) const { return positions_[unknown]; }
    const Parameter& parameter(std::size_t unknown) const
    {
        return parameters_[positions_[unknown].parameter];
    }

  private:
    std::vector<Parameter> parameters_;
    std::vector<std::size_t> first_;  // of each parameter
    std::array<std::size_t, kElements.size()> strides_{};
    std::vector<Position> positions_;
};

}  // namespace springtime
