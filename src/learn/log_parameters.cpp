#include "learn/log_parameters.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "learn/adam.h"
#include "learn/descent.h"

namespace springtime {

namespace {

// Largest k dt^2/m of springs and bends, and b dt/m of all dashpots, at which descents on chaotic
// motion kept within stable steps (a quarter of what a grid of equal springs stands). With 0.12 for
// springs errors are the same, and the map of stiffness is less like that of the source.
constexpr double kStiffest = 0.08, kStiffestBend = 0.005, kToughest = 0.03;

double largest(const Parameter& parameter, double dt)
{
    if (parameter.is_damping()) return kToughest / dt;
    return (parameter.kind->element == Element::bend ? kStiffestBend : kStiffest) / (dt * dt);
}

// The particles of a spring, or of a bend.
std::vector<int> particles_of(const Cloth& cloth, Element element, std::size_t index)
{
    if (element == Element::bend) {
        const auto& three = cloth.bends.particles[index];
        return {three.begin(), three.end()};
    }
    const auto& ends = cloth.springs.ends[index];
    return {ends.begin(), ends.end()};
}

// How far a learned mass may lie from the given one.
constexpr double kMassFactor = 3;

double lightest(const Cloth& cloth, const std::vector<int>& particles)
{
    double mass = HUGE_VAL;
    for (const int p : particles) mass = std::min(mass, cloth.mass[std::size_t(p)]);
    return mass;
}

ElementNeighbours neighbours_of(const Cloth& cloth, Element element)
{
    ElementNeighbours result;
    const std::size_t count = element_count(cloth, element);
    const int cols = cloth.grid ? cloth.grid->cols : int(cloth.particle_count());
    std::map<std::array<int, 3>, std::size_t> by_place;  // first particle, way to the others
    const auto place_of = [&](std::size_t e) {
        const std::vector<int> p = particles_of(cloth, element, e);
        return std::array{p[0], p[1] - p[0], p.back() - p[0]};
    };
    for (std::size_t e = 0; e < count; ++e) by_place[place_of(e)] = e;
    const auto neighbour = [&](std::size_t e, int step, bool same_row) {
        std::array<int, 3> place = place_of(e);
        const int row = place[0] / cols;
        place[0] += step;
        const auto found = by_place.find(place);
        const bool there = found != by_place.end() && (!same_row || place[0] / cols == row);
        return there ? found->second : e;
    };
    for (std::size_t e = 0; e < count; ++e) {
        result.along_rows.push_back({neighbour(e, -1, true), neighbour(e, 1, true)});
        result.along_columns.push_back({neighbour(e, -cols, false), neighbour(e, cols, false)});
    }
    return result;
}

ElementNeighbours particle_neighbours(const Cloth& cloth)
{
    ElementNeighbours result;
    const std::size_t count = cloth.particle_count();
    const std::size_t cols = cloth.grid ? std::size_t(cloth.grid->cols) : count;
    for (std::size_t p = 0; p < count; ++p) {
        const std::size_t col = p % cols;
        result.along_rows.push_back({col > 0 ? p - 1 : p, col + 1 < cols ? p + 1 : p});
        result.along_columns.push_back({p >= cols ? p - cols : p, p + cols < count ? p + cols : p});
    }
    return result;
}

// [1 2 1]/4 along the rows and along the columns.
void smooth(std::vector<double>& values, const ElementNeighbours& neighbours)
{
    for (const auto* along : {&neighbours.along_rows, &neighbours.along_columns}) {
        const std::vector<double> before = values;
        for (std::size_t e = 0; e < values.size(); ++e) {
            const auto& [a, b] = (*along)[e];
            values[e] = 0.25 * (before[a] + before[b]) + 0.5 * before[e];
        }
    }
}

// Fewer and fewer, and none at the end: first neighbourhoods are learned, then single elements.
int smoothing_passes(const DescentOptions& options, int step)
{
    const double done = double(step - 1) / std::max(1, total_iterations(options));
    return int(std::lround(options.smoothing * (1 - done)));
}

}  // namespace

LogParameters::LogParameters(const Cloth& cloth, double dt, bool masses)
    : parameters_(learned_parameters(cloth)), masses_(masses)
{
    for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
        if (cloth.springs.family[s] == SpringFamily::structural) straight_.push_back(s);
    }
    for (const Parameter& parameter : parameters_) {
        families_.push_back(families_of(cloth, parameter.kind->element));
        neighbours_.push_back(neighbours_of(cloth, parameter.kind->element));
        const std::size_t count = element_count(cloth, parameter.kind->element);
        std::vector<double>& bounds = bounds_.emplace_back(count);
        lowest_.emplace_back(count, -HUGE_VAL);
        for (std::size_t e = 0; e < count; ++e) {
            const double mass = lightest(cloth, particles_of(cloth, parameter.kind->element, e));
            bounds[e] = std::log(largest(parameter, dt) * mass);
        }
    }
    if (!masses) return;
    families_.emplace_back();
    neighbours_.push_back(particle_neighbours(cloth));
    lowest_.emplace_back();
    bounds_.emplace_back();
    for (const double mass : cloth.mass) {
        lowest_.back().push_back(std::log(mass / kMassFactor));
        bounds_.back().push_back(std::log(mass * kMassFactor));
    }
}

