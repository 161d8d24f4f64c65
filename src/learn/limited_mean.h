#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/tree_sum.h"
#include "springtime/cloth.h"

namespace springtime {

// Adds values of the same parameters; nothing at all counts as zero.
struct AddValues {
    void operator()(ParameterValues& to, ParameterValues& values) const;
};
using GradientSum = TreeSum<ParameterValues, AddValues>;

// The sum of some gradients, each times its share, which come after `first` others.
GradientSum shared_sum(std::vector<ParameterValues> gradients, std::span<const double> shares,
                       std::size_t first);

// Scales the gradients of clips down to `limit` times the median of their norms, so that a chaotic
// clip cannot rule, and returns their mean. Gradients that are not finite are left out; nothing is
// returned if these are half or more.
std::optional<ParameterValues> limited_mean(std::vector<ParameterValues> gradients, double limit);

}  // namespace springtime
