#include "learn/recipe.h"

#include <cmath>

#include "learn/mesh_surrogate.h"
#include "springtime/error.h"

namespace springtime {

bool Recipe::asks_for_globals() const
{
    return options_.globals.value_or(motion_.header.captured && !learns_rod()) &&
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
    const auto fit_begin = Clock::now();
    use_globals(fitted_globals(seen));
    if (!as_fitted_) return;
    as_fitted_->seconds = std::chrono::duration<double>(Clock::now() - fit_begin).count();
}

GlobalsFit Recipe::fitted_globals(const Motion& motion) const
{
    return fit_globals(motion,
                       {options_.fixed_globals, train_.grid, options_.threads, options_.device},
                       progress_);
}

// Unless a homogeneous network follows the recordings that were left out better without them.
void Recipe::use_globals(const GlobalsFit& fit)
{
    trivial();  // of the motion as stated
    set_.reset();
    motion_ = with_globals(stated_, fit.globals);
    as_fitted_ = LearnStep{"homogeneous, as fitted with what recordings share", fit.cloth, {}, 0};
    as_fitted_->error = training_set().validation_error(fit.cloth);
    const double error = as_fitted_->error.mean;
    std::string text = describe(fit.globals);
    if (!(error < as_stated_->error.mean)) {
        text = fmt::format(
            "everything stays as stated, because a homogeneous network follows the validation "
            "motion "
            "to {:.3g} m with and to {:.3g} m without this: {}",
            error, as_stated_->error.mean, text);
        set_.reset();
        motion_ = stated_;
        set_ = std::make_unique<TrainingSet>(motion_, train_, heartbeat_);
        as_stated_.reset();
        as_fitted_.reset();
    }
    note(text);
    learned_.summary += text + "\n";
}

void Recipe::use_grid(const Grid& grid)
{
    train_.grid.rows = grid.rows;
    train_.grid.cols = grid.cols;
    set_.reset();  // it has another grid
}

// A run that goes on chooses the same.
void Recipe::use_mesh()
{
    const ChosenMesh chosen = choose_mesh(options_, motion_, progress_);
    note(chosen.reason);
    if (!chosen.reason.empty()) learned_.summary += chosen.reason + "\n";
    train_.cloth = mesh_surrogate(options_, motion_.header, chosen.mesh);
    if (options_.region_map) train_.regions = regions_of_map(*train_.cloth, *options_.region_map);
    if (options_.region_count == 1) train_.regions = one_region(*train_.cloth);
    set_.reset();  // it has other particles
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
        auto set = std::make_unique<TrainingSet>(motion_, train_, heartbeat_);
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

// A rope that was coiled keeps a shape of its own, which no network of springs has.
void Recipe::learn_rod()
{
    const auto begin = Clock::now();
    const std::size_t number = planned_steps(options_, motion_.header).size() - 1;
    LearnStep step{"elastic rod, its own shape", {}, {}, 0};
    if (number < state_.steps.size()) {
        step.cloth = state_.steps[number];
    } else {
        step.cloth = fit_rod(select_rollouts(stated_, training_set().split.training),
                             options_.threads, progress_);
        store_.keep_step(number, step.cloth);
    }
    const auto first = training_set().split.validation.begin();
    const auto count = std::ptrdiff_t(training_set().validation.size());
    const auto error_on = [&](const Motion& motion) {
        return rod_error(step.cloth, motion, options_.threads, progress_);
    };
    step.error = error_on(select_rollouts(stated_, {first, first + count}));
    step.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    learned_.summary += describe_rod(step.cloth, error_on(stated_));
    learned_.steps.push_back(std::move(step));
}

// Unless the grid is another by now.
void Recipe::add_fitted_step()
{
    if (!as_fitted_) return;
    const std::size_t particles = training_set().surrogate.particle_count();
    if (as_fitted_->cloth.particle_count() == particles) learned_.steps.push_back(*as_fitted_);
}

// Validation has had its say: what was left out for it is data, too.
void Recipe::fit_to_all()
{
    if (motion_.rollout_count() != given_.rollout_count()) return;  // all of them in segments
    const GlobalsFit fit = fitted_globals(given_);
    learned_.cloth = fit.cloth;
    const std::string text = "fitted once more, to all recordings: " + describe(fit.globals);
    note(text);
    learned_.summary += text + "\n";
}

}  // namespace springtime
