#include "training.h"

#include <chrono>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "config.h"
#include "identifying.h"
#include "progress.h"

namespace springtime::app {

namespace {

namespace fs = std::filesystem;

// The last loss, and the seconds of all iterations of all sittings.
std::pair<double, double> logged(const std::filesystem::path& log)
{
    std::pair<double, double> result{0, 0};
    std::ifstream file(log);
    for (std::string line; std::getline(file, line);) {
        const nlohmann::json entry = nlohmann::json::parse(line);
        const nlohmann::json& loss = entry["loss"]["total"];
        result.first = loss.is_number() ? loss.get<double>() : 0;
        result.second += entry["seconds"].get<double>();
    }
    return result;
}

fs::path homogeneous_file(const RunFolder& folder)
{
    return folder.path() / "homogeneous.json";
}

Cloth fit_with_bar(const MotionSource& source, const TrainOptions& options, const RunFolder& folder,
                   const CommonOptions& common)
{
    ProgressBar bar(fmt::format("homogeneous fit, {} x {}", options.grid.rows, options.grid.cols),
                    "percent", common.quiet);
    try {
        return fit_homogeneous(source, options,
                               [&](double share) { return bar.show(100 * share, 100); });
    } catch (const Failure& failure) {
        if (!interrupted()) throw;
        throw Failure("{}; springtime train --resume {} goes on", failure.what(),
                      folder.path().string());
    }
}

// The best homogeneous network, fitted once per run.
Cloth homogeneous_of(const MotionSource& source, const TrainOptions& options,
                     const RunFolder& folder, const CommonOptions& common)
{
    const fs::path file = homogeneous_file(folder);
    if (!fs::exists(file)) write_cloth(file, fit_with_bar(source, options, folder, common));
    return read_cloth(file);
}

// A descent that begins near its end takes small steps, and ends when nothing more is gained.
void begin_near(TrainOptions& options)
{
    constexpr double kSlower = 0.1;
    options.stiffness_rate *= kSlower;
    options.damping_rate *= kSlower;
    if (options.patience == 0) options.patience = 48;
}

// Without stored velocities forces are second differences that noise drowns.
void compare_positions(TrainOptions& options)
{
    for (TrainPass& pass : options.passes) {
        pass.weights.force = pass.weights.impulse = 0;
        pass.weights.position = 1;
    }
}

std::string refinement_story(const TrainingOutcome& outcome, bool solved)
{
    const bool from_linear = solved && outcome.linear_rmse < outcome.homogeneous_rmse;
    std::string text =
        solved
            ? fmt::format(
                  "on validation motion: linear {}, best homogeneous network {:.4g} m; so the "
                  "descent began with the {}\n",
                  std::isfinite(outcome.linear_rmse) ? fmt::format("{:.4g} m", outcome.linear_rmse)
                                                     : "without bounds",
                  outcome.homogeneous_rmse,
                  from_linear ? "linear answer"
                              : "homogeneous network; the linear answer, with its standard "
                                "errors, is in linear.json")
            : fmt::format(
                  "on validation motion: best homogeneous network {:.4g} m; the descent began with "
                  "it\n",
                  outcome.homogeneous_rmse);
    const double before = from_linear ? outcome.linear_rmse : outcome.homogeneous_rmse;
    if (outcome.result.state.best_iteration == 0) {
        return text + fmt::format(
                          "refined by gradient: {} iterations brought nothing better, the "
                          "start is kept\n",
                          outcome.result.state.iteration);
    }
    return text + fmt::format(
                      "refined by gradient: from {:.4g} m to {:.4g} m in {} of {} "
                      "iterations\n",
                      before, outcome.result.validation_rmse, outcome.result.state.best_iteration,
                      outcome.result.state.iteration);
}

}  // namespace

GridTrial try_grid(const MotionSource& source, const TrainOptions& options, const RunFolder& folder,
                   const CommonOptions& common)
{
    GridTrial trial{{options.grid.rows, options.grid.cols},
                    fit_with_bar(source, options, folder, common)};
    trial.rmse = validation_error(source, options, trial.homogeneous);
    return trial;
}

void keep_trial(const GridTrial& trial, const RunFolder& folder)
{
    write_cloth(homogeneous_file(folder), trial.homogeneous);
}

std::optional<Grid> grid_kept(const RunFolder& folder)
{
    const fs::path file = homogeneous_file(folder);
    if (!fs::exists(file)) return std::nullopt;
    return regular_grid(read_cloth(file).rest);
}

TrainingOutcome run_training(const std::string& motion, const TrainOptions& options,
                             const RunFolder& run_folder, const CommonOptions& common,
                             const std::optional<Cloth>& linear)
{
    constexpr int kCheckpointEvery = 4;  // iterations: at most that many are run again
    RunFolder folder = run_folder;
    const MotionReader reader(motion);
    const MotionSource source = lesson_of(reader);
    const auto begin = std::chrono::steady_clock::now();

    std::vector<std::string> remarks;
    const std::optional<TrainState> state = folder.read_checkpoint(remarks);
    for (const std::string& remark : remarks) note(common, "warning: " + remark);
    folder.cut_log(state ? state->iteration : 0);

    TrainingOutcome outcome;
    outcome.folder = folder.path();
    TrainOptions started = options;
    started.start = homogeneous_of(source, options, folder, common);
    outcome.homogeneous_rmse = validation_error(source, options, *started.start);
    if (linear) {
        outcome.linear_rmse = validation_error(source, options, *linear);
        if (outcome.linear_rmse < outcome.homogeneous_rmse) {
            started.start = linear;
            begin_near(started);
        }
    }

    // The standard errors of the linear answer hold for what grew out of it.
    const auto errors = started.start->errors;
    const auto write = [&](Cloth cloth) {
        cloth.errors = errors;
        write_cloth(folder.path() / "cloth.json", cloth);
    };
    ProgressBar bar("train", "iterations", common.quiet);
    TrainHooks hooks;
    hooks.on_log = [&](const TrainLog& log) { folder.append_log(log); };
    hooks.on_state = [&](const TrainState& now) {
        if (now.iteration % kCheckpointEvery == 0) folder.write_checkpoint(now);
        if (now.best_iteration == now.iteration) {  // whatever happens, the best so far is there
            write(best_cloth(source.header, options, now));
        }
    };
    hooks.keep_going = [&](const TrainLog& log, int total) {
        return bar.show(log.iteration + 1, total, fmt::format("loss {:.3g}", log.loss.total));
    };
    outcome.result = train(source, started, state ? &*state : nullptr, hooks);
    folder.write_checkpoint(outcome.result.state);
    write(outcome.result.cloth);
    const auto [loss, seconds] = logged(folder.path() / "log.jsonl");
    outcome.result.final_loss = loss;
    outcome.training_seconds = seconds;
    outcome.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return outcome;
}

TrainingOutcome run_linear(const std::string& motion, const IdentifyOptions& solve,
                           const TrainOptions& options, const RunFolder& folder,
                           const CommonOptions& common)
{
    const auto begin = std::chrono::steady_clock::now();
    TrainingOutcome outcome;
    outcome.folder = folder.path();
    outcome.homogeneous_rmse = -1;
    outcome.linear = run_identification(motion, solve, folder, common);
    outcome.result.cloth = outcome.linear->cloth;
    outcome.result.finished = true;
    write_cloth(folder.path() / "cloth.json", outcome.linear->cloth);
    write_text(folder.path() / "identification.json", json_of(*outcome.linear).dump(1) + "\n");
    const MotionReader reader(motion);
    outcome.linear_rmse = validation_error(lesson_of(reader), options, outcome.linear->cloth);
    outcome.result.validation_rmse = outcome.linear_rmse;
    outcome.story = describe(*outcome.linear);
    if (!std::isfinite(outcome.linear_rmse)) {
        outcome.story +=
            "warning: this cloth blows up at the time step of the motion, or needs too short ones; "
            "springtime simulate cuts it into sub-steps\n";
    }
    outcome.training_seconds = outcome.linear->seconds;
    outcome.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return outcome;
}

namespace {

// Motion that cannot be solved for can still be learned from by gradient. What was asked for by
// flags is not passed over.
TrainingOutcome run_linear_or_say_why(const std::string& motion, const IdentifyOptions& solve,
                                      const TrainOptions& options, const RunFolder& folder,
                                      const CommonOptions& common)
{
    const auto learn_otherwise = [](const std::exception& why) {
        TrainingOutcome nothing;
        nothing.story =
            fmt::format("not solved linearly, so learned by gradient alone: {}\n", why.what());
        return nothing;
    };
    const bool asked = solve.window > 0 || solve.prior >= 0 ||
                       solve.form != BalanceForm::automatic ||
                       solve.instruments != Instruments::automatic;
    try {
        return run_linear(motion, solve, options, folder, common);
    } catch (const Error& error) {
        if (asked) throw;
        return learn_otherwise(error);
    } catch (const Failure& failure) {
        if (asked || interrupted()) throw;
        return learn_otherwise(failure);
    }
}

}  // namespace

TrainingOutcome run_auto(const std::string& motion, const IdentifyOptions& solve,
                         TrainOptions options, const RunFolder& folder, const CommonOptions& common)
{
    const fs::path linear_file = folder.path() / "linear.json";
    TrainingOutcome solved;
    std::optional<Cloth> linear;
    if (fs::exists(linear_file)) {
        linear = read_cloth(linear_file);
    } else if (!folder.has_checkpoint()) {  // a descent has not begun
        solved = run_linear_or_say_why(motion, solve, options, folder, common);
    }
    if (solved.linear) {
        const double floor =
            refinement_floor(*solved.linear, options, MotionReader(motion).header());
        if (solved.linear_rmse <= floor) {
            solved.story += fmt::format(
                "not refined by gradient: the answer follows the validation motion to {:.2g} m, "
                "and below {:.2g} m there is only noise and rounding\n",
                solved.linear_rmse, floor);
            return solved;
        }
        linear = solved.linear->cloth;
        write_cloth(linear_file, *linear);
    }
    if (!MotionReader(motion).header().velocities) compare_positions(options);
    TrainingOutcome outcome = run_training(motion, options, folder, common, linear);
    outcome.story = solved.story + refinement_story(outcome, linear.has_value());
    if (outcome.result.too_stiff) {
        outcome.story +=
            "warning: the descent ended early: its springs came to need too short steps, and the "
            "best "
            "before that is kept. Are all points named that were held? Is the sheet's size "
            "right?\n";
    }
    outcome.linear = solved.linear;
    outcome.seconds += solved.seconds;
    outcome.training_seconds += solved.training_seconds;
    return outcome;
}

}  // namespace springtime::app
