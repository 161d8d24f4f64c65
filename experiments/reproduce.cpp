#include "reproduce.h"

#include <algorithm>
#include <array>

#include "config.h"
#include "generating.h"
#include "outputs.h"
#include "progress.h"
#include "rank_session.h"
#include "report_file.h"

namespace springtime::app {

namespace fs = std::filesystem;

namespace {

// What an experiment makes and would take up again; notes with other endings stay.
void remove_results(const fs::path& folder)
{
    constexpr std::array kEndings{".h5", ".json", ".jsonl", ".csv", ".png", ".bin", ".part"};
    std::vector<fs::path> made;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
        const bool is_ours = std::find(kEndings.begin(), kEndings.end(),
                                       entry.path().extension().string()) != kEndings.end() ||
                             entry.path().filename() == "config.toml" ||
                             entry.path().filename() == "report.html" ||
                             entry.path() == folder / "result.md";
        if (is_ours && entry.is_regular_file()) made.push_back(entry.path());
    }
    for (const fs::path& file : made) fs::remove(file);
}

// A folder holds one experiment at one scale, and says which, with what else changes its motion.
std::shared_ptr<void> claim_out(const ReproduceArguments& arguments)
{
    std::string marker = fmt::format("experiment = {}\nscale = {}\n",
                                     toml_text(arguments.experiment), toml_text(arguments.scale));
    if (arguments.common.seed != CommonOptions{}.seed) {
        marker += fmt::format("seed = {}\n", arguments.common.seed);
    }
    if (arguments.training_rollouts) {
        marker += fmt::format("training-rollouts = {}\n", *arguments.training_rollouts);
    }
    const OutputFolder folder{
        arguments.out, "reproduction.toml", marker, {"result.json", "result.md"}, true};
    std::shared_ptr<void> claim = claim_folder(folder, arguments.overwrite);
    if (arguments.overwrite) remove_results(arguments.out);
    return claim;
}

const Experiment& experiment_named(const std::string& name)
{
    std::string names;
    for (const Experiment& experiment : experiments()) {
        if (experiment.name == name) return experiment;
        names += experiment.name + ", ";
    }
    throw Error("reproduce '{}': no such experiment; there are {}and all", name, names);
}

void check_arguments(const ReproduceArguments& arguments)
{
    const std::string& name = arguments.experiment;
    if (!arguments.obstacles.empty() && name != "drape") {
        throw Error("--obstacle: is for reproduce drape, not {}", name);
    }
    if (arguments.baselines && name != "generalisation" && name != "all") {
        throw Error("--baselines: is for reproduce generalisation and all, not {}", name);
    }
    if (arguments.training_rollouts && name != "generalisation" && name != "baselines") {
        throw Error("--training-rollouts: is for reproduce generalisation and baselines, not {}",
                    name);
    }
}

nlohmann::json plan_of(const ReproduceArguments& arguments)
{
    nlohmann::json plan;
    for (const Experiment& experiment : experiments()) {
        const bool wanted = arguments.experiment == "all" ? experiment.of_publication
                                                          : experiment.name == arguments.experiment;
        if (wanted) plan[experiment.name] = experiment.rows(arguments);
    }
    return plan;
}

}  // namespace

const std::vector<Experiment>& experiments()
{
    static const std::vector<Experiment> all{
        {"reconstruction", reproduce_reconstruction, reconstruction_rows},
        {"generalisation", reproduce_generalisation, generalisation_rows},
        {"locking", reproduce_locking, locking_rows},
        {"drape", reproduce_drape, drape_rows},
        {"identification", reproduce_identification, identification_rows},
        {"maps", reproduce_maps, maps_rows},
        {"baselines", reproduce_baselines, baseline_row_keys, false}};
    return all;
}

int run_experiment(const Experiment& experiment, const ReproduceArguments& arguments)
{
    const std::shared_ptr<void> claim = claim_out(arguments);
    return experiment.run(arguments);
}

int run_reproduce(const ReproduceArguments& arguments)
{
    const Experiment chosen = arguments.experiment == "all"
                                  ? Experiment{"all", reproduce_all, nullptr}
                                  : experiment_named(arguments.experiment);
    check_arguments(arguments);
    if (arguments.plan) {
        fmt::print("{}\n", plan_of(arguments).dump());
        return kDone;
    }
    return run_experiment(chosen, arguments);
}

