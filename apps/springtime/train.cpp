#include "train_options.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <limits>
#include <numeric>

#include "config.h"
#include "outputs.h"
#include "progress.h"
#include "report_file.h"
#include "verbs.h"

namespace springtime::app {

namespace {

namespace fs = std::filesystem;

struct TrainArguments {
    CommonOptions common;
    TrainFlags flags;
    std::string motion, out = "run", resume;
    bool overwrite = false, no_report = false;
    std::optional<int> rollouts;
    std::optional<Flags> settings;
};

// A resumed run takes the settings it began with.
std::string stored_config(const std::vector<std::string>& given)
{
    const std::string folder = argument_value(given, "resume");
    if (folder.empty()) return {};
    return RunFolder(folder).config();
}

Result result_of(const TrainArguments& arguments, const fs::path& folder, const Learned& learned)
{
    Result result = Result::tree();
    result.label(folder.string());
    result.add("out", folder.string()).data_only();
    result.add("cloth", (folder / "cloth.json").string()).label("learned cloth");
    result.add("picture", (folder / "stiffness.png").string()).label("picture of its stiffness");
    result.add("method", arguments.flags.method);
    const Result report = report_of(learned);
    for (const auto& [name, value] : report.entries()) result.add(name, value);
    return result;
}

// Where the work is, for who interrupts it.
struct LastUpdate {
    std::string stage;
    double done = 0, total = 0;
    bool iterations = false;

