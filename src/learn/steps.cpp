#include "learn/steps.h"

#include <cmath>

#include "learn/plan.h"
#include "springtime/evaluate.h"

namespace springtime {

namespace {

// What the parameters of a richer law begin with, of the mean stiffness or damping of structural
// springs. Found on the finite-element benchmark; from ten times as much a short descent does not
// come back.
constexpr double kIsotropicStart = 0.3, kBendDampingStart = 0.02;

// Takes the springs of a family away.
void drop(SpringSet& springs, SpringFamily family)
{
    const std::vector<SpringFamily> families = springs.family;
    const auto keep = [&](auto& values) {
        if (values.empty()) return;
        std::size_t kept = 0;
        for (std::size_t s = 0; s < families.size(); ++s) {
            if (families[s] != family) values[kept++] = values[s];
        }
        values.resize(kept);
    };
    keep(springs.ends);
    keep(springs.family);
    keep(springs.rest_length);
    keep(springs.stiffness);
    keep(springs.damping);
    keep(springs.isotropic_damping);
    for (StiffnessRange& range : springs.ranges) keep(range.stiffness);
}

double family_mean(const Cloth& cloth, const std::vector<double>& values)
{
    double sum = 0, count = 0;
    for (std::size_t s = 0; s < values.size(); ++s) {
        if (cloth.springs.family[s] != cloth.springs.family[0]) continue;
        sum += values[s];
        ++count;
    }
    return sum / count;
}

std::string name_of(const SpringLaw& law)
{
    const SpringLaw full = law_named("full");
    if (law.knots.empty() && !law.isotropic && !law.bends) return "published law";
    const bool is_full = law.knots == full.knots && law.isotropic && law.bends;
    return is_full ? "full law" : "given law";
}

// Standard error of the mean difference of two answers on the same rollouts.
double difference_error(const ValidationError& a, const ValidationError& b)
{
    const std::size_t n = a.by_rollout.size();
    if (n < 2) return 0;
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double difference = a.by_rollout[i] - b.by_rollout[i];
        sum += difference;
        squares += difference * difference;
    }
    const double mean = sum / double(n);
    return std::sqrt(std::max(0.0, squares / double(n) - mean * mean) / double(n - 1));
}

}  // namespace

TrivialErrors trivial_errors(const TrainingSet& set)
{
    const auto begin = set.split.validation.begin();
    return trivial_errors(
        select_rollouts(set.motion, {begin, begin + std::ptrdiff_t(set.validation.size())}));
}

std::optional<std::size_t> simplest_good(const std::vector<ValidationError>& errors)
{
    constexpr double kSame = 1.03;
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < errors.size(); ++i) {
        if (!std::isfinite(errors[i].mean)) continue;
        if (!best || errors[i].mean < errors[*best].mean) best = i;
    }
    if (!best) return best;
    for (std::size_t i = 0; i < *best; ++i) {
        const double worse = errors[i].mean - errors[*best].mean;
        if (worse <= (kSame - 1) * errors[*best].mean) return i;
        if (worse <= difference_error(errors[i], errors[*best])) return i;
    }
    return best;
}

std::vector<StepPlan> planned_steps(const LearnOptions& options, const MotionHeader& header)
{
    const SpringLaw published, law = options.law.value_or(law_named("full"));
    const bool mesh = learns_on_mesh(options), lean = !options.law && !mesh;
    const std::string name = lean ? "lean law" : name_of(law);
    DescentOptions homogeneous = homogeneous_descent(header, options.seed);
    if (options.homogeneous_iterations) {
        homogeneous.horizons = {{*options.homogeneous_iterations, homogeneous.horizons[0].seconds}};
    }
    if (options.start_share) homogeneous.start_share = *options.start_share;
    homogeneous.squares = options.squares;
    homogeneous.width = options.width;
    homogeneous.validate_every = options.validate_every.value_or(homogeneous.validate_every);
    homogeneous.rate = options.rate.value_or(homogeneous.rate);
    DescentOptions detailed = homogeneous;
    detailed.deviate = true;
    detailed.horizons = options.horizons;
    if (detailed.horizons.empty()) detailed.horizons = {{40, 0.5}, {30, 1}, {30, 2}};
    detailed.batch = options.batch;
    detailed.smoothing = options.smoothing.value_or(detailed.smoothing);
    detailed.validate_every = options.validate_every.value_or(DescentOptions{}.validate_every);
    detailed.masses = options.masses.value_or(lean && !header.captured);
    detailed.seed = options.seed + 1;
    if (mesh) {
        const bool triangles = options.elements == LearnElements::triangles;
        const bool regions = options.region_count || options.region_map;
        detailed.deviate = !regions;
        const std::string elements = triangles ? "triangles" : "springs of the mesh";
        return {{"homogeneous " + elements, published, homogeneous},
                {regions     ? elements + " by region"
                 : triangles ? "per triangle"
                             : "per spring of the mesh",
                 published, detailed}};
    }
    std::vector<StepPlan> steps{{"homogeneous, published law", published, homogeneous}};
    homogeneous.lean = detailed.lean = lean;
    if (name != "published law") steps.push_back({"homogeneous, " + name, law, homogeneous});
    steps.push_back({"per spring, " + name, law, detailed});
    return steps;
}

Cloth with_law(Cloth cloth, const SpringLaw& law, bool lean, bool keep_families)
{
    const std::vector<Parameter> parameters = learned_parameters(cloth);
    const bool published =
        std::all_of(parameters.begin(), parameters.end(), [](const Parameter& p) {
            return p.kind->element == Element::spring &&
                   p.kind->presence == ParameterPresence::always;
        });
    if (!published) return cloth;
    cloth.errors.reset();
    const double stiffness = family_mean(cloth, cloth.springs.stiffness);
    const double damping = family_mean(cloth, cloth.springs.damping);
    if (law.bends && !keep_families) drop(cloth.springs, SpringFamily::bending);
    set_law(cloth, law);
    const auto fill = [](std::vector<double>& values, double value) {
        std::fill(values.begin(), values.end(), value);
    };
    fill(cloth.springs.isotropic_damping, kIsotropicStart * damping);
    fill(cloth.bends.stiffness, kBendStart * stiffness);
    fill(cloth.bends.damping, lean ? 0 : kBendDampingStart * damping);
    for (std::size_t s = 0; lean && s < cloth.springs.isotropic_damping.size(); ++s) {
        if (cloth.springs.family[s] != SpringFamily::structural) {
            cloth.springs.isotropic_damping[s] = 0;
        }
    }
    return cloth;
}

}  // namespace springtime
