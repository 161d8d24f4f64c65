#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace springtime {

// The value that `share` of all values lie below: 1/2 for the median, 1 for the largest. Of an even
// number the upper one in the middle. `values` must not be empty.
inline double quantile(std::vector<double> values, double share)
{
    const auto rank = static_cast<std::size_t>(share * static_cast<double>(values.size()));
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::min(rank, values.size() - 1));
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

}  // namespace springtime
