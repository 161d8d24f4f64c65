#include "learn/log_parameters.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "learn/adam.h"

namespace springtime {

namespace {

// Largest k dt^2/m of springs, and b dt/m of all dashpots, at which descents on chaotic motion kept
// within stable steps (a fifth of what a grid of equal springs stands).
constexpr double kStiffest = 0.08, kToughest = 0.03;

// What zeros begin with, of the mean stiffness or damping of the springs.
constexpr double kSmall = 0.1;

double mean_of_values(const std::vector<double>& values)
{
    return values.empty() ? 0
                          : std::accumulate(values.begin(), values.end(), 0.0) /
                                double(values.size());
}

double lightest_end(const Cloth& cloth, const Parameter&, std::size_t element)
{
    const auto [a, b] = cloth.springs.ends[element];
    return std::min(cloth.mass[std::size_t(a)], cloth.mass[std::size_t(b)]);
}

}  // namespace

LogParameters::LogParameters(const Cloth& cloth, double dt) : parameters_(learned_parameters(cloth))
{
    for (const Parameter& parameter : parameters_) {
        families_.push_back(families_of(cloth, parameter.kind->element));
        const std::size_t count = element_count(cloth, parameter.kind->element);
        std::vector<double>& bounds = bounds_.emplace_back(count);
        const double share = parameter.is_damping() ? kToughest / dt : kStiffest / (dt * dt);
        for (std::size_t e = 0; e < count; ++e) {
            bounds[e] = std::log(share * lightest_end(cloth, parameter, e));
        }
    }
}

TrainState LogParameters::start_from(const Cloth& cloth) const
{
    const double stiffness = mean_of_values(cloth.springs.stiffness);
    const double damping = mean_of_values(cloth.springs.damping);
    TrainState state;
    state.parameters = parameters_of(cloth);
    for (std::size_t k = 0; k < parameters_.size(); ++k) {
        const double least = kSmall * (parameters_[k].is_damping() ? damping : stiffness);
        for (double& value : state.parameters[k]) value = std::log(value > 0 ? value : least);
        cut_off(k, state.parameters[k]);
        state.mean.emplace_back(bounds_[k].size());
        state.level_mean.emplace_back(families_[k].size());
    }
    state.average = state.parameters;
    state.best = exponentials(state.parameters);
    state.square = state.mean;
    state.level_square = state.level_mean;
    return state;
}

void LogParameters::descend(TrainState& state, const ParameterValues& gradient, bool deviate,
                            double rate, int step) const
{
    constexpr double kSquareDecay = 0.97;  // horizons grow and gradients with them: forget quickly
    for (std::size_t k = 0; k < parameters_.size(); ++k) {
        std::vector<double>& logs = state.parameters[k];
        std::vector<double> level(families_[k].size()), level_gradient(families_[k].size());
        for (std::size_t f = 0; f < families_[k].size(); ++f) {
            for (const std::size_t e : families_[k][f].members) level_gradient[f] += gradient[k][e];
        }
        adam_step(level, level_gradient, state.level_mean[k], state.level_square[k], rate, step,
                  kSquareDecay);
        if (deviate) {
            adam_step(logs, gradient[k], state.mean[k], state.square[k], rate, step,
                      kSquareDecay);
        }
        for (std::size_t f = 0; f < families_[k].size(); ++f) {
            for (const std::size_t e : families_[k][f].members) logs[e] += level[f];
        }
        cut_off(k, logs);
    }
}

void LogParameters::cut_off(std::size_t parameter, std::vector<double>& logs) const
{
    for (std::size_t e = 0; e < logs.size(); ++e) {
        logs[e] = std::min(logs[e], bounds_[parameter][e]);
    }
}

ParameterValues exponentials(ParameterValues logs)
{
    for (std::vector<double>& kind : logs) {
        for (double& value : kind) value = std::exp(value);
    }
    return logs;
}

void to_logarithms(ParameterValues& gradient, const ParameterValues& values)
{
    for (std::size_t k = 0; k < gradient.size(); ++k) {
        for (std::size_t e = 0; e < gradient[k].size(); ++e) gradient[k][e] *= values[k][e];
    }
}

double norm_of(const ParameterValues& gradient)
{
    double sum = 0;
    for (const auto& kind : gradient) {
        for (const double g : kind) sum += g * g;
    }
    return std::sqrt(sum);
}

}  // namespace springtime
