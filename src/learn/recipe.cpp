#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "learn/descent.h"
#include "learn/plan.h"
#include "learn/steps.h"
#include "learn/summary.h"
#include "learn/training_set.h"
#include "springtime/error.h"
#include "springtime/learn.h"

namespace springtime {

namespace {

using Clock = std::chrono::steady_clock;

// One run of learn().
class Recipe {
  public:
    Recipe(const Motion& given, const LearnOptions& options, const Progress& progress,
           LearnStore& store)
        : options_(options),
          progress_(progress),
          store_(store),
          given_(given),
          motion_(learning_motion(given)),
          train_(train_options(options, motion_))
    {
        check_learn(options, motion_);
        if (options.method == LearnMethod::gradient) check_train(train_, motion_);
        note(describe_segments(given, motion_, train_));
    }

    Learned run();

  private:
    void note(const std::string& text) const
    {
        if (!text.empty()) store_.note(text);
    }
    void open_store();
    bool asks_for_globals() const;
    DescentOptions homogeneous_plan() const;
    void fit_globals_first();
    void use_globals();
    void choose_grid();
    void choose_grid(const Grid& finer);
    void solve();
    bool asks_for_solving() const;
    bool springs_may_explain();
    void solve_or_say_why();
    bool linear_answer_is_exact();
    void fit_homogeneous_network();
    void descend_as_published();
    void learn_in_steps();
    void run_step(const StepPlan& plan, int first_iteration);
    Cloth start_of(const StepPlan& plan) const;
    std::optional<double> outlier_width() const;
    void choose_step();
    void refuse_if_trivial();
    void learn_automatically();
    void take_linear_answer();
    void finish();
    void use_grid(const Grid& grid);
    const TrainingSet& training_set();
    const TrivialErrors& trivial();
    TrainHooks storing_hooks(std::optional<TrainState>& last, const Cloth& like);

