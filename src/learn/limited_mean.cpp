#include "learn/limited_mean.h"

#include "core/limited_shares.h"
#include "learn/log_parameters.h"

namespace springtime {

void AddValues::operator()(ParameterValues& to, ParameterValues& values) const
{
    if (to.empty()) to.swap(values);
    for (std::size_t k = 0; k < values.size(); ++k) {
        for (std::size_t e = 0; e < values[k].size(); ++e) to[k][e] += values[k][e];
    }
}

GradientSum shared_sum(std::vector<ParameterValues> gradients, std::span<const double> shares,
                       std::size_t first)
{
    GradientSum sum{AddValues{}};
    for (std::size_t i = 0; i < gradients.size(); ++i) {
        ParameterValues scaled = std::move(gradients[i]);
        if (shares[i] == 0) scaled.clear();
        for (auto& kind : scaled) {
            for (double& value : kind) value *= shares[i];
        }
        sum.add({first + i, 1, std::move(scaled)});
    }
    return sum;
}

std::optional<ParameterValues> limited_mean(std::vector<ParameterValues> gradients, double limit)
{
    std::vector<double> norms;
    for (const ParameterValues& gradient : gradients) norms.push_back(norm_of(gradient));
    const auto shares = limited_shares(norms, limit);
    if (!shares) return std::nullopt;
    return shared_sum(std::move(gradients), *shares, 0).total();
}

}  // namespace springtime
