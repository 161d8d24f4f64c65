#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "config.h"
#include "generating.h"
#include "verbs.h"

namespace springtime::app {

namespace {

namespace fs = std::filesystem;

struct GenerateArguments {
    CommonOptions common;
    ClothOptions cloth;
    EnvironmentOptions environment;
    std::string source = "springs";
    std::string out = "motion.h5";
    std::string substeps = "1";
    GenerateOptions run;
    bool resume = false, overwrite = false;
    const CLI::App* app = nullptr;
};

// Settings that do not shape the motion.
const std::vector<std::string> kBesideTheMotion{"out",  "threads", "quiet",
                                                "json", "resume",  "overwrite"};

std::string stored_config(const std::vector<std::string>& given)
{
    if (!has_argument(given, "resume")) return {};
    const std::string named = argument_value(given, "out");
    const fs::path out = named.empty() ? GenerateArguments{}.out : named;
    adopt_part_file(out);
    return fs::exists(out) ? MotionReader(out).header().config : std::string();
}

int run_generate(const GenerateArguments& arguments)
{
    if (arguments.source != "springs") {
        throw Error("--source '{}': unknown; this version makes motion of 'springs'",
                    arguments.source);
    }
    const fs::path out = arguments.out;
    if (fs::exists(out) && !arguments.resume && !arguments.overwrite) {
        throw Error(
            "{}: exists already; finish it with --resume, replace it with --overwrite, or "
            "give another --out",
            out.string());
    }
    const fs::path cloth_path = fs::path(out).replace_extension(".cloth.json");
    if (fs::exists(cloth_path) && !fs::exists(out) && !arguments.overwrite) {
        throw Error(
            "{}: exists already and would be replaced; move it, or allow it with --overwrite",
            cloth_path.string());
    }
    const Cloth cloth = make_cloth(arguments.cloth);
    GenerateOptions run = arguments.run;
    run.environment = environment_from(arguments.environment, {});
    run.seed = arguments.common.seed;
    run.threads = arguments.common.threads;
    run.device = device_named(arguments.common.device);
    const int substeps =
        substeps_from(arguments.substeps, cloth, run.environment, run.dt, arguments.common.quiet);
    run.dt /= substeps;
    run.stride *= substeps;

    const auto start = std::chrono::steady_clock::now();
    const GeneratedFile outcome =
        generate_file(out, cloth, run, merged_config(*arguments.app, kBesideTheMotion),
                      arguments.resume, arguments.common);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (outcome.rollouts == 0) {
        fmt::print(stderr,
                   "springtime: interrupted before the first rollout was finished; nothing "
                   "was written\n");
        return kFailed;
    }
    write_cloth(cloth_path, cloth);
    if (arguments.common.json) {
        const nlohmann::json result{
            {"out", out.string()},          {"cloth", cloth_path.string()},
            {"rollouts", outcome.rollouts}, {"rollouts_planned", run.rollouts},
            {"finished", outcome.finished}, {"substeps", substeps},
            {"seconds", seconds},           {"bytes", fs::file_size(out)}};
        fmt::print("{}\n", result.dump());
    } else if (outcome.finished) {
        fmt::print("{}: {} rollouts, {:.1f} MB, in {:.1f} s; source cloth in {}\n", out.string(),
                   outcome.rollouts, double(fs::file_size(out)) / 1e6, seconds,
                   cloth_path.string());
    }
    if (outcome.finished) return kDone;
    fmt::print(stderr,
               "springtime: interrupted; {} of {} rollouts are in {}; run again with "
               "--resume to finish\n",
               outcome.rollouts, run.rollouts, out.string());
    return kFailed;
}

}  // namespace

Verb add_generate(CLI::App& root)
{
    auto arguments = std::make_shared<GenerateArguments>();
    CLI::App* verb = root.add_subcommand("generate",
                                         "Make motion of a source cloth: sheets in random "
                                         "orientation fall from random anchors");
    arguments->app = verb;
    verb->add_option("--source", arguments->source, "Kind of source cloth");
    verb->add_option("--out", arguments->out, "Motion file to write")->type_name("FILE");
    verb->add_option("--rollouts", arguments->run.rollouts, "How many");
    verb->add_option("--seconds", arguments->run.seconds, "Length of each [s]");
    verb->add_option("--dt", arguments->run.dt, "Time step [s]");
    verb->add_option("--substeps", arguments->substeps, "Steps per time step: a number, or auto");
    verb->add_option("--stride", arguments->run.stride, "Time steps between stored frames");
    verb->add_option("--anchors", arguments->run.anchors, "Pinned squares of particles");
    verb->add_option("--anchor-size", arguments->run.anchor_size, "Particles along such a square");
    add_cloth(*verb, arguments->cloth);
    add_environment(*verb, arguments->environment);
    verb->add_flag("--resume", arguments->resume, "Finish the file of an interrupted run");
    verb->add_flag("--overwrite", arguments->overwrite, "Replace an existing file");
    add_common(*verb, arguments->common);
    return {verb, [arguments] { return run_generate(*arguments); }, stored_config};
}

}  // namespace springtime::app
