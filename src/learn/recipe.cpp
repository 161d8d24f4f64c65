#include "learn/recipe.h"

#include <algorithm>
#include <cmath>

#include "learn/descent.h"
#include "learn/meaning.h"
#include "learn/mesh_surrogate.h"
#include "springtime/error.h"

namespace springtime {

void Recipe::open_store()
{
    state_ = store_.open();
    for (const std::string& warning : state_.warnings) note("warning: " + warning);
    const int done = state_.descent ? state_.descent->iteration : 0;
    std::erase_if(state_.log, [&](const TrainLog& log) { return log.iteration >= done; });
}

const TrainingSet& Recipe::training_set()
{
    if (!set_) set_ = std::make_unique<TrainingSet>(motion_, train_, heartbeat_);
    return *set_;
}

void Recipe::solve()
{
    const bool by_region = options_.region_count.value_or(1) > 1;
    if (!state_.linear) {
        state_.linear = identify(motion_, identify_options(options_, train_), progress_);
        if (by_region && !state_.linear->regions) solve_by_region();
        store_.keep_linear(*state_.linear);
    }
    if (by_region) train_.regions = regions_of_values(state_.linear->cloth);
    learned_.linear_rmse = training_set().validation_error(state_.linear->cloth).mean;
    learned_.linear = state_.linear;
    learned_.training_seconds += state_.linear->seconds;
    learned_.summary += describe(*state_.linear);
    if (std::isfinite(*learned_.linear_rmse)) return;
    learned_.summary +=
        "warning: this cloth blows up at the time step of the motion, or needs too short ones; "
        "simulations have to cut the step into sub-steps\n";
}

// Clusters of what every element was found to have; each is then solved for as one.
void Recipe::solve_by_region()
{
    TrainOptions together = train_;
    together.regions = clustered_regions(state_.linear->cloth, *options_.region_count);
    state_.linear = identify(motion_, identify_options(options_, together), progress_);
}

bool Recipe::asks_for_solving() const
{
    return options_.window || options_.prior || options_.form != BalanceForm::automatic ||
           options_.instruments != Instruments::automatic;
}

// Solving takes long for many rollouts. Some of them tell whether springs explain the motion at
// all: the forces of a finite-element cloth are not those of springs, whatever these are.
bool Recipe::springs_may_explain()
{
    if (learns_on_mesh(options_)) return true;
    constexpr std::size_t kVeryFew = 4, kFew = 16;
    constexpr double kMuch = 0.3;
    constexpr double kFarBetter = 0.5;  // as in linear_answer_is_exact()
    const std::vector<std::size_t>& training = training_set().split.training;
    if (state_.linear || asks_for_solving() || training.size() <= 2 * kFew) return true;
    const auto first = [&](std::size_t count) {
        return select_rollouts(motion_,
                               {training.begin(), training.begin() + std::ptrdiff_t(count)});
    };
    const IdentifyOptions solving = identify_options(options_, train_);
    const std::optional<double> unexplained =
        least_unexplained(first(kVeryFew), solving, progress_);
    if (unexplained && *unexplained > kMuch) {
        learned_.summary += fmt::format(
            "not solved linearly: springs cannot explain the forces of this motion; whatever their "
            "stiffness and damping, {:.0f} % of the forces are left\n",
            100 * *unexplained);
        return false;
    }
    const Identification found = identify(first(kFew), solving, progress_);
    const double error = training_set().validation_error(found.cloth).mean;
    if (error <= kFarBetter * trivial().best()) return true;
    learned_.summary += fmt::format(
        "not solved linearly: springs that balance the forces of {} rollouts follow whole "
        "validation rollouts to {:.3g} m only, so forces of this motion are not those of springs\n",
        kFew, error);
    return false;
}

// Motion that cannot be solved for can still be learned from by gradient. What was asked for is not
// passed over.
void Recipe::solve_or_say_why()
{
    if (state_.descent && !state_.linear) return;  // a descent has begun without it
    const auto say = [&](const std::exception& why) {
        learned_.summary +=
            fmt::format("not solved linearly, so learned by gradient alone: {}\n", why.what());
    };
    try {
        if (springs_may_explain()) solve();
    } catch (const Error& error) {
        if (asks_for_solving()) throw;
        say(error);
    } catch (const Failure& failure) {
        if (asks_for_solving()) throw;
        say(failure);
    }
}

void Recipe::take_linear_answer()
{
    learned_.cloth = learned_.linear->cloth;
    learned_.validation_rmse = *learned_.linear_rmse;
}

const TrivialErrors& Recipe::trivial()
{
    if (!trivial_) {
        trivial_ = trivial_errors(training_set());
        learned_.nothing_moves_rmse = trivial_->nothing_moves;
        learned_.first_shape_follows_rmse = trivial_->with_handles;
    }
    return *trivial_;
}

// A source that is itself such a network is recovered, and nothing is left to learn. Where noise is
// large the floor means little, so the answer must also be far better than what needs no model.
// Real cloth is no such network.
bool Recipe::linear_answer_is_exact()
{
    constexpr double kFarBetter = 0.5;
    if (!learned_.linear || motion_.header.captured) return false;
    double seconds = 0;
    for (const Trajectory& whole : training_set().validation) {
        seconds = std::max(seconds, double(whole.frame_count) * motion_.header.frame_interval());
    }
    // What is left is rounding; of displacements, which noise hides, a model that does not fit
    // leaves half and more.
    constexpr double kExplained = 3e-3, kExplainedBelowNoise = 0.1;
    const bool below_noise = learned_.linear->displacements;
    const double floor = refinement_floor(*learned_.linear, seconds, motion_.header);
    const double error = *learned_.linear_rmse;
    if (!(error <= kFarBetter * trivial().best())) return false;
    if (error > floor &&
        learned_.linear->unexplained < (below_noise ? kExplainedBelowNoise : kExplained)) {
        learned_.summary += fmt::format(
            "not refined by gradient: the answer explains all but {:.1g} of the {}, and follows "
            "whole validation rollouts to {:.2g} m, which is what chaos makes of {}\n",
            learned_.linear->unexplained, below_noise ? "displacements beyond noise" : "forces",
            error, below_noise ? "the noise of their start" : "rounding");
        return true;
    }
    if (error > floor) return false;
    learned_.summary += fmt::format(
        "not refined by gradient: the answer follows whole validation rollouts to {:.2g} m, and "
        "below {:.2g} m there is only noise and rounding\n",
        error, floor);
    return true;
}

void Recipe::fit_homogeneous_network()
{
    if (!state_.homogeneous) {
        state_.homogeneous = fit_homogeneous(training_set(), homogeneous_plan(), progress_);
        store_.keep_homogeneous(*state_.homogeneous);
    }
    learned_.homogeneous = state_.homogeneous;
    homogeneous_error_ = training_set().validation_error(*state_.homogeneous);
    learned_.homogeneous_rmse = homogeneous_error_.mean;
}

// `like` has the law of the descent.
TrainHooks Recipe::storing_hooks(std::optional<TrainState>& last, const Cloth& like)
{
    constexpr int kKeepEvery = 4;  // iterations: at most that many are run again
    TrainHooks hooks;
    hooks.on_log = [&](const TrainLog& log) {
        state_.log.push_back(log);
        store_.keep_log(log);
    };
    hooks.on_state = [&](const TrainState& now) {
        last = now;
        if (now.iteration % kKeepEvery == 0) store_.keep_descent(now);
        if (now.best_iteration != now.iteration) return;
        Cloth best = like;  // whatever happens, the best so far is there
        set_values(best, now.best);
        store_.keep_best(best);
    };
    return hooks;
}

void Recipe::descend_as_published()
{
    fit_homogeneous_network();
    TrainOptions options = train_;
    options.start = learned_.homogeneous;
    std::optional<TrainState> last;
    const TrainHooks hooks = storing_hooks(last, training_set().surrogate);
    TrainResult result;
    try {
        result = train(training_set(), options, state_.descent ? &*state_.descent : nullptr, hooks,
                       progress_);
    } catch (const Cancelled&) {
        if (last) store_.keep_descent(*last);
        throw;
    }
    store_.keep_descent(result.state);
    learned_.cloth = std::move(result.cloth);
    learned_.validation_rmse = result.validation_rmse;
    learned_.iterations = result.state.iteration;
    learned_.best_iteration = result.state.best_iteration;
    learned_.too_stiff = result.too_stiff;
    learned_.log = state_.log;
    for (const TrainLog& log : learned_.log) learned_.training_seconds += log.seconds;
}

void Recipe::learn_automatically()
{
    solve_or_say_why();
    if (linear_answer_is_exact()) return take_linear_answer();
    learn_in_steps();
}

void Recipe::finish()
{
    const Environment& environment = motion_.header.environment;
    learned_.longest_step = safe_step(learned_.cloth, environment);
    learned_.substeps = stable_substeps(learned_.cloth, environment, motion_.header.dt);
}

Learned Recipe::run()
{
    const auto begin = Clock::now();
    for (const std::string& doubt : doubts_of(given_.header)) note("warning: " + doubt);
    if (options_.method == LearnMethod::gradient && !motion_.header.velocities &&
        !compares_positions_only(train_)) {
        note(
            "this motion holds positions only, and forces are their second differences, which "
            "noise drowns; the position loss does without: a position weight of 1, and weights of "
            "0 for force and impulse");
    }
    open_store();
    fit_globals_first();
    if (learns_on_mesh(options_)) {
        use_mesh();
    } else {
        choose_grid();
    }
    switch (options_.method) {
        case LearnMethod::automatic:
            learn_automatically();
            break;
        case LearnMethod::trajectory:
            learn_in_steps();
            break;
        case LearnMethod::gradient:
            descend_as_published();
            break;
        case LearnMethod::linear:
            solve();
            take_linear_answer();
            break;
    }
    finish();
    if (options_.method == LearnMethod::gradient && learned_.best_iteration == 0) {
        note(
            fmt::format("warning: no iteration followed the validation motion better than the "
                        "start, which is kept{}",
                        compares_positions_only(train_)
                            ? ""
                            : "; with a grid other than that of the landmarks, the position loss "
                              "may do better"));
    }
    learned_.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    store_.finish(learned_);
    return std::move(learned_);
}

LearnState MemoryStore::open()
{
    const int done = state.descent ? state.descent->iteration : 0;
    std::erase_if(state.log, [&](const TrainLog& log) { return log.iteration >= done; });
    return state;
}

std::optional<Cloth> MemoryStore::best_so_far() const
{
    if (best) return best;
    if (!state.steps.empty()) return state.steps.back();
    if (state.linear) return state.linear->cloth;
    return state.homogeneous;
}

Learned learn(const Motion& motion, const LearnOptions& options, const Progress& progress,
              LearnStore* store)
{
    LearnStore none;
    return Recipe(motion, options, progress, store ? *store : none).run();
}

// The velocity at the start of a run is estimated from five frames and off by s/(sqrt(10) T)
// (docs/learning.md), which carries positions away over the run, by half of that on average.
double refinement_floor(const Identification& linear, double seconds, const MotionHeader& header)
{
    double noise = std::sqrt(3.0) * linear.noise.level;
    if (!header.velocities) {
        noise *= 1 + seconds / (2 * std::sqrt(10.0) * header.frame_interval());
    }
    return noise + 1e-4 * std::max(header.sheet.length, header.sheet.width);
}

}  // namespace springtime