TrainState LogParameters::start_from(const Cloth& cloth) const
{
    TrainState state;
    state.parameters = parameters_of(cloth);
    for (std::size_t k = 0; k < parameters_.size(); ++k) {
        for (double& value : state.parameters[k]) value = value > 0 ? std::log(value) : kLogOfZero;
        cut_off(k, state.parameters[k]);
        state.mean.emplace_back(bounds_[k].size());
        state.level_mean.emplace_back(families_[k].size());
    }
    if (masses_) {
        std::vector<double>& logs = state.parameters.emplace_back();
        for (const double mass : cloth.mass) logs.push_back(std::log(mass));
        state.mean.emplace_back(logs.size());
        state.level_mean.emplace_back();
    }
    state.average = state.parameters;
    state.best = exponentials(state.parameters);
    state.square = state.mean;
    state.level_square = state.level_mean;
    return state;
}

// Springs of rows and columns have one stiffness for all ranges: its gradient is the sum of all.
void LogParameters::tie(ParameterValues& gradient) const
{
    for (std::size_t k = 1; k < parameters_.size(); ++k) {
        if (!parameters_[k].in_range()) continue;
        for (const std::size_t s : straight_) {
            gradient[0][s] += gradient[k][s];
            gradient[k][s] = 0;
        }
    }
}

void LogParameters::follow_ties(ParameterValues& logs) const
{
    for (std::size_t k = 1; k < parameters_.size(); ++k) {
        if (!parameters_[k].in_range()) continue;
        for (const std::size_t s : straight_) logs[k][s] = logs[0][s];
    }
}

// Where it is lean, motion says too little about the damping and the bending of single elements:
// one value for each family follows unseen motion better.
bool LogParameters::deviates(std::size_t parameter, const DescentOptions& options) const
{
    if (!options.deviate || !options.lean || parameter >= parameters_.size()) {
        return options.deviate;
    }
    const Parameter& which = parameters_[parameter];
    return which.kind->element == Element::spring && !which.is_damping();
}

void LogParameters::descend(TrainState& state, ParameterValues gradient,
                            const DescentOptions& options, double rate, int step) const
{
    if (options.lean) tie(gradient);
    constexpr double kSquareDecay = 0.97;  // horizons grow and gradients with them: forget quickly
    const int passes = smoothing_passes(options, step);
    for (std::size_t k = 0; k < state.parameters.size(); ++k) {
        std::vector<double>& logs = state.parameters[k];
        std::vector<double> level(families_[k].size()), level_gradient(families_[k].size());
        for (std::size_t f = 0; f < families_[k].size(); ++f) {
            for (const std::size_t e : families_[k][f].members) level_gradient[f] += gradient[k][e];
        }
        adam_step(level, level_gradient, state.level_mean[k], state.level_square[k],
                  options.level_rate * rate, step, kSquareDecay);
        if (deviates(k, options)) {
            std::vector<double> smoothed = gradient[k];
            for (int pass = 0; pass < passes; ++pass) smooth(smoothed, neighbours_[k]);
            adam_step(logs, smoothed, state.mean[k], state.square[k], rate, step, kSquareDecay);
        }
        for (std::size_t f = 0; f < families_[k].size(); ++f) {
            for (const std::size_t e : families_[k][f].members) logs[e] += level[f];
        }
        cut_off(k, logs);
    }
    if (options.lean) follow_ties(state.parameters);
}

void LogParameters::cut_off(std::size_t parameter, std::vector<double>& logs) const
{
    for (std::size_t e = 0; e < logs.size(); ++e) {
        logs[e] = std::clamp(logs[e], lowest_[parameter][e], bounds_[parameter][e]);
    }
}

ParameterValues exponentials(ParameterValues logs)
{
    for (std::vector<double>& kind : logs) {
        for (double& value : kind) value = value > kLogOfZero / 2 ? std::exp(value) : 0;
    }
    return logs;
}

ParameterValues values_with_masses(const Cloth& cloth)
{
    ParameterValues values = parameters_of(cloth);
    values.push_back(cloth.mass);
    return values;
}

void set_values(Cloth& cloth, ParameterValues values)
{
    if (values.size() > learned_parameters(cloth).size()) {
        const double learned = std::accumulate(values.back().begin(), values.back().end(), 0.0);
        const double given = std::accumulate(cloth.mass.begin(), cloth.mass.end(), 0.0);
        for (std::vector<double>& kind : values) {
            for (double& value : kind) value *= given / learned;
        }
        cloth.mass = std::move(values.back());
        values.pop_back();
    }
    set_parameters(cloth, values);
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
