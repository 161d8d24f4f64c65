#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "learn/plan.h"
#include "learn/summary.h"
#include "learn/training_set.h"
#include "springtime/error.h"
#include "springtime/learn.h"

namespace springtime {

namespace {

using Clock = std::chrono::steady_clock;

Stage fit_stage(const Progress& progress, const GridOptions& grid)
{
    return Stage(progress, fmt::format("homogeneous fit, {} x {}", grid.rows, grid.cols));
}

// One run of learn().
class Recipe {
  public:
    Recipe(const Motion& given, const LearnOptions& options, const Progress& progress,
           LearnStore& store)
        : options_(options),
          progress_(progress),
          store_(store),
          motion_(learning_motion(given)),
          train_(train_options(options, motion_))
    {
        check_learn(options);
        check_train(train_, motion_);
        note(describe_segments(given, motion_, train_));
    }

    Learned run();

  private:
    void note(const std::string& text) const
    {
        if (!text.empty()) store_.note(text);
    }
    void open_store();
    void choose_grid();
    void choose_grid(const Grid& finer);
    void solve();
    bool asks_for_solving() const;
    void solve_or_say_why();
    bool nothing_left_to_refine();
    void fit_homogeneous_network();
    TrainOptions descent_options() const;
    void descend();
    void learn_automatically();
    void take_linear_answer();
    void finish();
    void use_grid(const Grid& grid);
    const TrainingSet& training_set();

    const LearnOptions& options_;
    const Progress& progress_;
    LearnStore& store_;
    Motion motion_;
    TrainOptions train_;
    LearnState state_;
    std::unique_ptr<TrainingSet> set_;
    Learned learned_;
};

void Recipe::open_store()
{
    state_ = store_.open();
    for (const std::string& warning : state_.warnings) note("warning: " + warning);
    const int done = state_.descent ? state_.descent->iteration : 0;
    std::erase_if(state_.log, [&](const TrainLog& log) { return log.iteration >= done; });
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
}

void Recipe::choose_grid()
{
    const MotionHeader& header = motion_.header;
    const std::optional<Grid> finer = finer_grid(options_, header);
    if (!finer) {
        if (header.captured && !options_.grid) note(describe_grid(header, train_.grid));
    } else if (state_.homogeneous) {  // an earlier run has chosen
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
        Cloth cloth = fit_homogeneous(*set, fit_stage(progress_, train_.grid));
        const double rmse = set->validation_rmse(cloth);
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
    learned_.linear_rmse = training_set().validation_rmse(state_.linear->cloth);
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
        solve();
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

bool Recipe::nothing_left_to_refine()
{
    if (!learned_.linear) return false;
    const double floor = refinement_floor(*learned_.linear, train_.clip_steps, motion_.header);
    if (!(*learned_.linear_rmse <= floor)) return false;
    learned_.summary += fmt::format(
        "not refined by gradient: the answer follows the validation motion to {:.2g} m, and below "
        "{:.2g} m there is only noise and rounding\n",
        *learned_.linear_rmse, floor);
    return true;
}

void Recipe::fit_homogeneous_network()
{
    if (!state_.homogeneous) {
        state_.homogeneous = fit_homogeneous(training_set(), fit_stage(progress_, train_.grid));
        store_.keep_homogeneous(*state_.homogeneous);
    }
    learned_.homogeneous = state_.homogeneous;
    learned_.homogeneous_rmse = training_set().validation_rmse(*state_.homogeneous);
}

// Begins with the linear answer instead of the homogeneous network where that follows the
// validation motion better.
TrainOptions Recipe::descent_options() const
{
    TrainOptions options = train_;
    options.start = learned_.homogeneous;
    if (learned_.linear_rmse && *learned_.linear_rmse < *learned_.homogeneous_rmse) {
        options.start = learned_.linear->cloth;
        begin_near(options);
    }
    return options;
}

void Recipe::descend()
{
    constexpr int kKeepEvery = 4;  // iterations: at most that many are run again
    fit_homogeneous_network();
    const TrainOptions options = descent_options();
    // The standard errors of the linear answer hold for what grew out of it.
    const auto with_errors = [&](Cloth cloth) {
        cloth.errors = options.start->errors;
        return cloth;
    };
    std::optional<TrainState> last;
    TrainHooks hooks;
    hooks.on_log = [&](const TrainLog& log) {
        state_.log.push_back(log);
        store_.keep_log(log);
    };
    hooks.on_state = [&](const TrainState& now) {
        last = now;
        if (now.iteration % kKeepEvery == 0) store_.keep_descent(now);
        if (now.best_iteration == now.iteration) {  // whatever happens, the best so far is there
            store_.keep_best(with_errors(best_cloth(motion_.header, options, now)));
        }
    };
    TrainResult result;
    try {
        result = train(training_set(), options, state_.descent ? &*state_.descent : nullptr, hooks,
                       progress_);
    } catch (const Cancelled&) {
        if (last) store_.keep_descent(*last);
        throw;
    }
    store_.keep_descent(result.state);
    learned_.cloth = with_errors(std::move(result.cloth));
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
    if (nothing_left_to_refine()) return take_linear_answer();
    if (!motion_.header.velocities) compare_positions(train_);
    descend();
    learned_.summary += describe_descent(learned_);
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
    choose_grid();
    switch (options_.method) {
        case LearnMethod::automatic:
            learn_automatically();
            break;
        case LearnMethod::gradient:
            descend();
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

// The velocity at the start of a clip is estimated from five frames and off by s/(sqrt(10) T)
// (docs/learning.md), which carries positions away over the clip, by half of that on average.
double refinement_floor(const Identification& linear, int clip_steps, const MotionHeader& header)
{
    double noise = std::sqrt(3.0) * linear.noise.level;
    if (!header.velocities) {
        const double clip = clip_steps * header.dt;
        noise *= 1 + clip / (2 * std::sqrt(10.0) * header.frame_interval());
    }
    return noise + 1e-4 * std::max(header.sheet.length, header.sheet.width);
}

}  // namespace springtime