    Progress watching(const Progress& shown)
    {
        return Progress([this, shown](const ProgressUpdate& update) {
            stage = update.stage;
            done = update.done;
            total = update.total;
            iterations = update.unit == "iterations";
            shown.report(update);
            return true;
        });
    }
    std::string text() const
    {
        return iterations ? fmt::format("after {} of {} iterations of: {}", done, total, stage)
                          : fmt::format("in the midst of: {}", stage);
    }
};

// The settings of a run that learns `elements`, without those of the other ones.
std::string config_of(const TrainArguments& arguments, const std::string& elements)
{
    std::vector<std::string> without{"out",   "resume", "motion",    "elements", "threads",
                                     "quiet", "json",   "overwrite", "no-report"};
    const std::vector<std::string> of_triangles{"cut", "damping-kind", "orthotropic", "regions",
                                                "homogeneous"};
    const std::vector<std::string> of_springs{"law",   "families",          "grid",
                                              "knots", "isotropic-damping", "bends"};
    const auto leave_out = [&](const std::vector<std::string>& flags) {
        without.insert(without.end(), flags.begin(), flags.end());
    };
    if (elements == "springs") leave_out(of_triangles);
    if (elements == "triangles") leave_out(of_springs);
    std::string config = merged_config(*arguments.settings, without);
    config += fmt::format("motion = {}\n", toml_text(fs::absolute(arguments.motion).string()));
    // Runs of springs that were begun before there was a choice do not name it.
    if (elements != "springs") config += fmt::format("elements = {}\n", toml_text(elements));
    return config;
}

fs::path folder_of(const TrainArguments& arguments)
{
    return arguments.resume.empty() ? arguments.out : arguments.resume;
}

// A run folder, new or as an earlier run left it; a new one is made when its input has been
// checked.
RunFolder open_folder(const TrainArguments& arguments, const fs::path& path, bool resume)
{
    const std::string config = config_of(arguments, arguments.flags.elements);
    RunFolder folder(path);
    folder.learns_from(arguments.motion);
    if (resume) {
        // The motion may have another name by now; what counts is its content.
        check_same_config(folder.config(), config, "motion", folder.path().string());
    } else {
        folder.create_when_opened(config, arguments.overwrite);
    }
    folder.on_note = [&common = arguments.common](const std::string& text) { note(common, text); };
    return folder;
}

// What is learned from.
Motion motion_of(const TrainArguments& arguments)
{
    const Motion motion = open_input(arguments.motion);
    if (!arguments.rollouts) return motion;
    if (*arguments.rollouts < 1 || std::size_t(*arguments.rollouts) > motion.rollout_count()) {
        throw Error("--rollouts {}: {} holds {}; give 1 to that many", *arguments.rollouts,
                    arguments.motion, counted(motion.rollout_count(), "rollout"));
    }
    std::vector<std::size_t> first(std::size_t(*arguments.rollouts));
    std::iota(first.begin(), first.end(), std::size_t(0));
    return select_rollouts(motion, first);
}

// Learns one kind of element into a folder and says what it did, but for the result.
Learned learn_into(const TrainArguments& arguments, RunFolder& folder, LastUpdate& last)
{
    const Learned learned =
        learn(motion_of(arguments), learn_options_from(arguments.flags, arguments.common),
              last.watching(show_progress(arguments.common.quiet)), &folder);
    write_png(folder.path() / "stiffness.png", draw_stiffness(learned.cloth));
    if (learned.cloth.bends.bend_count() + learned.cloth.hinges.hinge_count() > 0) {
        write_png(folder.path() / "bending.png", draw_bending(learned.cloth));
    }
    const Result result = result_of(arguments, folder.path(), learned);
    write_text((folder.path() / "result.json").string(), to_json(result, 1) + "\n");
    if (!arguments.common.json) fmt::print("{}", learned.summary);
    return learned;
}

void add_report_of(const TrainArguments& arguments, std::vector<fs::path> runs,
                   const fs::path& folder, Result& result)
{
    if (arguments.no_report) return;
    const ReportOptions options{.runs = std::move(runs), .motion = arguments.motion, .seen = true};
    result.add("report", leave_report(arguments.common, options, folder / "report.html"))
        .label("report for a browser");
}

// ---- Springs and triangles side by side

// Both at once, so that a busy machine slows both: seconds of a step, the least of several rounds.
std::vector<double> step_seconds(const std::vector<const Cloth*>& cloths)
{
    constexpr int kRounds = 5, kSteps = 200;
    using Clock = std::chrono::steady_clock;
    std::vector<double> least(cloths.size(), std::numeric_limits<double>::infinity());
    std::vector<Simulation> runs;
    for (const Cloth* cloth : cloths) {
        SimulationOptions options;
        options.dt = safe_step(*cloth, {});
        runs.emplace_back(*cloth, options);
    }
    for (int round = 0; round < kRounds; ++round) {
        for (std::size_t i = 0; i < runs.size(); ++i) {
            const auto begin = Clock::now();
            const auto blow_up = runs[i].advance(kSteps);
            const std::chrono::duration<double> taken = Clock::now() - begin;
            if (!blow_up) least[i] = std::min(least[i], taken.count() / kSteps);
        }
    }
    return least;
}

std::size_t all_elements(const Cloth& cloth)
{
    std::size_t count = 0;
    for (const Element element : kElements) count += element_count(cloth, element);
    return count;
}

constexpr std::array kBoth{"springs", "triangles"};

// What each of both needs of the flags.
TrainArguments arguments_of(TrainArguments arguments, const std::string& elements)
{
    TrainFlags& flags = arguments.flags;
    flags.elements = elements;
    if (elements == "springs") {
        flags.cut = "auto";
        flags.regions.clear();
        flags.damping_kind = "deformation";
        flags.orthotropic = flags.homogeneous = false;
    } else {
        flags.law = "auto";
        flags.terms = {};
        flags.families.clear();
        flags.grid = "auto";
    }
    return arguments;
}

Result compare(const fs::path& folder, const std::vector<Learned>& learned)
{
    Result rows = Result::tree(), result = Result::tree();
    const std::vector<double> seconds = step_seconds({&learned[0].cloth, &learned[1].cloth});
    for (std::size_t i = 0; i < kBoth.size(); ++i) {
        Result row = Result::tree();
        row.add("validation_rmse", learned[i].validation_rmse, "m").label("validation RMSE");
        row.add("particles", learned[i].cloth.particle_count());
        row.add("elements", all_elements(learned[i].cloth));
        row.add("step_seconds", seconds[i], "s").label("time of a step");
        row.add("longest_step", learned[i].longest_step, "s").label("longest step");
        row.add("training_seconds", learned[i].training_seconds, "s").label("learned in");
        rows.add(kBoth[i], row);
    }
    result.label(folder.string());
    result.add("out", folder.string()).data_only();
    // Whichever of them was validated on trajectories knows it.
    const auto known = [&](std::optional<double> Learned::*error) {
        return learned[0].*error ? learned[0].*error : learned[1].*error;
    };
    result.add("nothing_moves_rmse", known(&Learned::nothing_moves_rmse), "m")
        .label("RMSE if nothing moves");
    result.add("first_shape_follows_rmse", known(&Learned::first_shape_follows_rmse), "m")
        .label("RMSE if the first shape follows");
    result.add("elements", rows).label("learned cloths");
    result.add("step_ratio", seconds[1] / seconds[0]).label("a step of triangles takes, times");
    return result;
}

int learn_both(const TrainArguments& arguments, LastUpdate& last)
{
    const fs::path path = folder_of(arguments);
    const bool resume = !arguments.resume.empty();
    // Bad input leaves no folder behind.
    open_motion(arguments.motion);
    for (const char* elements : kBoth) {
        learn_options_from(arguments_of(arguments, elements).flags, arguments.common);
    }
    RunFolder whole = open_folder(arguments, path, resume);
    whole.open();
    std::vector<Learned> learned;
    for (const char* elements : kBoth) {
        const TrainArguments own = arguments_of(arguments, elements);
        RunFolder part =
            open_folder(own, path / elements, resume && RunFolder(path / elements).exists());
        note(arguments.common, fmt::format("learning {}", elements));
        learned.push_back(learn_into(own, part, last));
    }
    Result result = compare(path, learned);
    write_text(path / "result.json", to_json(result, 1) + "\n");
    add_report_of(arguments, {path / kBoth[0], path / kBoth[1]}, path, result);
    print(arguments.common, result);
    return kDone;
}

int learn_one(const TrainArguments& arguments, LastUpdate& last)
{
    RunFolder folder = open_folder(arguments, folder_of(arguments), !arguments.resume.empty());
    const Learned learned = learn_into(arguments, folder, last);
    Result result = result_of(arguments, folder.path(), learned);
    add_report_of(arguments, {folder.path()}, folder.path(), result);
    print(arguments.common, result);
    if (!arguments.common.json) {
        fmt::print("try: springtime evaluate {}/cloth.json TEST.h5\n", folder.path().string());
    }
    return kDone;
}

void check_arguments(const TrainArguments& arguments)
{
    if (arguments.motion.empty()) {
        throw Error("train: no motion file; give one, or --resume FOLDER of an interrupted run");
    }
    check_no_stream("--out", arguments.out);
    if (arguments.resume.empty()) return;
    if (arguments.overwrite) {
        throw Error("--resume and --overwrite: a run goes on or is replaced; give one of them");
    }
    if (!fs::exists(arguments.motion)) {
        throw Error(
            "{}: the motion of {} is not there any more; say where it is: springtime train "
            "--resume {} MOTION.h5",
            arguments.motion, arguments.resume, arguments.resume);
    }
}

int run_train(const TrainArguments& arguments)
{
    check_arguments(arguments);
    LastUpdate last;
    try {
        return arguments.flags.elements == "both" ? learn_both(arguments, last)
                                                  : learn_one(arguments, last);
    } catch (const Cancelled&) {
        fmt::print(stderr, "springtime: interrupted {}; springtime train --resume {} goes on\n",
                   last.text(), folder_of(arguments).string());
        return kFailed;
    }
}

}  // namespace

Verb add_train(CLI::App& root)
{
    auto arguments = std::make_shared<TrainArguments>();
    const Flags flags = add_verb(
        root, "train", "Learn a cloth from motion: of springs, or of triangles and hinges");
    arguments->settings = flags;
    flags.add("motion,--motion", arguments->motion, "Motion file to learn from").type("FILE");
    flags.add("--out", arguments->out, "Folder for the run").type("FOLDER");
    flags.add("--resume", arguments->resume, "Go on with an interrupted run").type("FOLDER");
    flags.in(kRunGroup).add("--rollouts", arguments->rollouts,
                            "Learn from the first so many rollouts alone");
    add_train_flags(flags, arguments->flags);
    add_report_switch(flags.in(kRunGroup), arguments->no_report);
    add_overwrite(flags.in(kRunGroup), arguments->overwrite);
    add_common(flags, arguments->common);
    return {flags, [arguments] { return run_train(*arguments); }, stored_config};
}

}  // namespace springtime::app
