#include "training.h"

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include "progress.h"

namespace springtime::app {

namespace {

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

}  // namespace

TrainingOutcome run_training(const std::string& motion, const TrainOptions& options,
                             const RunFolder& run_folder, const CommonOptions& common)
{
    constexpr int kCheckpointEvery = 4;  // iterations: at most that many are run again
    RunFolder folder = run_folder;
    const MotionReader reader(motion);
    const MotionSource source = source_of(reader);
    const auto begin = std::chrono::steady_clock::now();

    std::vector<std::string> remarks;
    const std::optional<TrainState> state = folder.read_checkpoint(remarks);
    for (const std::string& remark : remarks) note(common, "warning: " + remark);
    folder.cut_log(state ? state->iteration : 0);

    TrainingOutcome outcome;
    outcome.folder = folder.path();
    const std::filesystem::path homogeneous = folder.path() / "homogeneous.json";
    if (!std::filesystem::exists(homogeneous)) {
        ProgressBar bar("homogeneous fit", "percent", common.quiet);
        write_cloth(homogeneous, fit_homogeneous(source, options, [&](double share) {
                        return bar.show(100 * share, 100);
                    }));
    }
    TrainOptions started = options;
    started.start = read_cloth(homogeneous);
    outcome.homogeneous_rmse = validation_error(source, options, *started.start);

    ProgressBar bar("train", "iterations", common.quiet);
    TrainHooks hooks;
    hooks.on_log = [&](const TrainLog& log) { folder.append_log(log); };
    hooks.on_state = [&](const TrainState& now) {
        if (now.iteration % kCheckpointEvery == 0) folder.write_checkpoint(now);
        if (now.best_iteration == now.iteration) {  // whatever happens, the best so far is there
            write_cloth(folder.path() / "cloth.json", best_cloth(source.header, options, now));
        }
    };
    hooks.keep_going = [&](const TrainLog& log, int total) {
        return bar.show(log.iteration + 1, total, fmt::format("loss {:.3g}", log.loss.total));
    };
    outcome.result = train(source, started, state ? &*state : nullptr, hooks);
    folder.write_checkpoint(outcome.result.state);
    write_cloth(folder.path() / "cloth.json", outcome.result.cloth);
    const auto [loss, seconds] = logged(folder.path() / "log.jsonl");
    outcome.result.final_loss = loss;
    outcome.training_seconds = seconds;
    outcome.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return outcome;
}

}  // namespace springtime::app
