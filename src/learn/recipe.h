#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "learn/heartbeat.h"
#include "learn/plan.h"
#include "learn/rod_fit.h"
#include "learn/steps.h"
#include "learn/summary.h"
#include "learn/training_set.h"
#include "springtime/learn.h"

namespace springtime {

// One run of learn(). recipe.cpp has its course, recipe_capture.cpp what captures need before
// springs are learned, and recipe_steps.cpp the descents on trajectories.
class Recipe {
  public:
    Recipe(const Motion& given, const LearnOptions& options, const Progress& progress,
           LearnStore& store)
        : options_(options),
          heartbeat_(progress),
          progress_(heartbeat_.progress()),
          store_(store),
          given_(given),
          motion_(learning_motion(given)),
          stated_(motion_),
          train_(train_options(options, motion_))
    {
        check_learn(options, motion_);
        if (options.method == LearnMethod::gradient) check_train(train_, motion_);
        note(describe_segments(given, motion_, train_));
    }

    Learned run();

  private:
    using Clock = std::chrono::steady_clock;

    void note(const std::string& text) const
    {
        if (!text.empty()) store_.note(text);
    }
    void open_store();
    bool asks_for_globals() const;
    DescentOptions homogeneous_plan() const;
    void fit_globals_first();
    GlobalsFit fitted_globals(const Motion& motion) const;
    void use_globals(const GlobalsFit& fit);
    void add_fitted_step();
    void fit_to_all();
    void choose_grid();
    void choose_grid(const Grid& finer);
    void use_mesh();
    void solve_by_region();
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
    bool learns_rod() const { return !options_.law && has_clamped_end(stated_); }
    void learn_rod();
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
    Heartbeat heartbeat_;
    Progress progress_;
    LearnStore& store_;
    const Motion& given_;
    Motion motion_;
    Motion stated_;  // the same without globals
    TrainOptions train_;
    LearnState state_;
    ValidationError homogeneous_error_;
    std::optional<LearnStep> as_stated_;  // the answer before globals are fitted
    std::optional<LearnStep> as_fitted_;  // the network that they were fitted with
    std::unique_ptr<TrainingSet> set_;
    std::optional<TrivialErrors> trivial_;
    Learned learned_;
};

}  // namespace springtime
