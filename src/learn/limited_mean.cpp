#include "learn/limited_mean.h"

#include <algorithm>
#include <cmath>

#include "core/quantile.h"
#include "learn/log_parameters.h"

namespace springtime {

std::optional<ParameterValues> limited_mean(const std::vector<ParameterValues>& gradients,
                                            double limit)
{
    std::vector<double> norms;
    std::vector<const ParameterValues*> finite;
    for (const ParameterValues& gradient : gradients) {
        const double norm = norm_of(gradient);
        if (!std::isfinite(norm)) continue;
        norms.push_back(norm);
        finite.push_back(&gradient);
    }
    if (2 * finite.size() <= gradients.size()) return std::nullopt;
    const double most = limit * quantile(norms, 0.5);
    ParameterValues mean = *finite[0];
    for (auto& kind : mean) std::fill(kind.begin(), kind.end(), 0.0);
    for (std::size_t i = 0; i < finite.size(); ++i) {
        const double scale = (norms[i] > most ? most / norms[i] : 1) / double(finite.size());
        for (std::size_t k = 0; k < mean.size(); ++k) {
            for (std::size_t e = 0; e < mean[k].size(); ++e) {
                mean[k][e] += scale * (*finite[i])[k][e];
            }
        }
    }
    return mean;
}

}  // namespace springtime
