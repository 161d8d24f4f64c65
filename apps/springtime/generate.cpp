#include <chrono>
#include <cmath>
#include <filesystem>

#include "camera_options.h"
#include "config.h"
#include "generating.h"
#include "mesh_options.h"
#include "outputs.h"
#include "presets.h"
#include "progress.h"
#include "rank_session.h"
#include "springtime/identify.h"
#include "verbs.h"

namespace springtime::app {

namespace {

namespace fs = std::filesystem;

struct GenerateArguments {
    CommonOptions common;
    ClothOptions cloth;
    MeshOptions mesh;
    EnvironmentOptions environment;
    std::string source = "springs", preset;
    std::string out = "motion.h5";
    std::string substeps = "auto";
    std::string design_for;  // a cloth file; empty: random anchors
    std::optional<double> density, anchor_radius;
    CameraOptions camera;
    GenerateOptions run;
    bool resume = false, overwrite = false;
    std::optional<Flags> flags;
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

std::string preset_config(const std::vector<std::string>& given)
{
    const std::string name = argument_value(given, "preset");
    return name.empty() ? std::string() : preset_settings(name, given);
}

bool is_given(const GenerateArguments& arguments, const std::string& flag)
{
    return arguments.flags->given(flag);
}

bool is_design(const GenerateArguments& arguments)
{
    return !arguments.design_for.empty();
}

// What a cloth that is given, and pins that are chosen for it, leave no room for.
std::vector<std::string> flags_of_cloth_and_anchors()
{
    std::vector<std::string> flags{"preset",  "source",  "length",      "width",        "mass",
                                   "density", "anchors", "anchor-size", "anchor-radius"};
    flags.insert(flags.end(), kSpringFlags.begin(), kSpringFlags.end());
    flags.insert(flags.end(), kMeshFlags.begin(), kMeshFlags.end());
    return flags;
}

bool is_fem(const GenerateArguments& arguments)
{
    return arguments.source == "fem";
}

// Flags that say nothing of this source, or that contradict each other, must not be lost silently.
void check_flags(const GenerateArguments& arguments)
{
    if (is_design(arguments)) {
        for (const std::string& flag : flags_of_cloth_and_anchors()) {
            if (!is_given(arguments, flag)) continue;
            throw Error(
                "--{}: with --design-for the cloth comes from {}, and its pins are chosen; leave "
                "one of them out",
                flag, arguments.design_for);
        }
    }
    if (arguments.source != "springs" && !is_fem(arguments)) {
        throw Error("--source '{}': unknown; there are springs and fem", arguments.source);
    }
    const auto refuse = [&](const auto& flags, const char* other) {
        for (const char* flag : flags) {
            if (!is_given(arguments, flag)) continue;
            throw Error("--{}: is for --source {}, but this is {}; leave one of them out", flag,
                        other, arguments.source);
        }
    };
    if (is_fem(arguments)) {
        refuse(kSpringFlags, "springs");
    } else {
        refuse(kMeshFlags, "fem");
    }
    if (is_fem(arguments) && is_mesh_file(arguments.mesh) && is_given(arguments, "cut")) {
        throw Error("--cut: {} brings its own triangles; leave it out", arguments.mesh.mesh);
    }
    if (arguments.density && is_given(arguments, "mass")) {
        throw Error("--density and --mass: both say how heavy the sheet is; give one of them");
    }
    if (arguments.density && !(*arguments.density > 0)) {
        throw Error("--density {}: it must be positive", *arguments.density);
    }
    if (arguments.anchor_radius.value_or(0) > 0 && is_given(arguments, "anchor-size")) {
        throw Error(
            "--anchor-radius and --anchor-size: anchors are discs or squares; give one of "
            "them");
    }
    check_camera(arguments.camera, is_given(arguments, "stride"));
}

// Settings that do not shape the motion, and those that the others make void.
std::vector<std::string> settings_left_out(const GenerateArguments& arguments)
{
    std::vector<std::string> names = kBesideTheMotion;
    const auto add = [&](const auto& flags) {
        names.insert(names.end(), std::begin(flags), std::end(flags));
    };
    if (is_design(arguments)) add(flags_of_cloth_and_anchors());
    if (is_fem(arguments)) {
        add(kSpringFlags);
    } else {
        add(kMeshFlags);
    }
    if (arguments.camera.fps) names.push_back("stride");
    if (arguments.density) names.push_back("mass");
    if (arguments.anchor_radius.value_or(0) > 0) names.push_back("anchor-size");
    if (is_fem(arguments) && is_mesh_file(arguments.mesh)) {
        for (const char* flag : {"cut", "length", "width"}) {
            if (!is_given(arguments, flag)) names.push_back(flag);
        }
    }
    return names;
}

Cloth source_cloth(const GenerateArguments& arguments)
{
    ClothOptions options = arguments.cloth;
    if (is_fem(arguments)) {
        const auto given = [&](const char* flag, double value) {
            return is_given(arguments, flag) ? std::optional(value) : std::nullopt;
        };
        return make_fem_cloth(arguments.mesh,
                              {given("length", options.length), given("width", options.width),
                               given("mass", options.mass), arguments.density},
                              {options.length, options.width, options.mass});
    }
    if (arguments.density) options.mass = *arguments.density * options.length * options.width;
    return make_cloth(options);
}

fs::path cloth_path_of(const GenerateArguments& arguments)
{
    return fs::path(arguments.out).replace_extension(".cloth.json");
}

void check_outputs(const GenerateArguments& arguments)
{
    const fs::path out = arguments.out;
    if (fs::is_regular_file(out) && !arguments.resume && !arguments.overwrite) {
        throw Error(
            "{}: exists already; finish it with --resume, replace it with --overwrite, or "
            "give another --out",
            out.string());
    }
    check_outputs(*arguments.flags, {{"--out", out}, {"--out", cloth_path_of(arguments)}},
                  arguments.resume || arguments.overwrite);
}

// Beside a file that is finished lies its own cloth, or none.
void check_source_cloth(const GenerateArguments& arguments, const Cloth& cloth)
{
    const fs::path path = cloth_path_of(arguments);
    if (!arguments.resume || arguments.overwrite || !fs::exists(path)) return;
    const std::string there = read_text(path);
    if (there == cloth_to_json(cloth)) return;
    // Then it is the motion that does not fit, and says so.
    if (fs::exists(arguments.out) && there == MotionReader(arguments.out).header().source_cloth)
        return;
    throw Error("{}: is not the source cloth of {}; move it, or allow its loss with --overwrite",
                path.string(), arguments.out);
}

// The experiment that would tell most about a cloth, and the pins that make it.
struct Design {
    Cloth cloth;
    std::vector<Experiment> ranking;  // best first
};

Design design_for(const GenerateArguments& arguments, const GenerateOptions& run)
{
    Design design{read_cloth(arguments.design_for), {}};
    if (!design.cloth.errors) {
        throw Error(
            "{}: has no standard errors, which say what is worth knowing; give a cloth that was "
            "identified, by springtime train --method linear",
            arguments.design_for);
    }
    DesignOptions options;
    options.seconds = run.seconds;
    options.dt = run.dt;
    options.stride = run.stride;
    options.environment = run.environment;
    options.threads = arguments.common.threads;
    design.ranking = rank_experiments(design.cloth, options, show_progress(arguments.common.quiet));
    if (design.ranking.empty()) {
        throw Failure("{}: every experiment with this cloth blows up; lower --dt",
                      arguments.design_for);
    }
    return design;
}

Result result_of(const GenerateArguments& arguments, const std::optional<Design>& design,
                 const GeneratedFile& outcome, int substeps, double seconds)
{
    Result result = Result::tree(), experiment, next;
    if (design) {
        experiment = design->ranking[0].name;
        next = report_experiments(design->cloth, design->ranking);
    }
    result.label(arguments.out);
    result.add("out", outcome.path.string()).data_only();
    result.add("cloth", cloth_path_of(arguments).string()).label("source cloth");
    result.add("rollouts", outcome.rollouts);
    result.add("rollouts_planned", arguments.run.rollouts).data_only();
    result.add("finished", outcome.finished).data_only();
    result.add("substeps", substeps).label("sub-steps");
    result.add("seconds", seconds, "s").label("time taken");
    result.add("bytes", fs::file_size(outcome.path)).data_only();
    result.add("experiment", experiment).label("chosen");
    result.add("next", next).label("why");
    return result;
}

// Before any sub-steps.
GenerateOptions options_from(const GenerateArguments& arguments)
{
    GenerateOptions run = arguments.run;
    run.anchor_radius = arguments.anchor_radius.value_or(0);
    run.environment = environment_from(arguments.environment, {});
    run.seed = arguments.common.seed;
    run.threads = arguments.common.threads;
    run.crew = crew();
    run.device = device_named(arguments.common.device);
    set_frame_rate(arguments.camera, run.dt, run.stride);
    return run;
}

// Says how large the file will be: float positions, velocities and accelerations.
void note_size(const GenerateArguments& arguments, const Cloth& cloth, const GenerateOptions& run)
{
    const double frames = std::round(run.seconds / (run.dt * run.stride)) + 1;
    const double arrays = observe_options(arguments.camera).positions_only ? 1 : 3;
    const double bytes =
        run.rollouts * frames * double(cloth.particle_count()) * arrays * 3 * sizeof(float);
    note(arguments.common,
         fmt::format("{}: {} of {:.0f} frames, about {:.3g} MB", arguments.out,
                     counted(std::size_t(run.rollouts), "rollout"), frames, bytes / 1e6));
}

int run_generate(const GenerateArguments& arguments)
{
    check_flags(arguments);
    check_outputs(arguments);
    GenerateOptions run = options_from(arguments);
    const auto start = std::chrono::steady_clock::now();
    std::optional<Design> design;
    if (is_design(arguments)) {
        design = design_for(arguments, run);
        run.pinned = design->ranking[0].pinned;
    }
    Cloth cloth = design ? design->cloth : source_cloth(arguments);
    cloth.errors.reset();  // a source is what it is
    const int substeps =
        substeps_from(arguments.substeps, cloth, run.environment, run.dt, arguments.common.quiet);
    run.dt /= substeps;
    run.stride = stride_in_substeps(run.stride, substeps);

    check_generate(cloth, run);
    check_source_cloth(arguments, cloth);
    note_size(arguments, cloth, run);
    const GeneratedFile outcome = generate_file(
        arguments.out, cloth, run, merged_config(*arguments.flags, settings_left_out(arguments)),
        {arguments.resume, arguments.overwrite}, arguments.common,
        observe_options(arguments.camera));
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (outcome.rollouts == 0) {
        fmt::print(stderr,
                   "springtime: interrupted before the first rollout was finished; nothing "
                   "was written\n");
        return kFailed;
    }
    const bool replaced = outcome.path == arguments.out;
    if (replaced) {
        write_cloth(cloth_path_of(arguments), cloth, arguments.resume || arguments.overwrite);
    }
    if (outcome.finished || arguments.common.json) {
        print(arguments.common, result_of(arguments, design, outcome, substeps, seconds));
    }
    if (outcome.finished) return kDone;
    fmt::print(stderr,
               "springtime: interrupted; {} of {} rollouts are in {}; {}run again with "
               "--resume to finish\n",
               outcome.rollouts, run.rollouts, outcome.path.string(),
               replaced ? "" : fmt::format("{} is as it was: remove it and ", arguments.out));
    return kFailed;
}

}  // namespace

Verb add_generate(CLI::App& root)
{
    auto arguments = std::make_shared<GenerateArguments>();
    const Flags flags = add_verb(root, "generate",
                                 "Make motion of a source cloth: sheets in random orientation fall "
                                 "from random anchors");
    const Flags time = flags.in(kTimeGroup), anchors = flags.in("Anchors");
    arguments->flags = flags;
    flags.add("--source", arguments->source,
              "Kind of source cloth: springs, or fem for finite elements");
    flags
        .add("--preset", arguments->preset,
             "Settings beneath those given; reference: the finite-element benchmark, "
             "docs/materials.md")
        .type("NAME");
    flags.add("--out", arguments->out, "Motion file to write").type("FILE");
    arguments->run.rollouts = 16;
    flags.add("--rollouts", arguments->run.rollouts, "How many");
    flags.add("--seconds", arguments->run.seconds, "Length of each [s]");
    time.add("--dt", arguments->run.dt, "Time step [s]");
    time.add("--substeps", arguments->substeps,
             "Steps per time step: a number, or auto for as many as are safe");
    time.add("--stride", arguments->run.stride, "Time steps between stored frames");
    add_camera(flags, arguments->camera);
    anchors.add("--anchors", arguments->run.anchors, "How many places are pinned");
    anchors.add("--anchor-size", arguments->run.anchor_size,
                "Particles along such a place when it is a square of a grid");
    anchors.add("--anchor-radius", arguments->anchor_radius,
                "Radius of such a place [m], which then is a disc");
    anchors
        .add("--design-for", arguments->design_for,
             "Cloth file with standard errors: makes motion of this cloth, pinned where it would "
             "tell most about its springs")
        .type("FILE");
    add_cloth(flags, arguments->cloth);
    flags.in(kClothGroup)
        .add("--density", arguments->density, "Mass per area [kg/m^2], instead of --mass");
    add_mesh(flags, arguments->mesh);
    add_environment(flags, arguments->environment);
    flags.add_switch("--resume", arguments->resume, "Finish the file of an interrupted run");
    add_overwrite(flags, arguments->overwrite);
    add_common(flags, arguments->common);
    return {flags, [arguments] { return run_generate(*arguments); }, stored_config, preset_config};
}

}  // namespace springtime::app
