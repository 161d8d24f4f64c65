#include <cmath>
#include <filesystem>
#include <map>

#include "config.h"
#include "determination.h"
#include "options.h"
#include "progress.h"
#include "verbs.h"

namespace springtime::app {

namespace {

struct InspectArguments {
    CommonOptions common;
    std::string file;
    bool full = false;
};

struct Range {
    double low = HUGE_VAL, high = -HUGE_VAL, sum = 0;
    std::size_t count = 0;

    void add(double value)
    {
        low = std::min(low, value);
        high = std::max(high, value);
        sum += value;
        ++count;
    }
    double mean() const { return sum / double(count); }
};

Range range_of(const std::vector<double>& values)
{
    Range range;
    for (const double value : values) range.add(value);
    return range;
}

Result result_of(const Range& range, const std::string& unit)
{
    if (range.count == 0) return {};
    Result result = Result::tree();
    result.add("min", range.low, unit);
    result.add("max", range.high, unit);
    result.add("mean", range.mean(), unit);
    return result;
}

// How many values lie in each of twelve equal parts of their range; nothing when all are the same
// to the digits that are shown.
Result histogram_of(const std::vector<double>& values, const Range& range, const std::string& unit)
{
    const double spread = range.high - range.low;
    if (range.count == 0 || spread <= 1e-3 * std::abs(range.high)) return {};
    constexpr int kBins = 12;
    std::vector<std::size_t> bins(kBins, 0);
    const double step = spread / kBins;
    for (const double value : values) {
        ++bins[std::min(kBins - 1, static_cast<int>((value - range.low) / step))];
    }
    Result table = Result::list();
    for (int b = 0; b < kBins; ++b) {
        Result row = Result::tree();
        row.add("from", range.low + b * step, unit);
        row.add("to", range.low + (b + 1) * step, unit);
        row.add("count", bins[b]);
        table.push(row);
    }
    table.bars();
    return table;
}

Result result_of(const std::vector<double>& values, const std::string& unit)
{
    const Range range = range_of(values);
    Result result = result_of(range, unit);
    if (range.count > 0) result.add("histogram", histogram_of(values, range, unit));
    return result;
}

Result families_of(const Cloth& cloth)
{
    std::map<std::string, std::size_t> counts;
    for (const SpringFamily family : cloth.springs.family) ++counts[std::string(name_of(family))];
    Result result = Result::tree();
    for (const auto& [family, count] : counts) result.add(family, count);
    return result.unless_zero();
}

// An end at infinity is not a number.
Result ranges_of(const SpringSet& springs)
{
    Result all = Result::list();
    for (const StiffnessRange& range : springs.ranges) {
        Result one = Result::tree();
        one.label(fmt::format("from strain {} to {}", range.from, range.to));
        one.add("from", range.from).data_only();
        one.add("to", range.to).data_only();
        one.add("stiffness", result_of(range.stiffness, "N/m"));
        all.push(one);
    }
    return all.unless_zero();
}

// All kinds of parameters of an element by name, whether the cloth has them or not.
void add_parameters(Result& result, const Cloth& cloth, Element element)
{
    for (const ParameterKind& kind : parameter_kinds()) {
        if (kind.element != element) continue;
        if (kind.presence == ParameterPresence::per_range) {
            result.add("ranges", ranges_of(cloth.springs)).label("stiffness in ranges of strain");
            continue;
        }
        const std::vector<double>& values = values_of(cloth, Parameter{&kind, 0, 0});
        result.add(std::string(kind.name), result_of(values, std::string(kind.unit)));
    }
}

// Triangles or hinges; nothing where there are none.
Result elements_of(const Cloth& cloth, Element element)
{
    const std::size_t count = element_count(cloth, element);
    if (count == 0) return {};
    Result result = Result::tree();
    result.add("count", count);
    if (element == Element::triangle) {
        result.add("damping_kind", name_of(cloth.triangles.damping_kind)).label("damping against");
    }
    add_parameters(result, cloth, element);
    return result;
}

Result result_of(const Sheet& sheet)
{
    Result result = Result::tree();
    result.add("length", sheet.length, "m");
    result.add("width", sheet.width, "m");
    result.add("mass", sheet.mass, "kg");
    return result;
}

void add_cloth(Result& result, const Cloth& cloth)
{
    const SpringSet& springs = cloth.springs;
    Result grid;
    if (cloth.grid) grid = std::vector<int>{cloth.grid->rows, cloth.grid->cols};
    result.add("particles", cloth.particle_count());
    result.add("grid", grid).label("grid, rows and columns");
    result.add("springs", springs.spring_count());
    result.add("largest_stable_step", largest_stable_step(cloth, {}), "s");
    result.add("sheet", result_of(cloth.sheet));
    result.add("families", families_of(cloth)).label("springs by family");
    add_parameters(result, cloth, Element::spring);
    result.add("triangles", elements_of(cloth, Element::triangle));
    result.add("hinges", elements_of(cloth, Element::hinge));
}

// A cloth as a file of its own or in the folder of a run, with what is known of its making.
struct InspectedCloth {
    std::string file;
    std::optional<std::filesystem::path> folder;
    std::optional<MotionReader> motion{};  // that a run learned from
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

int inspect_cloth(const InspectArguments& arguments, const InspectedCloth& inspected)
{
    const Cloth cloth = read_cloth(inspected.file);
    const int version = cloth_file_version(cloth);
    Result result = Result::tree();
    result.label(fmt::format("{}: cloth, version {}", inspected.file, version));
    result.add("kind", inspected.folder ? "run" : "cloth").data_only();
    result.add("version", version).data_only();
    for (const char* key : {"rollouts", "landmarks", "frames", "dt", "stride", "seed"}) {
        result.add(key, {});  // those of a motion
    }
    add_cloth(result, cloth);
    if (cloth.errors && cloth.springs.spring_count() > 0) {
        result.add("determination",
                   determination_result(cloth, inspected.motion ? &*inspected.motion : nullptr,
                                        arguments.common));
        result.add("picture", write_picture(inspected, cloth, arguments.common))
            .label("the errors of all springs are drawn in");
    } else {
        result.add("determination", {});
        result.add("picture", {});
        if (inspected.folder) {
            result.say("how well it is known was not learned: train --method linear does");
        }
    }
    print(arguments.common, result);
    return kDone;
}

// The motion may have gone since, or changed; the cloth can be looked at all the same.
std::optional<MotionReader> motion_of_run(const RunFolder& folder, const CommonOptions& common)
{
    const std::string path = text_setting(folder.config(), "motion");
    try {
        return MotionReader(path);
    } catch (const Error& error) {
        note(common, fmt::format("the motion of this run cannot be read ({}); gravity, drag and "
                                 "wind are taken to be the usual ones",
                                 error.what()));
        return {};
    }
}

int inspect_run(const InspectArguments& arguments)
{
    const RunFolder folder(arguments.file);
    std::optional<MotionReader> motion = motion_of_run(folder, arguments.common);
    std::filesystem::path cloth = folder.path() / "cloth.json";
    const std::filesystem::path linear = folder.path() / "linear.json";
    if (std::filesystem::exists(linear) && !read_cloth(cloth).errors) {
        note(arguments.common,
             "cloth.json grew out of the homogeneous network and has no standard errors; this is "
             "the linear answer, linear.json");
        cloth = linear;
    }
    return inspect_cloth(arguments, {cloth.string(), folder.path(), std::move(motion)});
}

// What the numbers of a motion span, over some or all of its rollouts.
struct MotionRanges {
    std::size_t rollouts_read = 0;
    Range frames, handles, x, y, z, speed, acceleration;
    std::size_t places = 0, missing = 0;                          // landmarks in all frames
    std::vector<std::pair<std::size_t, std::size_t>> never_seen;  // rollout and landmark

