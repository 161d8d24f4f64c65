#pragma once

#include <optional>
#include <vector>

#include "springtime/cloth.h"

namespace springtime {

// Scales the gradients of clips down to `limit` times the median of their norms, so that a chaotic
// clip cannot rule, and returns their mean. Gradients that are not finite are left out; nothing is
// returned if these are half or more.
std::optional<ParameterValues> limited_mean(const std::vector<ParameterValues>& gradients,
                                            double limit);

}  // namespace springtime
