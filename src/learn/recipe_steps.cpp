#include "learn/recipe.h"

#include <cmath>

#include "learn/descent.h"
#include "springtime/error.h"

namespace springtime {

// The step before, or the linear answer where that follows the motion better.
Cloth Recipe::start_of(const StepPlan& plan) const
{
    const LearnStep& before = learned_.steps.back();
    const bool last = plan.descent.deviate || learns_on_mesh(options_);
    if (last && learned_.linear_rmse && *learned_.linear_rmse < before.error.mean) {
        return with_law(learned_.linear->cloth, plan.law, plan.descent.lean,
                        options_.families.has_value());
    }
    return with_law(before.cloth, plan.law, plan.descent.lean, options_.families.has_value());
}

void Recipe::run_step(const StepPlan& plan, int first_iteration)
{
    const Cloth start = start_of(plan);
    const LearnStep& before = learned_.steps.back();
    const bool same = parameters_of(start) == parameters_of(before.cloth);
    const std::optional<double> start_error =
        same ? std::optional(before.error.mean) : std::nullopt;
    const int end = first_iteration + total_iterations(plan.descent);
    const bool begun = state_.descent && state_.descent->iteration > first_iteration &&
                       state_.descent->iteration <= end;
    std::optional<TrainState> last;
    const TrainHooks hooks = storing_hooks(last, start);
    TrainResult result;
    try {
        result =
            descend(training_set(), start, plan.descent, first_iteration,
                    begun ? &*state_.descent : nullptr, hooks, progress_, plan.name, start_error);
    } catch (const Cancelled&) {
        if (last) store_.keep_descent(*last);
        throw;
    }
    store_.keep_descent(result.state);
    learned_.iterations = result.state.iteration;
    learned_.best_iteration = result.state.best_iteration;
    learned_.steps.push_back({plan.name, std::move(result.cloth), {}, 0});
}

// Trackers jump now and then. What is several times the noise off is no longer noise of that kind.
std::optional<double> Recipe::outlier_width() const
{
    constexpr double kTimesNoise = 3;
    if (options_.width || !motion_.header.captured || !learned_.linear) return options_.width;
    const double noise = std::sqrt(3.0) * learned_.linear->noise.level;
    return noise > 0 ? std::optional(kTimesNoise * noise) : std::nullopt;
}

void Recipe::learn_in_steps()
{
    std::vector<StepPlan> plans = planned_steps(options_, motion_.header);
    for (StepPlan& plan : plans) plan.descent.width = outlier_width();
    if (!learns_on_mesh(options_)) {
        if (as_stated_) learned_.steps.push_back(*as_stated_);
        add_fitted_step();
    }
    int first_iteration = 0;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        const auto begin = Clock::now();
        if (i == 0) {
            fit_homogeneous_network();
            learned_.steps.push_back({plans[i].name, *state_.homogeneous, {}, 0});
        } else if (i <= state_.steps.size()) {
            learned_.steps.push_back({plans[i].name, state_.steps[i - 1], {}, 0});
        } else {
            run_step(plans[i], first_iteration);
            store_.keep_step(i - 1, learned_.steps.back().cloth);
        }
        if (i > 0) first_iteration += total_iterations(plans[i].descent);
        LearnStep& step = learned_.steps.back();
        step.error = i == 0 ? homogeneous_error_ : training_set().validation_error(step.cloth);
        step.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    }
    learned_.iterations = first_iteration;
    learned_.log = state_.log;
    for (const TrainLog& log : learned_.log) learned_.training_seconds += log.seconds;
    if (learns_rod()) learn_rod();
    choose_step();
}

void Recipe::choose_step()
{
    std::vector<ValidationError> errors;
    for (const LearnStep& step : learned_.steps) errors.push_back(step.error);
    const std::optional<std::size_t> kept = simplest_good(errors);
    trivial();
    learned_.summary += describe_steps(learned_, kept);
    if (kept) {
        learned_.cloth = learned_.steps[*kept].cloth;
        learned_.validation_rmse = learned_.steps[*kept].error.mean;
    }
    const bool linear = learned_.linear_rmse && *learned_.linear_rmse < learned_.validation_rmse;
    if (linear) take_linear_answer();
    refuse_if_trivial();
    const bool fitted = kept && as_fitted_ && learned_.steps[*kept].name == as_fitted_->name;
    if (fitted && !linear) fit_to_all();
}

void Recipe::refuse_if_trivial()
{
    const auto loses = loses_to_trivial(learned_.validation_rmse, trivial());
    if (!loses) return;
    throw Failure(
        "train: {}. Is the size of the sheet right, and are all held points named? More or longer "
        "recordings may help",
        *loses);
}

}  // namespace springtime