void write_result(const ReproduceArguments& arguments, const std::string& title,
                  nlohmann::json result, const std::string& text)
{
    const fs::path out = arguments.out;
    result["experiment"] = arguments.experiment;
    result["scale"] = arguments.scale;
    result["title"] = title;
    result["baselines"] = arguments.baselines;
    write_text((out / "result.json").string(), result.dump(1) + "\n");
    write_text((out / "result.md").string(),
               fmt::format("# {}\n\nMade by `springtime reproduce {} --scale {}`.\n\n{}", title,
                           arguments.experiment, arguments.scale, text));
    leave_report_of(arguments, result);
    if (arguments.inside) return;
    if (arguments.common.json) {
        fmt::print("{}\n", result.dump());
    } else {
        fmt::print("\n{}\nresult.json, result.md and all else are in {}\n", text, out.string());
    }
}

void make_motion(const fs::path& path, const Cloth& cloth, GenerateOptions run,
                 const CommonOptions& common, const ObserveOptions& camera)
{
    run.threads = common.threads;
    run.crew = crew();
    run.device = device_named(common.device);
    adopt_part_file(path);
    const std::string config =
        fmt::format("rollouts = {}\nseed = {}\nstride = {}\n", run.rollouts, run.seed, run.stride) +
        (camera.positions_only ? fmt::format("noise = {}\n", camera.noise) : std::string());
    if (fs::exists(path)) {
        const MotionReader there(path);
        check_same_config(there.header().config, config, "rollouts", path.string());
        if (int(there.rollout_count()) >= run.rollouts) return;
    }
    note(common, fmt::format("making {}", path.string()));
    if (!generate_file(path, cloth, run, config, {.resume = true}, common, camera).finished) {
        throw Failure(kInterrupted);
    }
}

RunFolder open_run(const fs::path& path, const std::string& method, const CommonOptions& common)
{
    RunFolder run(path);
    const std::string config = fmt::format("method = '{}'\nseed = {}\ndevice = '{}'\n", method,
                                           common.seed, common.device);
    if (run.exists()) {
        check_same_config(run.config(), config, "", run.path().string());
    } else {
        run.create(config);
    }
    return run;
}

Learned learn_in(RunFolder run, const fs::path& motion, LearnOptions options,
                 const CommonOptions& common)
{
    options.seed = common.seed;
    options.threads = common.threads;
    options.crew = crew();
    options.device = device_named(common.device);
    run.on_note = [&common](const std::string& text) { note(common, text); };
    run.learns_from(motion);
    return learn(until_interrupted(open_motion(motion)), options, show_progress(common.quiet),
                 &run);
}

}  // namespace springtime::app

namespace {

using namespace springtime::app;

Verb add_reproduce(CLI::App& root)
{
    auto arguments = std::make_shared<ReproduceArguments>();
    const Flags flags = add_verb(root, "reproduce",
                                 "Run a published experiment from end to end, with the published "
                                 "numbers beside ours; run again to go on after an interruption");
    flags
        .add("experiment", arguments->experiment,
             "all, or one of reconstruction, generalisation, locking, drape, identification, maps "
             "and baselines")
        .required();
    flags.add("--out", arguments->out, "Folder to write to").type("FOLDER");
    flags
        .add("--scale", arguments->scale,
             "full, as published; quick, in ten minutes of two cores; smoke to see that all parts "
             "work")
        .one_of({"full", "quick", "smoke"});
    flags
        .add("--obstacle", arguments->obstacles,
             "drape: what to fall on beside table, sphere and animal; can be repeated: OBJ or TOML "
             "file")
        .repeated()
        .type("FILE");
    flags.add_switch("--baselines", arguments->baselines,
                     "generalisation, all: also trains a neural ODE and MeshGraphNets");
    const Flags more = flags.in(kRunGroup);
    more.add("--baseline-device", arguments->baseline_device, "Where baselines run")
        .one_of({"auto", "cpu", "cuda"});
    more.add("--baseline-minutes", arguments->baseline_minutes,
             "Limit for training MeshGraphNets and the neural ODE; run again to go on")
        .one_or_two()
        .type("MINUTES");
    more.add("--training-rollouts", arguments->training_rollouts,
             "generalisation, baselines: rollouts to learn from instead of those of the scale");
    more.add_switch("--plan", arguments->plan, "Show the rows of each experiment, and make none");
    add_overwrite(flags, arguments->overwrite);
    add_report_switch(flags.in(kRunGroup), arguments->no_report);
    add_common(flags, arguments->common);
    const auto run = [arguments] {
        try {
            return run_reproduce(*arguments);
        } catch (const springtime::Cancelled&) {
            throw springtime::Failure(kInterrupted);
        }
    };
    return {flags, run};
}

}  // namespace

int main(int argc, char** argv)
{
    std::vector<std::string> arguments(argv + 1, argv + argc);
    arguments.insert(arguments.begin(), "reproduce");
    return run_program({add_reproduce}, arguments);
}
