#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "config.h"
#include "options.h"
#include "progress.h"
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

fs::path part_of(const fs::path& path)
{
    return fs::path(path) += ".part";
}

// A file that a killed run left under its temporary name is as good as its flushed rollouts.
void adopt_part_file(const fs::path& out)
{
    if (fs::exists(out) || !fs::exists(part_of(out))) return;
    try {
        MotionReader{part_of(out)};
    } catch (const Error&) {
        return;  // nothing usable in it: start anew
    }
    fs::rename(part_of(out), out);
}

std::string stored_config(const std::vector<std::string>& given)
{
    if (!has_argument(given, "resume")) return {};
    const std::string named = argument_value(given, "out");
    const fs::path out = named.empty() ? GenerateArguments{}.out : named;
    adopt_part_file(out);
    return fs::exists(out) ? MotionReader(out).header().config : std::string();
}

// The first line of one text that the other lacks; the number of rollouts may grow.
void check_same_config(const std::string& stored, const std::string& now, const fs::path& out)
{
    const auto lines = [](const std::string& text) { return CLI::detail::split(text, '\n'); };
    const auto old_lines = lines(stored);
    for (const std::string& line : lines(now)) {
        if (line.empty() || line.starts_with("rollouts = ")) continue;
        if (std::find(old_lines.begin(), old_lines.end(), line) == old_lines.end()) {
            const std::string key = line.substr(0, line.find(" = "));
            const auto old = std::find_if(old_lines.begin(), old_lines.end(), [&](const auto& l) {
                return l.starts_with(key + " = ");
            });
            throw Error(
                "{}: cannot resume with '{}', it was made with '{}'; leave that setting "
                "out, or write to another file",
                out.string(), line, old == old_lines.end() ? "(unset)" : *old);
        }
    }
}

struct Outcome {
    int rollouts = 0;
    bool finished = false;
};

// A resumed file is written anew with the old rollouts in front: the last good one stays until the
// new one is complete, and both ways make the same bytes.
Outcome write_rollouts(const GenerateArguments& arguments, const Cloth& cloth,
                       const GenerateOptions& run)
{
    const fs::path out = arguments.out;
    const MotionHeader header =
        header_for(cloth, {run.dt, run.environment, run.device}, run.stride, run.seed, run.rollouts,
                   merged_config(*arguments.app, kBesideTheMotion));
    std::optional<MotionReader> old;
    if (arguments.resume && fs::exists(out)) {
        old.emplace(out);
        check_same_config(old->header().config, header.config, out);
        if (int(old->rollout_count()) > run.rollouts) {
            throw Error("{}: holds {} rollouts already; ask for at least as many with --rollouts",
                        out.string(), old->rollout_count());
        }
    }
    check_generate(cloth, run);
    Outcome outcome;
    auto writer = std::make_unique<MotionWriter>(out, header);
    const auto close = [&] {
        old.reset();
        if (outcome.rollouts > 0) writer->finish();
        writer.reset();
        if (outcome.rollouts == 0) fs::remove(part_of(out));
    };
    try {
        for (; old && outcome.rollouts < int(old->rollout_count()); ++outcome.rollouts) {
            writer->append(old->read(outcome.rollouts));
        }
        if (outcome.rollouts > 0) {
            note(arguments.common, fmt::format("{} rollouts were there already", outcome.rollouts));
        }
        ProgressBar bar("generate", "rollouts", arguments.common.quiet);
        outcome.finished = generate(
            cloth, run, outcome.rollouts,
            [&](int, const Rollout& rollout) {
                writer->append(rollout);
                ++outcome.rollouts;
            },
            [&](double done, double total) { return bar.show(done, total); });
    } catch (const Failure&) {
        close();  // what was finished is kept
        throw;
    }
    close();
    return outcome;
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
    const Outcome outcome = write_rollouts(arguments, cloth, run);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (outcome.rollouts == 0) {
        fs::remove(part_of(out));
        fmt::print(stderr,
                   "springtime: interrupted before the first rollout was finished; nothing "
                   "was written\n");
        return kFailed;
    }
    const fs::path cloth_path = fs::path(out).replace_extension(".cloth.json");
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