    const LearnOptions& options_;
    const Progress& progress_;
    LearnStore& store_;
    const Motion& given_;
    Motion motion_;
    TrainOptions train_;
    LearnState state_;
    std::optional<Globals> globals_;
    ValidationError homogeneous_error_;
    std::optional<LearnStep> as_stated_;  // the answer before globals are fitted
    std::unique_ptr<TrainingSet> set_;
    std::optional<TrivialErrors> trivial_;
    Learned learned_;
};

void Recipe::open_store()
{
    state_ = store_.open();
    for (const std::string& warning : state_.warnings) note("warning: " + warning);
    const int done = state_.descent ? state_.descent->iteration : 0;
    std::erase_if(state_.log, [&](const TrainLog& log) { return log.iteration >= done; });
}

bool Recipe::asks_for_globals() const
{
    return options_.globals.value_or(motion_.header.captured) &&
           options_.method != LearnMethod::gradient;
}

DescentOptions Recipe::homogeneous_plan() const
{
    return planned_steps(options_, motion_.header).front().descent;
}

// Whole recordings that validation does not see; of recordings in segments all of them. A run that
// goes on fits again, with the same bits: it takes less time than the descents that follow.
void Recipe::fit_globals_first()
{
    if (!asks_for_globals()) return;
    const auto begin = Clock::now();
    as_stated_ = LearnStep{"homogeneous, published law, as stated",
                           fit_homogeneous(training_set(), homogeneous_plan(), progress_),
                           {},
                           0};
    as_stated_->error = training_set().validation_error(as_stated_->cloth);
    as_stated_->seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    const bool whole = motion_.rollout_count() == given_.rollout_count();
    const Motion seen = whole ? select_rollouts(motion_, training_set().split.training) : given_;
    globals_ =
        fit_globals(seen, {options_.fixed_globals, train_.grid, options_.threads, options_.device},
                    progress_)
            .globals;
    use_globals();
}

// Unless a homogeneous network follows the recordings that were left out better without them.
void Recipe::use_globals()
{
    trivial();  // of the motion as stated
    const Motion stated = motion_;
    set_.reset();
    motion_ = with_globals(stated, *globals_);
    const Cloth homogeneous = fit_homogeneous(training_set(), homogeneous_plan(), progress_);
    const double error = training_set().validation_error(homogeneous).mean;
    std::string text = describe(*globals_);
    if (!(error < as_stated_->error.mean)) {
        text = fmt::format(
            "everything stays as stated, because a homogeneous network follows the validation "
            "motion "
            "to {:.3g} m with and to {:.3g} m without this: {}",
            error, as_stated_->error.mean, text);
        set_.reset();
        motion_ = stated;
        set_ = std::make_unique<TrainingSet>(motion_, train_);
        as_stated_.reset();
    }
    note(text);
    learned_.summary += text + "\n";
}

const TrainingSet& Recipe::training_set()
{
    if (!set_) set_ = std::make_unique<TrainingSet>(motion_, train_);
    return *set_;
}

void Recipe::use_grid(const Grid& grid)
{
    train_.grid.rows = grid.rows;
    train_.grid.cols = grid.cols;
    set_.reset();  // it has another grid
}

void Recipe::choose_grid()
{
    const MotionHeader& header = motion_.header;
    const std::optional<Grid> finer = finer_grid(options_, header);
    if (!finer) {
        if (header.captured && !options_.grid) note(describe_grid(header, train_.grid));
    } else if (state_.homogeneous) {  // an earlier run has chosen
        set_.reset();
        if (const auto grid = regular_grid(state_.homogeneous->rest)) use_grid(*grid);
    } else {
        choose_grid(*finer);
    }
}

// Folds between landmarks need particles there, but those cost time and may do harm: tried with
// homogeneous networks, the finer grid has to follow the validation motion clearly better.
void Recipe::choose_grid(const Grid& finer)
{
    constexpr double kClearly = 0.8;
    struct Trial {
        Grid grid;
        std::unique_ptr<TrainingSet> set;
        Cloth homogeneous;
        double rmse;
    };
    const auto attempt = [&](const Grid& grid) {
        use_grid(grid);
        auto set = std::make_unique<TrainingSet>(motion_, train_);
        Cloth cloth = fit_homogeneous(*set, homogeneous_plan(), progress_);
        const double rmse = set->validation_error(cloth).mean;
        return Trial{grid, std::move(set), std::move(cloth), rmse};
    };
    Trial own = attempt({train_.grid.rows, train_.grid.cols}), other = attempt(finer);
    const std::string errors = fmt::format(
        "homogeneous networks follow the validation motion to {:.3g} m with {} x {} particles, as "
        "the landmarks are, and to {:.3g} m with {} x {}",
        own.rmse, own.grid.rows, own.grid.cols, other.rmse, finer.rows, finer.cols);
    Trial& kept = other.rmse < kClearly * own.rmse ? other : own;
    note(fmt::format("{}: so the surrogate has {} x {}", errors, kept.grid.rows, kept.grid.cols));
    use_grid(kept.grid);
    set_ = std::move(kept.set);
    state_.homogeneous = std::move(kept.homogeneous);
    store_.keep_homogeneous(*state_.homogeneous);
}

void Recipe::solve()
{
    if (!state_.linear) {
        state_.linear = identify(motion_, identify_options(options_, train_.grid), progress_);
        store_.keep_linear(*state_.linear);
    }
    learned_.linear_rmse = training_set().validation_error(state_.linear->cloth).mean;
    learned_.linear = state_.linear;
    learned_.training_seconds += state_.linear->seconds;
    learned_.summary += describe(*state_.linear);
    if (std::isfinite(*learned_.linear_rmse)) return;
    learned_.summary +=
        "warning: this cloth blows up at the time step of the motion, or needs too short ones; "
        "simulations have to cut the step into sub-steps\n";
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
    constexpr std::size_t kVeryFew = 4, kFew = 16;
    constexpr double kMuch = 0.3;
    constexpr double kFarBetter = 0.5;  // as in linear_answer_is_exact()
    const std::vector<std::size_t>& training = training_set().split.training;
    if (state_.linear || asks_for_solving() || training.size() <= 2 * kFew) return true;
    const auto first = [&](std::size_t count) {
        return select_rollouts(motion_,
                               {training.begin(), training.begin() + std::ptrdiff_t(count)});
    };
    const IdentifyOptions solving = identify_options(options_, train_.grid);
    const std::optional<double> unexplained = least_unexplained(first(kVeryFew), solving);
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
    const double floor = refinement_floor(*learned_.linear, seconds, motion_.header);
    const double error = *learned_.linear_rmse;
    if (!(error <= floor && error <= kFarBetter * trivial().best())) return false;
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

// ---- Trajectories, in steps

// The step before, or the linear answer where that follows the motion better.
Cloth Recipe::start_of(const StepPlan& plan) const
{
    const LearnStep& before = learned_.steps.back();
    if (plan.descent.deviate && learned_.linear_rmse && *learned_.linear_rmse < before.error.mean) {
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
    if (as_stated_) learned_.steps.push_back(*as_stated_);
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
    if (learned_.linear_rmse && *learned_.linear_rmse < learned_.validation_rmse) {
        take_linear_answer();
    }
    refuse_if_trivial();
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
    if (options_.method == LearnMethod::gradient && !motion_.header.velocities &&
        !compares_positions_only(train_)) {
        note(
            "this motion holds positions only, and forces are their second differences, which "
            "noise drowns; the position loss does without: a position weight of 1, and weights of "
            "0 for force and impulse");
    }
    open_store();
    fit_globals_first();
    choose_grid();
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

}  // namespace

LearnState MemoryStore::open()
{
    const int done = state.descent ? state.descent->iteration : 0;
    std::erase_if(state.log, [&](const TrainLog& log) { return log.iteration >= done; });
    return state;
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
