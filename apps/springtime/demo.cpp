#include <chrono>
#include <filesystem>

#include "config.h"
#include "options.h"
#include "outputs.h"
#include "progress.h"
#include "rank_session.h"
#include "replay.h"
#include "report_file.h"
#include "springtime/evaluate.h"
#include "springtime/export.h"
#include "springtime/learn.h"
#include "verbs.h"

namespace springtime::app {

namespace {

namespace fs = std::filesystem;

struct DemoArguments {
    CommonOptions common;
    ClothOptions cloth;
    std::string out = "demo";
    int rollouts = 10, test_rollouts = 4;
    double seconds = 6, fps = 60, noise = 1e-3;
    bool overwrite = false, no_report = false;
    std::optional<Flags> flags;
};

class Stopwatch {
  public:
    double seconds() const
    {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// A motion in memory that is kept as a file, too.
Motion kept(const fs::path& path, const MotionHeader& header, std::vector<Rollout> rollouts)
{
    MotionWriter writer(path, header);
    for (const Rollout& rollout : rollouts) writer.append(rollout);
    writer.finish();
    return Motion::from_rollouts(header, std::move(rollouts));
}

// Falling sheets of the source as the camera sees them.
Motion filmed(const DemoArguments& arguments, const Cloth& source, const std::string& file,
              int rollouts, std::uint64_t seed, const ObserveOptions& camera)
{
    constexpr double kLongestStep = 1e-3;  // [s]
    GenerateOptions run;
    const int steps = int(std::ceil(1 / (arguments.fps * kLongestStep)));
    const int substeps =
        stable_substeps(source, run.environment, 1 / (arguments.fps * double(steps)));
    run.rollouts = rollouts;
    run.seconds = arguments.seconds;
    run.stride = steps * substeps;
    run.dt = 1 / (arguments.fps * run.stride);
    run.seed = seed;
    run.threads = arguments.common.threads;
    run.crew = crew();
    run.device = device_named(arguments.common.device);
    MotionHeader header = header_for(source, {run.dt, run.environment, run.device}, run.stride,
                                     run.seed, run.rollouts, {});
    observe_header(header, camera);
    std::vector<Rollout> seen;
    generate(
        source, run, 0,
        [&](int index, const Rollout& rollout) {
            seen.push_back(observe(rollout, header, camera, run.seed, std::size_t(index)));
        },
        show_progress(arguments.common.quiet, "film"));
    return kept(fs::path(arguments.out) / file, header, std::move(seen));
}

// The network with one stiffness and one damping per family that follows the motion best.
Cloth homogeneous_for(const DemoArguments& arguments, const Learned& learned, const Motion& motion)
{
    if (learned.homogeneous) return *learned.homogeneous;
    TrainOptions options;
    options.grid = grid_options(arguments.cloth.grid, arguments.cloth.families);
    options.passes = single_pass(0, {.force = 0, .impulse = 0, .position = 1});
    options.clip_steps =
        std::min(options.clip_steps, int(motion.frame_counts[0] - 1) * motion.header.stride);
    options.seed = arguments.common.seed;
    options.threads = arguments.common.threads;
    options.crew = crew();
    options.device = device_named(arguments.common.device);
    return fit_homogeneous(motion, options, show_progress(arguments.common.quiet));
}

// What was learned, and what it is compared with.
struct Outcome {
    Cloth source, learned, homogeneous;
    int particles = 0, substeps = 1;
    MotionError learned_motion, homogeneous_motion, nothing_moves;
    double film_seconds = 0, learn_seconds = 0, compare_seconds = 0;
    std::string summary;
    std::optional<std::string> report{}, live{};
};

int substeps_for(const Cloth& cloth, const Motion& motion)
{
    return stable_substeps(cloth, motion.header.environment, motion.header.dt);
}

Result row_of(const MotionError& motion, const Cloth* cloth, const Cloth& source)
{
    Result row = Result::tree();
    for (const char* name : {"stiffness", "damping"}) row.add(std::string(name) + "_rmse", {});
    if (cloth) {
        for (const ParameterError& error : parameter_errors(*cloth, source)) {
            row.add(std::string(error.kind->name) + "_rmse", error.all,
                    std::string(error.kind->unit))
                .label(error.label);
        }
    }
    row.add("motion_rmse", motion.mean, "m").label("motion");
    return row;
}

Result result_of(const DemoArguments& arguments, const Outcome& outcome)
{
    Result errors = Result::tree(), seconds = Result::tree(), result = Result::tree();
    errors.add("learned", row_of(outcome.learned_motion, &outcome.learned, outcome.source))
        .label("learned cloth");
    errors
        .add("homogeneous",
             row_of(outcome.homogeneous_motion, &outcome.homogeneous, outcome.source))
        .label("best homogeneous network");
    errors.add("static", row_of(outcome.nothing_moves, nullptr, outcome.source))
        .label("nothing moves");
    seconds.add("film", outcome.film_seconds, "s").label("filming the source");
    seconds.add("learn", outcome.learn_seconds, "s").label("learning it");
    seconds.add("compare", outcome.compare_seconds, "s").label("comparing and drawing");
    const double total = outcome.film_seconds + outcome.learn_seconds + outcome.compare_seconds;
    seconds.add("total", total, "s").label("in all");
    const fs::path folder = arguments.out;
    result.label("a cloth whose springs are known, and what was learned of it from film");
    result.add("out", folder.string()).data_only();
    result.add("particles", outcome.source.particle_count());
    result.add("springs", outcome.source.springs.spring_count());
    result.add("rollouts", arguments.rollouts).label("rollouts filmed");
    result.add("rollout_seconds", arguments.seconds, "s").label("length of each");
    result.add("fps", arguments.fps).label("frames per second");
    result.add("noise", 1000 * arguments.noise, "mm").label("noise of the camera");
    result.add("test_rollouts", arguments.test_rollouts).label("rollouts never seen");
    result.add("summary", outcome.summary).data_only();
    result.add("errors", errors).label("errors (root mean square)");
    result.add("seconds", seconds).label("time taken");
    result.add("stiffness_picture", (folder / "stiffness.png").string())
        .label("true and learned stiffness");
    result.add("frames_picture", (folder / "frames.png").string())
        .label("source and learned cloth at the same moments");
    result.add("error_picture", (folder / "error.png").string()).label("error over time");
    result.add("motion", (folder / "motion.h5").string()).label("what the camera saw");
    result.add("test", (folder / "test.h5").string()).label("motion that was never seen");
    result.add("cloth", (folder / "cloth.json").string()).label("learned cloth");
    result.add("source", (folder / "source.json").string()).label("source cloth");
    result.add("report", outcome.report).label("report for a browser");
    result.add("live", outcome.live).label("both cloths, live in a browser");
    result.say(
        fmt::format("try: springtime simulate {0}/cloth.json --pin corner-nw --pin corner-ne "
                    "--picture {0}/hanging.png",
                    folder.string()));
    return result;
}

void draw(const DemoArguments& arguments, const Outcome& outcome, const Motion& test)
{
    const fs::path folder = arguments.out;
    const Replay replay{test, 0, 5, device_named(arguments.common.device), "demo"};
    write_png(folder / "stiffness.png",
              draw_stiffness({{"true", outcome.source, {}}, {"learned", outcome.learned, {}}}));
    write_png(folder / "frames.png",
              draw_frames({replay.of_motion("source", outcome.source),
                           replay.of_cloth("learned", outcome.learned, outcome.substeps),
                           replay.of_cloth("homogeneous", outcome.homogeneous,
                                           substeps_for(outcome.homogeneous, test))}));
    write_png(folder / "error.png",
              draw_curves({{"learned", outcome.learned_motion.over_time},
                           {"best homogeneous", outcome.homogeneous_motion.over_time},
                           {"nothing moves", outcome.nothing_moves.over_time}},
                          test.header.frame_interval(), "time [s]", "motion rmse [m]"));
}

void compare(const DemoArguments& arguments, Outcome& outcome, const Motion& test)
{
    const Device device = device_named(arguments.common.device);
    const int threads = arguments.common.threads;
    const Progress progress = show_progress(arguments.common.quiet);
    outcome.learned_motion =
        surrogate_error(outcome.learned, test, device, threads, progress, outcome.substeps);
    outcome.homogeneous_motion = surrogate_error(outcome.homogeneous, test, device, threads,
                                                 progress, substeps_for(outcome.homogeneous, test));
    outcome.nothing_moves = static_error(test);
    const fs::path folder = arguments.out;
    write_cloth(folder / "source.json", outcome.source);
    write_cloth(folder / "cloth.json", outcome.learned);
    write_cloth(folder / "homogeneous.json", outcome.homogeneous);
    draw(arguments, outcome, test);
}

LearnOptions learn_options(const DemoArguments& arguments)
{
    LearnOptions options;
    options.grid = parse_grid(arguments.cloth.grid);
    options.seed = arguments.common.seed;
    options.threads = arguments.common.threads;
    options.crew = crew();
    options.device = device_named(arguments.common.device);
    return options;
}

std::shared_ptr<void> claim_out(const DemoArguments& arguments)
{
    const OutputFolder folder{arguments.out,
                              "demo.toml",
                              merged_config(*arguments.flags, {"out", "threads", "quiet", "json",
                                                               "overwrite", "no-report"}),
                              {"source.json", "motion.h5", "test.h5"}};
    return claim_folder(folder, arguments.overwrite);
}

// The learned cloth beside its source. A build without the page has said so where it left the
// report.
std::optional<std::string> leave_live_page(const DemoArguments& arguments)
{
    if (!has_live_page()) return {};
    const fs::path folder = arguments.out, out = folder / "live.html";
    LivePageOptions options;
    options.cloths = {folder / "cloth.json", folder / "source.json"};
    write_text(out, make_live_page(options));
    return out.string();
}

int run_demo(const DemoArguments& arguments)
{
    Outcome outcome;
    outcome.source = make_cloth(arguments.cloth);
    const std::shared_ptr<void> claim = claim_out(arguments);
    const ObserveOptions camera{.noise = arguments.noise, .positions_only = true};
    const Stopwatch film;
    const Motion motion = filmed(arguments, outcome.source, "motion.h5", arguments.rollouts,
                                 arguments.common.seed, camera);
    const Motion test = filmed(arguments, outcome.source, "test.h5", arguments.test_rollouts,
                               arguments.common.seed + 1000003, {});
    outcome.film_seconds = film.seconds();
    const Stopwatch watch;
    const Learned learned =
        learn(motion, learn_options(arguments), show_progress(arguments.common.quiet));
    outcome.learned = learned.cloth;
    outcome.summary = learned.summary;
    outcome.learn_seconds = watch.seconds();
    const Stopwatch rest;
    outcome.substeps = substeps_for(outcome.learned, test);
    outcome.homogeneous = homogeneous_for(arguments, learned, motion);
    compare(arguments, outcome, test);
    if (!arguments.no_report) {
        const fs::path folder = arguments.out;
        outcome.report =
            leave_report(arguments.common, {.runs = {folder}, .motion = folder / "test.h5"},
                         folder / "report.html");
        outcome.live = leave_live_page(arguments);
    }
    outcome.compare_seconds = rest.seconds();
    print(arguments.common, result_of(arguments, outcome));
    return kDone;
}

}  // namespace

Verb add_demo(CLI::App& root)
{
    auto arguments = std::make_shared<DemoArguments>();
    arguments->cloth.grid = "16x16";
    arguments->cloth.mass = 25.6;  // 0.1 kg for every particle
    const Flags flags = add_verb(root, "demo",
                                 "Film a cloth whose springs are known, learn them from the film, "
                                 "and compare both on motion that was never seen");
    const Flags rare = flags.in("The film");
    flags.add("--out", arguments->out, "Folder to write to").type("FOLDER");
    flags.add("--seconds", arguments->seconds, "Length of each rollout [s]");
    rare.add("--rollouts", arguments->rollouts, "Rollouts to learn from").between(2, 1000);
    rare.add("--test-rollouts", arguments->test_rollouts, "Rollouts to compare on")
        .between(1, 1000);
    rare.add("--fps", arguments->fps, "Frames per second of the camera");
    rare.add("--noise", arguments->noise, "Noise of the camera on every coordinate [m]");
    add_cloth(flags, arguments->cloth);
    add_report_switch(flags.in(kRunGroup), arguments->no_report);
    add_overwrite(flags, arguments->overwrite);
    arguments->flags = flags;
    add_common(flags, arguments->common);
    return {flags, [arguments] { return run_demo(*arguments); }};
}

}  // namespace springtime::app
