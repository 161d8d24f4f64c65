#include <filesystem>

#include "config.h"
#include "options.h"
#include "progress.h"
#include "springtime/identify.h"
#include "verbs.h"

namespace springtime::app {

namespace {

struct InspectArguments {
    CommonOptions common;
    std::string file;
    bool full = false;
    bool design = false;
};

// A cloth as a file of its own or in the folder of a run, with what is known of its making.
struct InspectedCloth {
    std::string file;
    std::optional<std::filesystem::path> folder;
    std::optional<Motion> motion{};  // that a run learned from
};

// A picture goes into a run folder, but nowhere else; if that fails, the rest is still printed.
Result write_picture(const InspectedCloth& inspected, const Cloth& cloth,
                     const CommonOptions& common)
{
    if (!inspected.folder) return {};
    const std::filesystem::path path = *inspected.folder / "determination.png";
    try {
        write_png(path, draw_determination(cloth));
    } catch (const std::runtime_error& error) {
        note(common, fmt::format("warning: the errors are not drawn: {}", error.what()));
        return {};
    }
    return path.string();
}

// Why experiments of this cloth cannot be ranked; empty where they can.
std::string no_design(const Cloth& cloth)
{
    if (!cloth.errors) {
        return "it has no standard errors, so nobody knows what to record next; train --method "
               "linear learns them";
    }
    if (main_element(cloth) != Element::spring) return "experiments are ranked for springs alone";
    if (!(cloth.errors->force > 0)) {
        return "what to record next is not known: the noise of the force balance is stored as 0";
    }
    return {};
}

// How well an identified cloth is known and, if asked for, what to record next: experiments are
// simulated for that.
Result determination_of(const Cloth& cloth, const std::optional<Motion>& motion,
                        const InspectArguments& arguments)
{
    DesignOptions design;
    design.threads = arguments.common.threads;
    std::vector<bool> held;
    std::vector<Experiment> ranking;
    if (motion) {
        held = held_throughout(cloth, *motion);
        design.environment = motion->header.environment;
    }
    if (arguments.design) {
        ranking = rank_experiments(cloth, design, show_progress(arguments.common.quiet));
    }
    Result result = report_determination(cloth, held, ranking);
    if (!arguments.design && no_design(cloth).empty()) {
        result.say(
            fmt::format("what to record next: springtime inspect {} --design", arguments.file));
    }
    return result;
}

// Both in words and as data.
void add_doubts(Result& result, const Cloth& cloth)
{
    const std::vector<std::string> doubts = doubts_of(cloth);
    result.add("doubts", doubts).data_only();
    for (const std::string& doubt : doubts) result.say("odd: " + doubt);
}

int inspect_cloth(const InspectArguments& arguments, const InspectedCloth& inspected)
{
    const Cloth cloth = read_cloth(inspected.file);
    if (const std::string why = no_design(cloth); arguments.design && !why.empty()) {
        throw Error(Field{"design"}, "{}: {}", inspected.file, why);
    }
    const int version = cloth_file_version(cloth);
    Result result = report_of(cloth);
    result.label(fmt::format("{}: cloth, version {}", inspected.file, version));
    result.add("kind", inspected.folder ? "run" : "cloth").data_only();
    result.add("version", version).data_only();
    for (const char* key : {"rollouts", "landmarks", "frames", "dt", "stride", "seed", "fabric",
                            "determination", "picture"}) {
        result.add(key, {});
    }
    add_doubts(result, cloth);
    if (cloth.triangles.triangle_count() > 0) {
        result.add("fabric", report_fabric(cloth)).label("fabric card");
    }
    if (cloth.errors && !learned_parameters(cloth).empty()) {
        result.add("determination", determination_of(cloth, inspected.motion, arguments));
        result.add("picture", write_picture(inspected, cloth, arguments.common))
            .label("the errors of all elements are drawn in");
    } else if (inspected.folder) {
        const std::filesystem::path linear = *inspected.folder / "linear.json";
        result.say(std::filesystem::exists(linear)
                       ? fmt::format("how well it is known was not learned; springtime inspect {} "
                                     "tells that of the linear answer",
                                     linear.string())
                       : "how well it is known was not learned: train --method linear does");
    }
    print(arguments.common, result);
    return kDone;
}

// The motion may have gone since, or changed; the cloth can be looked at all the same.
std::optional<Motion> motion_of_run(const RunFolder& folder, const CommonOptions& common)
{
    try {
        return open_motion(text_setting(folder.config(), "motion"));
    } catch (const std::runtime_error& error) {
        note(common, fmt::format("the motion of this run cannot be read ({}); gravity, drag and "
                                 "wind are taken to be the usual ones",
                                 error.what()));
        return {};
    }
}

// What a run has learned: its cloth or, while it is not finished, the best that there is.
std::filesystem::path cloth_of_run(const RunFolder& folder, const CommonOptions& common)
{
    const std::filesystem::path learned = folder.path() / "cloth.json";
    if (std::filesystem::exists(learned)) return learned;
    for (const char* name : {"best.json", "linear.json", "homogeneous.json"}) {
        const std::filesystem::path path = folder.path() / name;
        if (!std::filesystem::exists(path)) continue;
        note(common, fmt::format("this run is not finished; {} is the best cloth so far", name));
        return path;
    }
    throw Error("{}: this run has no cloth yet; go on with springtime train --resume {}",
                folder.path().string(), folder.path().string());
}

int inspect_run(const InspectArguments& arguments)
{
    const std::filesystem::directory_iterator readable(arguments.file);  // or it says why not
    const RunFolder folder(arguments.file);
    if (!folder.exists()) {
        throw Error("{}: holds no run; name the folder of a run, a motion file or a cloth file",
                    arguments.file);
    }
    std::optional<Motion> motion = motion_of_run(folder, arguments.common);
    const std::filesystem::path cloth = cloth_of_run(folder, arguments.common);
    return inspect_cloth(arguments, {cloth.string(), folder.path(), std::move(motion)});
}

int inspect_motion(const InspectArguments& arguments)
{
    constexpr std::size_t kSample = 16;
    if (arguments.design) {
        throw Error(Field{"design"}, "{}: is a motion, but experiments are ranked for a cloth",
                    arguments.file);
    }
    const int version = MotionReader(arguments.file).version();
    const Motion motion = open_input(arguments.file);
    Result result = report_of(motion, arguments.full ? motion.rollout_count() : kSample,
                              show_progress(arguments.common.quiet));
    Result source, springs;
    if (!motion.header.source_cloth.empty()) {
        source = report_of(
            cloth_from_json(motion.header.source_cloth, arguments.file + ": source cloth"));
        springs = *source.find("springs");
    }
    result.label(fmt::format("{}: motion, version {}", arguments.file, version));
    result.add("kind", "motion").data_only();
    result.add("version", version).data_only();
    result.add("particles", {});
    result.add("springs", springs).data_only();
    result.add("source_cloth", source);
    print(arguments.common, result);
    return kDone;
}

int run_inspect(const InspectArguments& arguments)
{
    if (std::filesystem::is_directory(arguments.file)) return inspect_run(arguments);
    if (file_kind(arguments.file) == FileKind::cloth) {
        return inspect_cloth(arguments, {arguments.file, {}});
    }
    return inspect_motion(arguments);
}

}  // namespace

Verb add_inspect(CLI::App& root)
{
    auto arguments = std::make_shared<InspectArguments>();
    const Flags flags = add_verb(
        root, "inspect", "Say what a motion file, a cloth file or the folder of a run holds");
    flags.add("file", arguments->file, "Motion or cloth file, or run folder")
        .required()
        .type("FILE|FOLDER");
    flags.add_switch("--full", arguments->full,
                     "Read every rollout, not 16 of them, for the ranges");
    flags.add_switch("--design", arguments->design,
                     "Rank experiments: what to record next to know an identified cloth better");
    add_common(flags, arguments->common);
    return {flags, [arguments] { return run_inspect(*arguments); }};
}

}  // namespace springtime::app
