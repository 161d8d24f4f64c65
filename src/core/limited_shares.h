#pragma once

#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "core/quantile.h"

namespace springtime {

// What vectors of these norms count in a mean that none of them can rule: each is scaled down to
// `limit` times the median of the norms. Those that are not finite count nothing; nothing is
// returned if these are half or more.
inline std::optional<std::vector<double>> limited_shares(std::span<const double> norms,
                                                         double limit)
{
    std::vector<double> finite;
    for (const double norm : norms) {
        if (std::isfinite(norm)) finite.push_back(norm);
    }
    if (2 * finite.size() <= norms.size()) return std::nullopt;
    const double most = limit * quantile(finite, 0.5);
    std::vector<double> shares;
    for (const double norm : norms) {
        const double scale = norm > most ? most / norm : 1;
        shares.push_back(std::isfinite(norm) ? scale / double(finite.size()) : 0);
    }
    return shares;
}

}  // namespace springtime
