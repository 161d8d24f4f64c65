#include "springtime/export.h"

#include <filesystem>

#include "config.h"
#include "options.h"
#include "outputs.h"
#include "progress.h"
#include "verbs.h"

namespace springtime::app {

namespace {

namespace fs = std::filesystem;

struct ReportArguments {
    CommonOptions common;
    std::vector<std::string> runs;
    std::string motion, truth, out = "report.html";
    int rollouts = ReportOptions{}.rollouts;
    bool overwrite = false;
    std::optional<Flags> flags;
};

// The motion that the first of the runs has learned from, unless it has gone since.
std::optional<fs::path> motion_of_runs(const ReportArguments& arguments)
{
    for (const std::string& run : arguments.runs) {
        const RunFolder folder(fs::is_directory(run) ? fs::path(run) : fs::path(run).parent_path());
        if (!folder.exists()) continue;
        const std::string motion = text_setting(folder.config(), "motion");
        if (motion.empty()) continue;
        if (fs::exists(motion)) return motion;
        note(arguments.common,
             fmt::format("{}: the motion that {} learned from is not there any more, so the report "
                         "has no motion; name one with --motion",
                         motion, run));
        return {};
    }
    note(arguments.common, "no motion to compare with; name one with --motion");
    return {};
}

ReportOptions options_from(const ReportArguments& arguments)
{
    ReportOptions options;
    options.runs.assign(arguments.runs.begin(), arguments.runs.end());
    options.seen = arguments.motion.empty();
    options.motion =
        options.seen ? motion_of_runs(arguments) : std::optional<fs::path>(arguments.motion);
    if (!arguments.truth.empty()) options.truth = arguments.truth;
    options.rollouts = arguments.rollouts;
    options.threads = arguments.common.threads;
    options.device = device_named(arguments.common.device);
    return options;
}

int run_report(const ReportArguments& arguments)
{
    check_outputs(*arguments.flags, {{"--out", arguments.out}}, arguments.overwrite);
    const std::string page =
        make_report(options_from(arguments), show_progress(arguments.common.quiet, "report"));
    write_text(arguments.out, page, arguments.overwrite);
    Result result = Result::tree();
    result.label("report");
    result.add("out", arguments.out).label("open it in a browser");
    result.add("bytes", page.size());
    result.add("runs", arguments.runs).data_only();
    print(arguments.common, result);
    return kDone;
}

}  // namespace

Verb add_report(CLI::App& root)
{
    auto arguments = std::make_shared<ReportArguments>();
    const Flags flags = add_verb(root, "report",
                                 "Write one page for a browser: what runs have learned, how well, "
                                 "and how it moves");
    flags.add("runs", arguments->runs, "Run folders or cloth files; several are shown side by side")
        .required()
        .list()
        .type("FOLDER|FILE");
    flags
        .add("--motion", arguments->motion,
             "Motion file to compare with; otherwise the one that the first run learned from")
        .type("FILE");
    flags
        .add("--truth", arguments->truth,
             "Source cloth; otherwise the one in the motion file, if there is one")
        .type("FILE");
    flags
        .add("--rollouts", arguments->rollouts,
             "Rollouts of the motion to compare on, at most, evenly spread")
        .between(1, 1000);
    flags.add("--out", arguments->out, "HTML file to write").type("FILE");
    add_overwrite(flags, arguments->overwrite);
    arguments->flags = flags;
    add_common(flags, arguments->common);
    return {flags, [arguments] { return run_report(*arguments); }};
}

}  // namespace springtime::app
