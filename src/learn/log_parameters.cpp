#include "learn/log_parameters.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "learn/adam.h"
#include "learn/descent.h"
#include "sim/forces.h"

namespace springtime {

namespace {

// What stands for the logarithm of zero: e^-100 is less than any parameter.
constexpr double kLogOfZero = -100;

// Largest k dt^2/m of springs and bends, and b dt/m of all dashpots, at which descents on chaotic
// motion kept within stable steps (a quarter of what a grid of equal springs stands). With 0.12 for
// springs errors are the same, and the map of stiffness is less like that of the source.
constexpr double kStiffest = 0.08, kStiffestBend = 0.005, kToughest = 0.03;
// The same of triangles, whose sheets are sound up to 0.16 if all have one mu = lambda; here a sum
// of up to three kinds counts.
constexpr double kStiffestTriangle = 0.1;
// K dt^2/(m h^2) of hinges with triangles of height h: the slopes of an angle square to some 4/h^2,
// and a particle belongs to some six of them at a time, so that dt^2 w^2 is 24 times this, or 48
// times that of damping, of the 4 that a step stands.
constexpr double kStiffestHinge = 0.01, kToughestHinge = 0.005;

// How far a learned mass may lie from the given one.
constexpr double kMassFactor = 3;

double lightest(const std::vector<double>& masses, const std::vector<int>& particles)
{
    double mass = HUGE_VAL;
    for (const int p : particles) mass = std::min(mass, masses[std::size_t(p)]);
    return mass;
}

// What particles of a mesh would weigh inside of it, with six triangles around them: those at its
// border are lighter, but have fewer elements to resist.
std::vector<double> inner_masses(const Cloth& cloth)
{
    std::vector<double> triangles(cloth.particle_count());
    for (const auto& corners : cloth.triangles.corners) {
        for (const int p : corners) triangles[std::size_t(p)] += 1;
    }
    std::vector<double> masses = cloth.mass;
    for (std::size_t p = 0; p < masses.size(); ++p) masses[p] *= 6 / std::max(triangles[p], 1.0);
    return masses;
}

// The lower height of the triangles of a hinge, over its edge at rest. [m]
double hinge_height(const Cloth& cloth, const std::array<int, 4>& corners)
{
    const auto [a, b, c, d] = corners;
    const SheetPoint pa = cloth.rest[std::size_t(a)], pb = cloth.rest[std::size_t(b)];
    const double area = std::min(shape_of_triangle<double>(cloth, {a, b, c}).area,
                                 shape_of_triangle<double>(cloth, {b, a, d}).area);
    return 2 * area / std::hypot(pb.u - pa.u, pb.v - pa.v);
}

// The largest values of a parameter that explicit steps stand, by element.
std::vector<double> largest_values(const Cloth& cloth, const Parameter& parameter, double dt)
{
    const Element element = parameter.kind->element;
    const bool mesh = element == Element::triangle || element == Element::hinge;
    const std::vector<double> masses = mesh ? inner_masses(cloth) : cloth.mass;
    const double per_second = parameter.is_damping() ? 1 / dt : 1 / (dt * dt);
    std::vector<double> result(element_count(cloth, element));
    for (std::size_t e = 0; e < result.size(); ++e) {
        const double scale = per_second * lightest(masses, particles_of(cloth, element, e));
        switch (element) {
            case Element::spring:
                result[e] = (parameter.is_damping() ? kToughest : kStiffest) * scale;
                break;
            case Element::bend:
                result[e] = (parameter.is_damping() ? kToughest : kStiffestBend) * scale;
                break;
            case Element::triangle:
                result[e] = (parameter.is_damping() ? kToughest : kStiffestTriangle) * scale;
                break;
            case Element::hinge: {
                const double height = hinge_height(cloth, cloth.hinges.corners[e]);
                const double most = parameter.is_damping() ? kToughestHinge : kStiffestHinge;
                result[e] = most * scale * height * height;
                break;
            }
            case Element::coupling:
                result[e] = HUGE_VAL;  // CouplingBound bounds them
                break;
        }
    }
    return result;
}

// Couplings of edges that meet at a right angle or more, and those of others: a sheet that resists
// a change of area has positive ones in the first place, and those of a diagonal are negative.
std::vector<ElementFamily> families_of_parameter(const Cloth& cloth, Element element,
                                                 const std::optional<Regions>& regions)
{
    if (regions && !regions->of[std::size_t(element)].empty()) {
        std::vector<ElementFamily> families(std::size_t(regions->count), {"region", {}});
        const std::vector<int>& region = regions->of[std::size_t(element)];
        for (std::size_t e = 0; e < region.size(); ++e) families[region[e]].members.push_back(e);
        return families;
    }
    if (element != Element::coupling) return families_of(cloth, element);
    std::vector<ElementFamily> families{{"wide coupling", {}}, {"narrow coupling", {}}};
    for (std::size_t i = 0; i < cloth.couplings.coupling_count(); ++i) {
        const auto [apex, b, c] = cloth.couplings.corners[i];
        const SheetPoint o = cloth.rest[std::size_t(apex)], pb = cloth.rest[std::size_t(b)],
                         pc = cloth.rest[std::size_t(c)];
        const auto [length1, length2] = cloth.couplings.rest_length[i];
        const double dot = (pb.u - o.u) * (pc.u - o.u) + (pb.v - o.v) * (pc.v - o.v);
        families[dot <= 0.1 * length1 * length2 ? 0 : 1].members.push_back(i);
    }
    std::erase_if(families, [](const ElementFamily& family) { return family.members.empty(); });
    return families;
}

double mean_stiffness(const SpringSet& springs)
{
    if (springs.spring_count() == 0) return 1;
    return std::accumulate(springs.stiffness.begin(), springs.stiffness.end(), 0.0) /
           double(springs.spring_count());
}

// Fewer and fewer, and none at the end: first neighbourhoods are learned, then single elements.
int smoothing_passes(const DescentOptions& options, int step)
{
    const double done = double(step - 1) / std::max(1, total_iterations(options));
    return int(std::lround(options.smoothing * (1 - done)));
}

}  // namespace

LogParameters::LogParameters(const Cloth& cloth, double dt, bool masses,
                             const std::optional<Regions>& regions)
    : parameters_(learned_parameters(cloth)),
      coupling_bound_(cloth),
      unit_(mean_stiffness(cloth.springs)),
      masses_(masses)
{
    for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
        if (cloth.springs.family[s] == SpringFamily::structural) straight_.push_back(s);
    }
    for (const Parameter& parameter : parameters_) {
        families_.push_back(families_of_parameter(cloth, parameter.kind->element, regions));
        neighbours_.push_back(neighbours_of(cloth, parameter.kind->element));
        std::vector<double>& bounds = bounds_.emplace_back(largest_values(cloth, parameter, dt));
        for (double& bound : bounds) bound = std::log(bound);
        lowest_.emplace_back(bounds.size(), -HUGE_VAL);
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

// What may be negative has no logarithm. Masses come last and have one.
bool LogParameters::is_logarithm(std::size_t parameter) const
{
    return parameter >= parameters_.size() || parameters_[parameter].kind->lower_bound >= 0;
}

TrainState LogParameters::start_from(const Cloth& cloth) const
{
    TrainState state;
    state.parameters = parameters_of(cloth);
    for (std::size_t k = 0; k < parameters_.size(); ++k) {
        for (double& value : state.parameters[k]) {
            value = !is_logarithm(k) ? value / unit_ : value > 0 ? std::log(value) : kLogOfZero;
        }
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
    hold_couplings(state.parameters);
    state.average = state.parameters;
    state.best = values(state.parameters);
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
    const Element element = which.kind->element;
    const bool in_plane = element != Element::bend && element != Element::hinge;
    return in_plane && !which.is_damping();
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
    hold_couplings(state.parameters);
}

void LogParameters::cut_off(std::size_t parameter, std::vector<double>& coordinates) const
{
    for (std::size_t e = 0; e < coordinates.size(); ++e) {
        coordinates[e] = std::clamp(coordinates[e], lowest_[parameter][e], bounds_[parameter][e]);
    }
}

// Beyond its bound a coupling would drift without any effect.
void LogParameters::hold_couplings(ParameterValues& coordinates) const
{
    const ParameterValues held = values(coordinates);
    for (std::size_t k = 0; k < parameters_.size(); ++k) {
        if (is_logarithm(k)) continue;
        for (std::size_t e = 0; e < held[k].size(); ++e) coordinates[k][e] = held[k][e] / unit_;
    }
}

ParameterValues LogParameters::values(ParameterValues coordinates) const
{
    for (std::size_t k = 0; k < coordinates.size(); ++k) {
        for (double& value : coordinates[k]) {
            if (!is_logarithm(k)) {
                value *= unit_;
            } else {
                value = value > kLogOfZero / 2 ? std::exp(value) : 0;
            }
        }
    }
    coupling_bound_.apply(coordinates);
    return coordinates;
}

ParameterValues LogParameters::slopes(const ParameterValues& values) const
{
    ParameterValues slopes = values;
    for (std::size_t k = 0; k < slopes.size(); ++k) {
        if (!is_logarithm(k)) std::fill(slopes[k].begin(), slopes[k].end(), unit_);
    }
    return slopes;
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

double norm_of(const ParameterValues& gradient)
{
    double sum = 0;
    for (const auto& kind : gradient) {
        for (const double g : kind) sum += g * g;
    }
    return std::sqrt(sum);
}

}  // namespace springtime
