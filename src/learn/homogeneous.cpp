#include <algorithm>
#include <cmath>

#include "learn/adam.h"
#include "learn/training_set.h"
#include "springtime/error.h"
#include "springtime/learn.h"

namespace springtime {

namespace {

constexpr std::size_t kFamilies = kSpringFamilies.size();

// Stiffness [N/m] that carries the sheet's weight over its rows at a stretch of a tenth: the middle
// of the search.
double middle_stiffness(const Cloth& cloth, const Environment& environment)
{
    const double weight = cloth.sheet.mass * std::max(length(environment.gravity), 0.1);
    const double side = std::sqrt(cloth.sheet.length * cloth.sheet.width);
    return weight / (0.1 * side);
}

// Gives every range of strain the stiffness of its spring.
void set_everywhere(Cloth& cloth)
{
    for (const Parameter& parameter : learned_parameters(cloth)) {
        if (parameter.in_range()) values_of(cloth, parameter) = cloth.springs.stiffness;
    }
}

// The logarithms of one stiffness and one damping per family, and their descent.
struct FamilyLogs {
    std::vector<double> logs, mean, square;  // stiffness by family, then damping

    explicit FamilyLogs(const Cloth& start)
        : logs(2 * kFamilies, 0), mean(2 * kFamilies, 0), square(2 * kFamilies, 0)
    {
        for (std::size_t s = 0; s < start.springs.spring_count(); ++s) {
            const auto family = std::size_t(start.springs.family[s]);
            logs[family] = std::log(start.springs.stiffness[s]);
            logs[kFamilies + family] = std::log(start.springs.damping[s]);
        }
    }

    Cloth cloth(Cloth surrogate) const
    {
        for (std::size_t s = 0; s < surrogate.springs.spring_count(); ++s) {
            const auto family = std::size_t(surrogate.springs.family[s]);
            surrogate.springs.stiffness[s] = std::exp(logs[family]);
            surrogate.springs.damping[s] = std::exp(logs[kFamilies + family]);
        }
        set_everywhere(surrogate);
        return surrogate;
    }

