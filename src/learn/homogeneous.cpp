#include <algorithm>
#include <cmath>

#include "learn/descent.h"
#include "learn/heartbeat.h"
#include "learn/training_set.h"
#include "springtime/error.h"
#include "springtime/learn.h"

namespace springtime {

namespace {

// Stiffness [N/m] that carries the sheet's weight over its rows at a stretch of a tenth: the middle
// of the search.
double middle_stiffness(const Cloth& cloth, const Environment& environment)
{
    const double weight = cloth.sheet.mass * std::max(length(environment.gravity), 0.1);
    const double side = std::sqrt(cloth.sheet.length * cloth.sheet.width);
    return weight / (0.1 * side);
}

// What the search for a start looks at: clips like those of the descent.
std::vector<Trajectory> start_targets(const TrainingSet& set)
{
    constexpr std::size_t kTargets = 32, kLeastIntervals = 8;
    constexpr double kSeconds = 0.5;
    const double intervals = std::round(kSeconds / set.motion.header.frame_interval());
    const std::size_t length = std::max(kLeastIntervals, std::size_t(intervals));
    const ClipDraw draw{kTargets, 0.5, set.options.seed};
    return set.trajectories.read(draw.clips(set.motion, set.split.training, length, 0), length);
}

// A stiff sheet of triangles is followed best by springs without end; those that would need shorter
// steps than the motion has are no cloth for real time. Where steps are cut as needed, the gradient
// leaves out what would need too many.
bool runs_at_the_step(const Cloth& cloth, const TrainingSet& set)
{
    const SimulationOptions& step = set.step;
    return !set.substeps.count ||
           stable_substeps(cloth, step.environment, step.dt) <= *set.substeps.count;
}

// Error [m] on targets, for a search. A cloth that needs twice the sub-steps must be 5 % better:
// noise makes overdamped cloths look a little better without end, and they cost time in every use.
double priced_error(const TrainingSet& set, BatchGradient& gradient,
                    const std::vector<Trajectory>& targets, const Cloth& cloth)
{
    constexpr double kPrice = 0.07;  // 2^0.07 = 1.05
    const ParameterValues parameters = parameters_of(cloth);
    double error = 0;
    for (const auto& followed : gradient.follow(targets, set.map, parameters, {}, false)) {
        error += followed.result.error / double(targets.size());
    }
    if (set.substeps.count) return error;
    return error * std::pow(gradient.substeps_for(parameters).value_or(0), kPrice);
}

// Couplings and bends begin with none.
Cloth uniform_cloth(Cloth cloth, double stiffness, double damping)
{
    const double spacing = smallest_spacing(cloth);
    for (const Parameter& parameter : parameters_in(cloth)) {
        std::vector<double>& values = values_of(cloth, parameter);
        const double value = parameter.is_damping() ? damping : stiffness;
        const Element element = parameter.kind->element;
        if (element == Element::spring || element == Element::triangle) {
            std::fill(values.begin(), values.end(), value);
        } else if (element == Element::hinge) {
            values = hinge_shapes(cloth);
            for (double& shape : values) shape *= kBendStart * value * spacing * spacing;
        } else {
            std::fill(values.begin(), values.end(), 0.0);
        }
    }
    // Stiffness along warp and weft is added to what triangles have anyway.
    for (auto* added : {&cloth.triangles.warp_stiffness, &cloth.triangles.weft_stiffness}) {
        for (double& value : *added) value *= 0.1;
    }
    return cloth;
}

}  // namespace

// Least squares on the balance of forces would be quicker, but where stiffness varies the strains
// adapt to it, and a single stiffness then comes out ten times too low.
Cloth homogeneous_start(const TrainingSet& set, const Stage& stage)
{
    const bool mesh = set.options.cloth.has_value();
    const Cloth surrogate =
        mesh ? set.surrogate : make_surrogate(set.motion.header, set.options.grid, 1, 1);
    BatchGradient gradient = set.gradient_of(surrogate);
    const std::vector<Trajectory> targets = start_targets(set);
    const double mass = surrogate.sheet.mass / double(surrogate.particle_count());
    const double middle = middle_stiffness(surrogate, set.step.environment);
    Cloth best = surrogate;
    double best_error = HUGE_VAL;
    // Stiff and overdamped cloths take many sub-steps: where these are cut, going on in vain ends.
    const bool prunes = !set.substeps.count;
    int worse = 0;
    for (int k_step = -4; k_step <= 4; ++k_step) {  // a hundredth to a hundred times the middle
        stage.report((k_step + 4) / 9.0);
        if (prunes && worse == 2) break;
        ++worse;
        double least = HUGE_VAL;  // of this stiffness
        int worse_damping = 0;    // steps of damping that were worse
        for (const double ratio : {0.01, 0.05, 0.25, 1.25, 5.0}) {  // of critical damping
            if (prunes && worse_damping == 2) break;
            const double k = middle * std::pow(10.0, k_step / 2.0);
            const Cloth cloth = uniform_cloth(surrogate, k, ratio * 2 * std::sqrt(k * mass));
            if (!runs_at_the_step(cloth, set)) continue;
            const double error = priced_error(set, gradient, targets, cloth);
            worse_damping = error < least ? 0 : worse_damping + 1;
            least = std::min(least, std::isnan(error) ? HUGE_VAL : error);
            if (!(error < best_error)) continue;  // a blow-up is no number
            best_error = error;
            best = cloth;
            worse = 0;
        }
    }
    return best;
}

DescentOptions homogeneous_descent(const MotionHeader&, std::uint64_t seed)
{
    DescentOptions options;
    options.horizons = {{40, 0.5}, {20, 1}};
    options.deviate = false;
    options.validate_every = 30;
    options.seed = seed;
    return options;
}

Cloth fit_homogeneous(const TrainingSet& set, const DescentOptions& descent,
                      const Progress& progress)
{
    const std::string name =
        set.options.cloth
            ? fmt::format("homogeneous fit, {} particles", set.surrogate.particle_count())
            : fmt::format("homogeneous fit, {} x {}", set.options.grid.rows, set.options.grid.cols);
    const Cloth start = homogeneous_start(set, Stage(progress, name));
    return descend(set, start, descent, 0, nullptr, {}, progress, name).cloth;
}

Cloth fit_homogeneous(const Motion& motion, const TrainOptions& options, const Progress& progress)
{
    const Heartbeat heartbeat(progress);
    return fit_homogeneous(TrainingSet(motion, options, heartbeat),
                           homogeneous_descent(motion.header, options.seed), heartbeat.progress());
}

}  // namespace springtime