    double gap_share() const { return places == 0 ? 0 : double(missing) / double(places); }
};

void count_gaps(MotionRanges& ranges, const Rollout& rollout, std::size_t number)
{
    for (std::size_t l = 0; l < rollout.landmark_count(); ++l) {
        std::size_t missing = 0;
        for (std::size_t f = 0; f < rollout.frame_count; ++f) missing += !rollout.seen(f, l);
        ranges.places += rollout.frame_count;
        ranges.missing += missing;
        if (missing == rollout.frame_count) ranges.never_seen.push_back({number, l});
    }
}

void add_rollout(MotionRanges& ranges, const Rollout& rollout, std::size_t number)
{
    ++ranges.rollouts_read;
    ranges.handles.add(double(rollout.handles.particles.size()));
    count_gaps(ranges, rollout, number);
    for (std::size_t i = 0; i < rollout.position.size(); i += 3) {
        if (std::isnan(rollout.position[i])) continue;
        ranges.x.add(rollout.position[i]);
        ranges.y.add(rollout.position[i + 1]);
        ranges.z.add(rollout.position[i + 2]);
    }
    const auto norms = [](const std::vector<float>& values, Range& range) {
        for (std::size_t i = 0; i < values.size(); i += 3) {
            if (std::isnan(values[i])) continue;
            range.add(std::hypot(values[i], values[i + 1], values[i + 2]));
        }
    };
    norms(rollout.velocity, ranges.speed);
    norms(rollout.acceleration, ranges.acceleration);
}

MotionRanges ranges_of(const MotionReader& motion, const InspectArguments& arguments)
{
    constexpr std::size_t kSample = 16;
    MotionRanges ranges;
    const std::size_t count = motion.rollout_count();
    for (std::size_t r = 0; r < count; ++r) ranges.frames.add(double(motion.frame_count(r)));
    const std::size_t reads = arguments.full ? count : std::min(count, kSample);
    const Progress progress = show_progress(arguments.common.quiet);
    for (std::size_t i = 0; i < reads; ++i) {
        const std::size_t number = i * count / reads;
        add_rollout(ranges, motion.read(number), number);
        progress.report({"inspect", double(i + 1), double(reads), "rollouts", {}});
    }
    return ranges;
}

Result result_of(const Vec3d& v)
{
    return std::vector<double>{v.x, v.y, v.z};
}

Result never_seen_result(const MotionRanges& ranges)
{
    Result all = Result::list();
    for (const auto& [rollout, landmark] : ranges.never_seen) {
        all.push(std::vector<std::size_t>{rollout, landmark});
    }
    return all.first(8).unless_zero();
}

Result source_result(const MotionHeader& header, const std::string& file)
{
    if (header.source_cloth.empty()) return {};
    Result result = Result::tree();
    add_cloth(result, cloth_from_json(header.source_cloth, file + ": source cloth"));
    return result;
}

Result result_of(const std::string& file, const MotionReader& motion, const MotionRanges& ranges)
{
    const MotionHeader& header = motion.header();
    const Environment& e = header.environment;
    const Result source = source_result(header, file);
    Result result = Result::tree(), springs;
    if (const Result* count = source.find("springs")) springs = *count;
    result.label(fmt::format("{}: motion, version {}", file, motion.version()));
    result.add("kind", "motion").data_only();
    result.add("version", motion.version()).data_only();
    result.add("rollouts", motion.rollout_count());
    result.add("rollouts_planned", header.rollouts_planned).data_only();
    if (header.rollouts_planned > int(motion.rollout_count())) {
        result.say(fmt::format("of {} planned: interrupted, --resume finishes it",
                               header.rollouts_planned));
    }
    result.add("frames", std::size_t(ranges.frames.low)).label("frames of the shortest");
    result.add("frames_longest", std::size_t(ranges.frames.high)).label("frames of the longest");
    result.add("dt", header.dt, "s").label("time step");
    result.add("stride", header.stride).label("time steps per frame");
    result.add("landmarks", header.landmark_count());
    result.add("particles", {});
    result.add("springs", springs).data_only();
    result.add("seed", header.seed);
    result.add("contact", header.contact);
    result.add("velocities", header.velocities).label("velocities stored");
    result.add("gaps", ranges.gap_share()).label("landmarks missing").percent();
    result.add("never_seen", never_seen_result(ranges)).label("never seen: rollout, landmark");
    result.add("gravity", result_of(e.gravity), "m/s^2");
    result.add("drag", e.drag, "1/s");
    result.add("wind", result_of(e.wind), "m/s");
    result.add("rollouts_read", ranges.rollouts_read).label("rollouts read for the ranges below");
    result.add("sheet", result_of(header.sheet));
    result.add("handles", result_of(ranges.handles, ""));
    result.add("x", result_of(ranges.x, "m"));
    result.add("y", result_of(ranges.y, "m")).label("y, up");
    result.add("z", result_of(ranges.z, "m"));
    result.add("speed", result_of(ranges.speed, "m/s"));
    result.add("acceleration", result_of(ranges.acceleration, "m/s^2"));
    result.add("source_cloth", source);
    return result;
}

int run_inspect(const InspectArguments& arguments)
{
    if (std::filesystem::is_directory(arguments.file)) return inspect_run(arguments);
    if (file_kind(arguments.file) == FileKind::cloth) {
        return inspect_cloth(arguments, {arguments.file, {}});
    }
    const MotionReader motion(arguments.file);
    const MotionRanges ranges = ranges_of(motion, arguments);
    print(arguments.common, result_of(arguments.file, motion, ranges));
    return kDone;
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
    add_common(flags, arguments->common);
    return {flags, [arguments] { return run_inspect(*arguments); }};
}

}  // namespace springtime::app