    // All stiffnesses of a spring move together; isotropic damping and bends stay zero.
    void descend(const Cloth& at, const ParameterGradient& gradient, double rate, int step)
    {
        std::vector<double> by_family(2 * kFamilies, 0);
        const std::vector<Parameter> parameters = learned_parameters(at);
        for (std::size_t s = 0; s < at.springs.spring_count(); ++s) {
            const auto family = std::size_t(at.springs.family[s]);
            for (std::size_t k = 0; k < parameters.size(); ++k) {
                if (parameters[k].is_damping() || parameters[k].kind->element != Element::spring) {
                    continue;
                }
                by_family[family] += gradient.kinds[k][s] * at.springs.stiffness[s];
            }
            by_family[kFamilies + family] += gradient.kinds[1][s] * at.springs.damping[s];
        }
        adam_step(logs, by_family, mean, square, rate, step);
    }
};

// What the search for a start looks at.
std::vector<Rollout> start_targets(const TrainingSet& set)
{
    constexpr std::size_t kTargets = 16;
    if (set.judges_whole_rollouts()) return set.targets_of(set.split.training, kTargets);
    const auto clips = set.training_clips(0);
    ClipShuffle shuffle(clips.size(), set.options.seed);
    std::vector<Clip> chosen;
    for (std::size_t i = 0; i < std::min(kTargets, clips.size()); ++i) {
        chosen.push_back(clips[shuffle.next()]);
    }
    return set.reader.read(chosen);
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

// Motion RMSE [m] on targets, for a search. A cloth that needs twice the sub-steps must be 5 %
// better: noise makes overdamped cloths look a little better without end, and they cost time in
// every use.
double priced_error(const TrainingSet& set, BatchGradient& gradient,
                    const std::vector<Rollout>& targets, const Cloth& cloth)
{
    constexpr double kPrice = 0.07;  // 2^0.07 = 1.05
    const ParameterValues parameters = parameters_of(cloth);
    const double error = gradient.motion_rmse(targets, parameters);
    if (set.substeps.count) return error;
    return error * std::pow(gradient.substeps_for(parameters).value_or(0), kPrice);
}

// Where clips teach nothing but softness, a search on whole rollouts: each number in turn is made
// larger and smaller, by less from round to round, and what is better stays. Both diagonals go
// together, for a homogeneous sheet has no preferred one; so do all dampings.
Cloth searched_by_family(const TrainingSet& set, BatchGradient& gradient, const Cloth& start,
                         const Stage& stage)
{
    const std::vector<Rollout> targets = start_targets(set);
    const auto error_of = [&](const FamilyLogs& logs) {
        const Cloth cloth = logs.cloth(set.surrogate);
        if (!runs_at_the_step(cloth, set)) return HUGE_VAL;
        return priced_error(set, gradient, targets, cloth);
    };
    const auto at = [](SpringFamily family) { return std::size_t(family); };
    const std::vector<std::vector<std::size_t>> together{
        {at(SpringFamily::structural)},
        {at(SpringFamily::diagonal), at(SpringFamily::antidiagonal)},
        {at(SpringFamily::bending)},
        {kFamilies, kFamilies + 1, kFamilies + 2, kFamilies + 3}};
    FamilyLogs best(start);
    double best_error = error_of(best);
    double done = 0;
    for (const double factor : {4.0, 2.0, 1.4}) {
        for (const auto& members : together) {
            for (const double way : {1.0, -1.0}) {
                stage.report(done++ / 24);
                FamilyLogs moved = best;
                for (const std::size_t i : members) moved.logs[i] += way * std::log(factor);
                const double error = error_of(moved);
                if (!(error < best_error)) continue;
                best = moved;
                best_error = error;
                break;  // back again would be worse
            }
        }
    }
    return best.cloth(set.surrogate);
}

}  // namespace

// Least squares on the balance of forces would be quicker, but where stiffness varies the strains
// adapt to it, and a single stiffness then comes out ten times too low.
Cloth homogeneous_start(const TrainingSet& set, BatchGradient& gradient, const Stage& stage)
{
    const std::vector<Rollout> targets = start_targets(set);
    const double mass = set.surrogate.mass[0];
    const double middle = middle_stiffness(set.surrogate, set.step.environment);
    const auto uniform = [&](double value) {
        return std::vector<double>(set.surrogate.springs.spring_count(), value);
    };
    Cloth best = set.surrogate;
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
            Cloth cloth = set.surrogate;
            cloth.springs.stiffness = uniform(k);
            cloth.springs.damping = uniform(ratio * 2 * std::sqrt(k * mass));
            set_everywhere(cloth);
            if (set.judges_whole_rollouts() && !runs_at_the_step(cloth, set)) continue;
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

Cloth fit_homogeneous(const TrainingSet& set, const Stage& stage)
{
    constexpr int kIterations = 32, kValidateEvery = 4;
    constexpr double kRate = 0.15;  // of the logarithms: tenfold in all, more than a search step
    BatchGradient gradient = set.gradient_of(set.surrogate);
    const auto error_of = [&](const Cloth& cloth) {
        return gradient.motion_rmse(set.validation, parameters_of(cloth));
    };
    const Stage rest = stage.part(0.3, 1);
    Cloth best = homogeneous_start(set, gradient, stage.part(0, 0.3));
    if (set.judges_whole_rollouts()) return searched_by_family(set, gradient, best, rest);
    double best_error = error_of(best);

    FamilyLogs logs(best);
    BatchReader batches(set.reader, set.training_clips(0), std::size_t(set.options.batch),
                        set.options.seed, 0);
    const LossWeights position{.force = 0, .impulse = 0, .position = 1};
    for (int step = 0; step < kIterations; ++step) {
        rest.report(double(step) / kIterations);
        const Cloth cloth = logs.cloth(set.surrogate);
        const auto result =
            gradient.run(batches.next().targets, parameters_of(cloth), position, true);
        if (!std::isfinite(result.loss.total)) break;
        logs.descend(cloth, result.gradient, kRate * cosine_decay(step, kIterations), step + 1);
        if ((step + 1) % kValidateEvery != 0) continue;
        const Cloth moved = logs.cloth(set.surrogate);
        const double error = error_of(moved);
        if (error < best_error || !std::isfinite(best_error)) {
            best = moved;
            best_error = error;
        }
    }
    return best;
}

Cloth fit_homogeneous(const Motion& motion, const TrainOptions& options, const Progress& progress)
{
    return fit_homogeneous(TrainingSet(motion, options), Stage(progress, "homogeneous fit"));
}

}  // namespace springtime
