#include <algorithm>
#include <cmath>
#include <filesystem>

#include "config.h"
#include "options.h"
#include "outputs.h"
#include "progress.h"
#include "rank_session.h"
#include "replay.h"
#include "report_file.h"
#include "springtime/evaluate.h"
#include "verbs.h"

namespace springtime::app {

namespace {

namespace fs = std::filesystem;

struct EvaluateArguments {
    CommonOptions common;
    std::string cloth, motion, truth, homogeneous, out, substeps = "motion";
    bool overwrite = false, no_report = false;
    std::optional<Flags> flags;
};

// Puts the file in front of what the library says of the cloth in it.
template <class Work>
auto naming(const std::string& file, Work work)
{
    try {
        return work();
    } catch (const Error& error) {
        throw Error(Field{error.field()}, "{}: {}", file, error.what());
    } catch (const Failure& failure) {
        throw Failure("{}: {}", file, failure.what());
    }
}

int substeps_for(const EvaluateArguments& arguments, const Cloth& cloth, const Motion& motion,
                 bool quiet)
{
    const std::string otherwise = motion.header.captured ? "auto" : "1";
    return substeps_from(arguments.substeps == "motion" ? otherwise : arguments.substeps, cloth,
                         motion.header.environment, motion.header.dt, quiet);
}

EvaluateOptions options_for(const EvaluateArguments& arguments, const Cloth& cloth,
                            const Motion& motion, bool quiet)
{
    return {device_named(arguments.common.device), arguments.common.threads,
            substeps_for(arguments, cloth, motion, quiet), crew()};
}

Progress progress_of(const EvaluateArguments& arguments, const std::string& file)
{
    return show_progress(arguments.common.quiet, "evaluate " + fs::path(file).filename().string());
}

// ---- The homogeneous network ----

bool same_file(const fs::path& a, const fs::path& b)
{
    std::error_code ignored;  // what does not exist is no file at all
    return fs::equivalent(a, b, ignored);
}

// What is too long a step for the cloth is so for this network: said once.
MotionError run_homogeneous(const EvaluateArguments& arguments, const std::string& file,
                            const Motion& motion)
{
    const Cloth cloth = read_cloth(file);
    const EvaluateOptions options = options_for(arguments, cloth, motion, true);
    return naming(file, [&] {
        return surrogate_error(cloth, motion, options.device, options.threads,
                               progress_of(arguments, file), *options.substeps, crew());
    });
}

// The one that the user names must be usable; one that merely lies there may be ignored.
void add_homogeneous(const EvaluateArguments& arguments, const Motion& motion, Evaluation& result)
{
    if (!arguments.homogeneous.empty()) {
        result.homogeneous = run_homogeneous(arguments, arguments.homogeneous, motion);
        return;
    }
    const fs::path beside = fs::path(arguments.cloth).replace_filename("homogeneous.json");
    if (!fs::exists(beside)) {
        result.remarks.push_back(
            "no homogeneous network to compare with: 'train' leaves homogeneous.json beside the "
            "cloth it learns; or name one with --homogeneous");
        return;
    }
    if (same_file(beside, arguments.cloth)) {
        result.remarks.push_back("this cloth is the homogeneous network itself");
        return;
    }
    try {
        result.homogeneous = run_homogeneous(arguments, beside.string(), motion);
    } catch (const Cancelled&) {
        throw;
    } catch (const std::runtime_error& error) {
        result.remarks.push_back(
            fmt::format("no homogeneous network to compare with: {}", error.what()));
    }
}

Evaluation evaluate(const EvaluateArguments& arguments, const Cloth& cloth, const Motion& motion)
{
    Evaluation result;
    if (!arguments.truth.empty()) {
        const Cloth truth = read_cloth(arguments.truth);
        naming(arguments.truth, [&] { compare_with_truth(cloth, truth, result); });
    }
    const EvaluateOptions options = options_for(arguments, cloth, motion, arguments.common.quiet);
    naming(arguments.cloth, [&] {
        compare_with_motion(cloth, motion, options, result,
                            progress_of(arguments, arguments.cloth));
    });
    add_homogeneous(arguments, motion, result);
    return result;
}

// ---- Pictures ----

fs::path beside(const std::string& out, const char* ending)
{
    return fs::path(out).replace_extension(ending);
}

// Beside the JSON file: the error over time, and motion and cloth at the same moments. What cannot
// be drawn does not spoil the evaluation.
void draw(const EvaluateArguments& arguments, const Cloth& cloth, const Motion& motion,
          const Evaluation& found)
{
    const MotionError& ours = found.surrogate;
    std::vector<DrawnCurve> curves{{"this cloth", ours.over_time},
                                   {"nothing moves", found.nothing_moves.over_time}};
    if (found.homogeneous) curves.push_back({"homogeneous network", found.homogeneous->over_time});
    try {
        write_png(beside(arguments.out, ".error.png"),
                  draw_curves(curves, found.frame_interval, "time [s]", "motion rmse [m]"),
                  arguments.overwrite);
        const Replay replay{motion, 0, 5, device_named(arguments.common.device), arguments.motion};
        write_png(beside(arguments.out, ".frames.png"),
                  draw_frames({replay.of_motion("motion", cloth),
                               replay.of_cloth("cloth", cloth,
                                               substeps_for(arguments, cloth, motion, true))}),
                  arguments.overwrite);
    } catch (const std::runtime_error& error) {
        note(arguments.common, fmt::format("warning: not drawn: {}", error.what()));
    }
}

void report(const EvaluateArguments& arguments)
{
    if (arguments.no_report) return;
    ReportOptions options{.runs = {arguments.cloth}, .motion = arguments.motion};
    if (!arguments.truth.empty()) options.truth = arguments.truth;
    const auto path = leave_report(arguments.common, options, beside(arguments.out, ".report.html"),
                                   arguments.overwrite);
    if (path) note(arguments.common, fmt::format("report for a browser: {}", *path));
}

// ---- The verb ----

void check_out(const EvaluateArguments& arguments)
{
    if (arguments.out.empty()) return;
    check_outputs(*arguments.flags,
                  {{"--out", arguments.out},
                   {"--out", beside(arguments.out, ".error.png")},
                   {"--out", beside(arguments.out, ".frames.png")},
                   {"--out", beside(arguments.out, ".report.html")}},
                  arguments.overwrite,
                  {fs::path(arguments.cloth).replace_filename("homogeneous.json")});
}

int run_evaluate(const EvaluateArguments& arguments)
{
    check_out(arguments);
    const Cloth cloth = read_cloth(arguments.cloth);
    const Motion motion = open_input(arguments.motion);
    const Evaluation found = evaluate(arguments, cloth, motion);
    Result result = report_of(found);
    result.label(fmt::format("{} on {}", arguments.cloth, arguments.motion));
    result.add("cloth", arguments.cloth).data_only();
    result.add("motion", arguments.motion).data_only();
    print(arguments.common, result);
    for (const std::string& text : found.remarks) note(arguments.common, text);
    for (const std::string& text : warnings_of(found)) note(arguments.common, "warning: " + text);
    if (arguments.out.empty()) return kDone;
    write_text(arguments.out, to_json(result, 2) + "\n", arguments.overwrite);
    draw(arguments, cloth, motion, found);
    report(arguments);
    return kDone;
}

}  // namespace

Verb add_evaluate(CLI::App& root)
{
    auto arguments = std::make_shared<EvaluateArguments>();
    const Flags flags =
        add_verb(root, "evaluate",
                 "Say how closely a cloth follows a motion, beside what needs no learning");
    flags.add("cloth", arguments->cloth, "Cloth file").required().type("FILE");
    flags.add("motion", arguments->motion, "Motion file with rollouts it was not made from")
        .required()
        .type("FILE");
    flags
        .add("--truth", arguments->truth,
             "Source cloth: parameters are compared with those of a cloth with the same springs or "
             "triangles, maps of stiffness with those of any cloth")
        .type("FILE");
    flags
        .add("--homogeneous", arguments->homogeneous,
             "Homogeneous network to compare with; otherwise homogeneous.json beside the cloth, if "
             "there is one")
        .type("FILE");
    flags.add(
        "--substeps", arguments->substeps,
        "Steps of the cloth per time step of the motion: a number, auto for as many as are "
        "safe, or motion: 1 where the motion's own step is known, auto where it was captured");
    flags
        .add("--out", arguments->out,
             "JSON file to write as well, with pictures and a report for a browser beside it: "
             "NAME.error.png, NAME.frames.png, NAME.report.html")
        .type("FILE");
    add_report_switch(flags.in(kRunGroup), arguments->no_report);
    add_overwrite(flags, arguments->overwrite);
    arguments->flags = flags;
    add_common(flags, arguments->common);
    return {flags, [arguments] { return run_evaluate(*arguments); }};
}

}  // namespace springtime::app
