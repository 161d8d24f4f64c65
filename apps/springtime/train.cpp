#include "train_options.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "config.h"
#include "identifying.h"
#include "progress.h"
#include "training.h"
#include "verbs.h"

namespace springtime::app {

namespace {

namespace fs = std::filesystem;

struct TrainArguments {
    CommonOptions common;
    TrainFlags flags;
    std::string motion, out = "run", resume;
    std::optional<Flags> settings;
};

// A resumed run takes the settings it began with.
std::string stored_config(const std::vector<std::string>& given)
{
    const std::string folder = argument_value(given, "resume");
    if (folder.empty()) return {};
    return RunFolder(folder).config();
}

nlohmann::json number_or_null(double value)
{
    return value < 0 || !std::isfinite(value) ? nlohmann::json() : nlohmann::json(value);
}

// How finely the learned cloth must be stepped.
struct StepNeeded {
    double longest;  // [s]
    int substeps;    // of the motion's step
};

StepNeeded step_needed(const Cloth& cloth, const MotionHeader& header)
{
    return {safe_step(cloth, header.environment),
            stable_substeps(cloth, header.environment, header.dt)};
}

nlohmann::json result_json(const TrainArguments& arguments, const TrainingOutcome& outcome,
                           const StepNeeded& step)
{
    const TrainResult& result = outcome.result;
    nlohmann::json json{{"out", outcome.folder.string()},
                        {"cloth", (outcome.folder / "cloth.json").string()},
                        {"method", arguments.flags.method},
                        {"story", outcome.story},
                        {"iterations", result.state.iteration},
                        {"best_iteration", result.state.best_iteration},
                        {"finished", result.finished},
                        {"seconds", outcome.seconds},
                        {"training_seconds", outcome.training_seconds},
                        {"final_loss", result.final_loss},
                        {"longest_step", number_or_null(step.longest)},
                        {"substeps", step.substeps},
                        {"validation_rmse", number_or_null(result.validation_rmse)},
                        {"linear_validation_rmse", number_or_null(outcome.linear_rmse)},
                        {"homogeneous_validation_rmse", number_or_null(outcome.homogeneous_rmse)}};
    if (outcome.linear) json["identification"] = json_of(*outcome.linear);
    return json;
}

void print_result(const TrainArguments& arguments, const TrainingOutcome& outcome,
                  const StepNeeded& step)
{
    const TrainResult& result = outcome.result;
    if (arguments.common.json) {
        fmt::print("{}\n", result_json(arguments, outcome, step).dump());
        return;
    }
    fmt::print("{}", outcome.story);
    if (result.state.iteration > 0) {
        fmt::print("{}: {} iterations in {:.1f} s, last loss {:.4g}\n", outcome.folder.string(),
                   result.state.iteration, outcome.seconds, result.final_loss);
    }
    if (arguments.flags.method == "gradient") {
        fmt::print(
            "motion RMSE on validation motion: {:.4g} m after iteration {}, which is kept; the "
            "best homogeneous network has {:.4g} m\n",
            result.validation_rmse, result.state.best_iteration, outcome.homogeneous_rmse);
    } else {
        fmt::print("motion RMSE on validation motion: {:.4g} m\n", result.validation_rmse);
    }
    if (step.substeps > 1) {
        fmt::print("this cloth needs steps of {:.2g} s at most: {} for each of the motion\n",
                   step.longest, step.substeps);
    }
    fmt::print("learned cloth in {0}/cloth.json; try: springtime evaluate {0}/cloth.json TEST.h5\n",
               outcome.folder.string());
}

bool only_positions(const TrainOptions& options)
{
    return std::all_of(options.passes.begin(), options.passes.end(), [](const TrainPass& pass) {
        return pass.weights.force == 0 && pass.weights.impulse == 0;
    });
}

void remark_on(const MotionHeader& header, const TrainOptions& options, const CommonOptions& common)
{
    if (header.velocities || only_positions(options)) return;
    note(common,
         "this motion holds positions only, and forces are their second differences, which noise "
         "drowns; the position loss does without: --position-weight 1 --force-weight 0 "
         "--impulse-weight 0");
}

// Clips of the default length become as short as the rollouts, but for stubs of less than half the
// longest: they only judge the answer.
void fit_clips(TrainOptions& options, const MotionSource& motion)
{
    const std::size_t longest =
        *std::max_element(motion.frame_counts.begin(), motion.frame_counts.end());
    for (const std::size_t frames : motion.frame_counts) {
        if (frames < 2 || 2 * frames < longest) continue;
        options.clip_steps = std::min(options.clip_steps, int(frames - 1) * motion.header.stride);
    }
}

// Twice as fine as a grid of landmarks, where that is not many.
std::optional<Grid> finer_grid(const MotionHeader& header)
{
    constexpr int kLeast = 3, kMost = 20;  // fewer are no grid for a surrogate
    const std::optional<Grid> own = regular_grid(header.rest);
    if (!header.captured || !own || own->rows < kLeast || own->cols < kLeast) return std::nullopt;
    const Grid finer{2 * own->rows - 1, 2 * own->cols - 1};
    if (finer.rows > kMost || finer.cols > kMost) return std::nullopt;
    return finer;
}

bool may_choose_grid(const TrainFlags& flags, const MotionHeader& header)
{
    return finer_grid(header) && flags.grid == "auto" && flags.method != "linear" &&
           flags.freeze == "none" && !(flags.run.stiffness_start > 0) &&
           !(flags.run.damping_start > 0);
}

// Folds between landmarks need particles there, but those cost time and may do harm: tried with
// homogeneous networks, the finer grid has to follow the validation motion clearly better.
Grid choose_grid(const MotionSource& lesson, const TrainOptions& options, const RunFolder& folder,
                 const CommonOptions& common)
{
    constexpr double kClearly = 0.8;
    const Grid finer = *finer_grid(lesson.header);
    TrainOptions fine = options;
    fine.grid.rows = finer.rows;
    fine.grid.cols = finer.cols;
    const GridTrial own = try_grid(lesson, options, folder, common);
    const GridTrial other = try_grid(lesson, fine, folder, common);
    const GridTrial& kept = other.rmse < kClearly * own.rmse ? other : own;
    note(common,
         fmt::format("homogeneous networks follow the validation motion to {:.3g} m with {} x {} "
                     "particles, as the landmarks are, and to {:.3g} m with {} x {}: so the "
                     "surrogate has {} x {}; --grid chooses others",
                     own.rmse, own.grid.rows, own.grid.cols, other.rmse, finer.rows, finer.cols,
                     kept.grid.rows, kept.grid.cols));
    keep_trial(kept, folder);
    return kept.grid;
}

// What is chosen for the user.
void tell_choices(const MotionReader& reader, const TrainFlags& given, const TrainOptions& options,
                  const CommonOptions& common)
{
    const MotionSource lesson = lesson_of(reader);
    const std::size_t pieces = lesson.frame_counts.size(), rollouts = reader.rollout_count();
    const auto left_out =
        std::clamp(std::size_t(std::lround(options.validation_share * double(pieces))),
                   std::size_t(1), std::max(pieces, std::size_t(2)) - 1);
    const std::string validate =
        left_out > 1 ? fmt::format("{} of which are not trained on but validate", left_out)
                     : "one of which is not trained on but validates";
    if (pieces != rollouts) {
        note(common,
             fmt::format("{}, cut into {} pieces of about {:.3g} s, {}",
                         rollouts == 1 ? "one rollout alone" : fmt::format("{} rollouts", rollouts),
                         pieces, double(lesson.frame_counts[0]) * lesson.header.frame_interval(),
                         validate));
    } else if (reader.header().captured) {
        note(common, fmt::format("{} rollouts, {}", rollouts, validate));
    }
    if (!reader.header().captured || given.grid != "auto") return;
    if (may_choose_grid(given, reader.header())) return;  // which says more
    const std::optional<Grid> own = regular_grid(reader.header().rest);
    const bool same = own && own->rows == options.grid.rows && own->cols == options.grid.cols;
    note(common, fmt::format("the surrogate has {} x {} particles, {}; --grid chooses others",
                             options.grid.rows, options.grid.cols,
                             same ? "as the landmarks are a grid of that kind"
                                  : fmt::format("about as many as the {} landmarks",
                                                reader.header().landmark_count())));
}

// What begins with given or frozen values does not solve for them.
void check_only_gradient_flags(const TrainFlags& flags)
{
    if (flags.freeze == "none" && !(flags.run.stiffness_start > 0) &&
        !(flags.run.damping_start > 0)) {
        return;
    }
    throw Error(
        "train: --freeze, --stiffness-start and --damping-start are for a descent, but the method "
        "is {}; add --method gradient",
        flags.method);
}

TrainingOutcome run_method(const TrainArguments& arguments, const TrainOptions& options,
                           const RunFolder& folder)
{
    const std::string& method = arguments.flags.method;
    const TrainFlags flags = fitted_to(arguments.flags, MotionReader(arguments.motion).header());
    const IdentifyOptions solve = identify_options_from(flags, arguments.common);
    if (method == "linear") {
        return run_linear(arguments.motion, solve, options, folder, arguments.common);
    }
    if (method == "auto") {
        return run_auto(arguments.motion, solve, options, folder, arguments.common);
    }
    return run_training(arguments.motion, options, folder, arguments.common);
}

int run_train(TrainArguments arguments)
{
    if (arguments.motion.empty()) {
        throw Error("train: no motion file; give one, or --resume FOLDER of an interrupted run");
    }
    const bool resume = !arguments.resume.empty();
    const RunFolder folder(resume ? arguments.resume : arguments.out);
    TrainOptions options;
    const bool by_gradient = arguments.flags.method == "gradient";
    if (!by_gradient) check_only_gradient_flags(arguments.flags);
    {
        const MotionReader reader(arguments.motion);
        const MotionSource source = lesson_of(reader);
        options = train_options_from(fitted_to(arguments.flags, reader.header()), arguments.common);
        const bool may_fit = !by_gradient || source.header.captured;
        if (may_fit && !arguments.flags.clip_steps) fit_clips(options, source);
        check_train(options, source);
        tell_choices(reader, arguments.flags, options, arguments.common);
        if (by_gradient) remark_on(reader.header(), options, arguments.common);
    }
    std::string config =
        merged_config(*arguments.settings, {"out", "resume", "motion", "threads", "quiet", "json"});
    config += fmt::format("motion = {}\n", toml_text(fs::absolute(arguments.motion).string()));
    if (resume) {
        check_same_config(folder.config(), config, "", folder.path().string());
    } else {
        RunFolder(folder).create(config);
    }
    const MotionReader reader(arguments.motion);
    if (may_choose_grid(arguments.flags, reader.header())) {
        const std::optional<Grid> kept = grid_kept(folder);
        const Grid grid =
            kept ? *kept : choose_grid(lesson_of(reader), options, folder, arguments.common);
        arguments.flags.grid = fmt::format("{}x{}", grid.rows, grid.cols);
        options.grid.rows = grid.rows;
        options.grid.cols = grid.cols;
    }
    const TrainingOutcome outcome = run_method(arguments, options, folder);
    const StepNeeded step = step_needed(outcome.result.cloth, reader.header());
    write_text((folder.path() / "result.json").string(),
               result_json(arguments, outcome, step).dump(1) + "\n");
    print_result(arguments, outcome, step);
    if (by_gradient && outcome.result.finished && outcome.result.state.best_iteration == 0) {
        note(arguments.common,
             fmt::format("warning: no iteration followed the validation motion better than the "
                         "start, which is kept{}",
                         only_positions(options)
                             ? ""
                             : "; with a grid other than that of the landmarks, the position loss "
                               "may do better: --position-weight 1 --force-weight 0 "
                               "--impulse-weight 0"));
    }
    if (outcome.result.finished) return kDone;
    fmt::print(stderr,
               "springtime: interrupted after {} of {} iterations; springtime train --resume {} "
               "goes on\n",
               outcome.result.state.iteration, total_iterations(options), folder.path().string());
    return kFailed;
}

}  // namespace

Verb add_train(CLI::App& root)
{
    auto arguments = std::make_shared<TrainArguments>();
    const Flags flags =
        add_verb(root, "train",
                 "Learn a cloth of springs from motion: stiffness and damping of every spring");
    arguments->settings = flags;
    flags.add("motion,--motion", arguments->motion, "Motion file to learn from").type("FILE");
    flags.add("--out", arguments->out, "Folder for the run").type("FOLDER");
    flags.add("--resume", arguments->resume, "Go on with an interrupted run").type("FOLDER");
    add_train_flags(flags, arguments->flags);
    add_common(flags, arguments->common);
    return {flags, [arguments] { return run_train(*arguments); }, stored_config};
}

}  // namespace springtime::app
