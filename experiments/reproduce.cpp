#include "reproduce.h"

#include "config.h"
#include "generating.h"
#include "progress.h"

namespace springtime::app {

namespace fs = std::filesystem;

namespace {

// A folder holds the result of one experiment at one scale.
void check_folder(const ReproduceArguments& arguments)
{
    const fs::path path = fs::path(arguments.out) / "result.json";
    if (!fs::exists(path)) return;
    const nlohmann::json found = nlohmann::json::parse(read_text(path.string()), nullptr, false);
    if (found.is_object() && found.value("experiment", "") == arguments.experiment &&
        found.value("scale", "") == arguments.scale) {
        return;
    }
    throw Error(
        "{}: is the result of another experiment or scale, not of {} at scale {}; give another "
        "--out",
        path.string(), arguments.experiment, arguments.scale);
}

}  // namespace

int run_reproduce(const ReproduceArguments& arguments)
{
    check_folder(arguments);
    if (!arguments.obstacles.empty() && arguments.experiment != "drape") {
        throw Error("--obstacle: is for reproduce drape, not {}", arguments.experiment);
    }
    if (arguments.experiment == "reconstruction") return reproduce_reconstruction(arguments);
    if (arguments.experiment == "locking") return reproduce_locking(arguments);
    if (arguments.experiment == "drape") return reproduce_drape(arguments);
    if (arguments.experiment == "generalisation") return reproduce_generalisation(arguments);
    if (arguments.experiment == "identification") return reproduce_identification(arguments);
    throw Error(
        "reproduce '{}': no such experiment; there are reconstruction, generalisation, "
        "locking, drape and identification",
        arguments.experiment);
}

void write_result(const ReproduceArguments& arguments, const std::string& title,
                  nlohmann::json result, const std::string& text)
{
    const fs::path out = arguments.out;
    result["experiment"] = arguments.experiment;
    result["scale"] = arguments.scale;
    write_text((out / "result.json").string(), result.dump(1) + "\n");
    write_text((out / "result.md").string(),
               fmt::format("# {}\n\nMade by `springtime reproduce {} --scale {}`.\n\n{}", title,
                           arguments.experiment, arguments.scale, text));
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
    if (!generate_file(path, cloth, run, config, true, common, camera).finished) {
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
    options.device = device_named(common.device);
    run.on_note = [&common](const std::string& text) { note(common, text); };
    return learn(open_motion(motion), options, show_progress(common.quiet), &run);
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
             "reconstruction, generalisation, locking, drape or identification")
        .required();
    flags.add("--out", arguments->out, "Folder to write to").type("FOLDER");
    flags
        .add("--scale", arguments->scale,
             "full; quick for a first look; smoke to see that all parts work")
        .one_of({"full", "quick", "smoke"});
    flags
        .add("--obstacle", arguments->obstacles,
             "drape: what to fall on beside table, sphere and animal; can be repeated: OBJ or TOML "
             "file")
        .repeated()
        .type("FILE");
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
