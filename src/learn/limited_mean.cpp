#include "learn/limited_mean.h"

#include <algorithm>

#include "core/limited_shares.h"
#include "learn/log_parameters.h"

namespace springtime {

std::optional<ParameterValues> limited_mean(const std::vector<ParameterValues>& gradients,
                                            double limit)
{
    std::vector<double> norms;
    for (const ParameterValues& gradient : gradients) norms.push_back(norm_of(gradient));
    const auto shares = limited_shares(norms, limit);
    if (!shares) return std::nullopt;
    std::optional<ParameterValues> mean;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
        if ((*shares)[i] == 0) continue;
        if (!mean) {
            mean = gradients[i];
            for (auto& kind : *mean) std::fill(kind.begin(), kind.end(), 0.0);
        }
        for (std::size_t k = 0; k < mean->size(); ++k) {
            for (std::size_t e = 0; e < (*mean)[k].size(); ++e) {
                (*mean)[k][e] += (*shares)[i] * gradients[i][k][e];
            }
        }
    }
    return mean;
}

}  // namespace springtime
