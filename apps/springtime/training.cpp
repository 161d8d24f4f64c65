#include "training.h"

#include <chrono>

#include "progress.h"

namespace springtime::app {

TrainingOutcome run_training(const std::string& motion, const TrainOptions& options,
                             const RunFolder& run_folder, const CommonOptions& common)
{
    constexpr int kCheckpointEvery = 4;  // iterations; writing one takes about a millisecond
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
        note(common, "fitting the best homogeneous network, to compare with");
        write_cloth(homogeneous, fit_homogeneous(source, options));
    }
    TrainOptions started = options;
    started.start = read_cloth(homogeneous);
    outcome.homogeneous_rmse = validation_error(source, options, *started.start);

    ProgressBar bar("train", "iterations", common.quiet);
    TrainHooks hooks;
    hooks.on_log = [&](const TrainLog& log) { folder.append_log(log); };
    hooks.on_state = [&](const TrainState& now) {
        if (now.iteration % kCheckpointEvery == 0) folder.write_checkpoint(now);
    };
    hooks.keep_going = [&](const TrainLog& log, int total) {
        return bar.show(log.iteration + 1, total, fmt::format("loss {:.3g}", log.loss.total));
    };
    outcome.result = train(source, started, state ? &*state : nullptr, hooks);
    folder.write_checkpoint(outcome.result.state);
    write_cloth(folder.path() / "cloth.json", outcome.result.cloth);
    outcome.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return outcome;
}

}  // namespace springtime::app
