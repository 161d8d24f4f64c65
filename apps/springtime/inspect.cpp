#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

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

nlohmann::json json_of(const Range& range)
{
    if (range.count == 0) return nullptr;
    return {{"min", range.low}, {"max", range.high}, {"mean", range.mean()}};
}

void print_histogram(const std::string& title, const std::vector<double>& values)
{
    const Range range = range_of(values);
    fmt::print("{}: {:.4g} to {:.4g}, mean {:.4g}\n", title, range.low, range.high, range.mean());
    if (range.low == range.high) return;
    constexpr int kBins = 12, kWidth = 44;
    std::vector<std::size_t> bins(kBins, 0);
    const double step = (range.high - range.low) / kBins;
    for (const double value : values) {
        ++bins[std::min(kBins - 1, static_cast<int>((value - range.low) / step))];
    }
    const double most = double(*std::max_element(bins.begin(), bins.end()));
    for (int b = 0; b < kBins; ++b) {
        const int bar = static_cast<int>(std::ceil(kWidth * double(bins[b]) / most));
        fmt::print("  {:>9.4g} .. {:<9.4g} {:<{}} {}\n", range.low + b * step,
                   range.low + (b + 1) * step, std::string(bar, '#'), kWidth, bins[b]);
    }
}

std::map<std::string, std::size_t> family_counts(const Cloth& cloth)
{
    std::map<std::string, std::size_t> counts;
    for (const SpringFamily family : cloth.springs.family) ++counts[std::string(name_of(family))];
    return counts;
}

nlohmann::json triangles_json(const TriangleSet& triangles)
{
    if (triangles.triangle_count() == 0) return nullptr;
    return {{"count", triangles.triangle_count()},
            {"shear_stiffness", json_of(range_of(triangles.shear_stiffness))},
            {"area_stiffness", json_of(range_of(triangles.area_stiffness))},
            {"damping", json_of(range_of(triangles.damping))},
            {"damping_kind", name_of(triangles.damping_kind)}};
}

nlohmann::json hinges_json(const HingeSet& hinges)
{
    if (hinges.hinge_count() == 0) return nullptr;
    return {{"count", hinges.hinge_count()},
            {"stiffness", json_of(range_of(hinges.stiffness))},
            {"damping", json_of(range_of(hinges.damping))}};
}

// JSON has no word for infinity.
nlohmann::json ranges_json(const SpringSet& springs)
{
    auto all = nlohmann::json::array();
    const auto end = [](double strain) {
        return std::isinf(strain) ? nlohmann::json() : nlohmann::json(strain);
    };
    for (const StiffnessRange& range : springs.ranges) {
        all.push_back({{"from", end(range.from)},
                       {"to", end(range.to)},
                       {"stiffness", json_of(range_of(range.stiffness))}});
    }
    return all;
}

nlohmann::json cloth_json(const Cloth& cloth)
{
    nlohmann::json result{{"sheet",
                           {{"length", cloth.sheet.length},
                            {"width", cloth.sheet.width},
                            {"mass", cloth.sheet.mass}}},
                          {"grid", nullptr},
                          {"springs", cloth.springs.spring_count()},
                          {"families", family_counts(cloth)},
                          {"stiffness", json_of(range_of(cloth.springs.stiffness))},
                          {"damping", json_of(range_of(cloth.springs.damping))},
                          {"ranges", ranges_json(cloth.springs)},
                          {"isotropic_damping", json_of(range_of(cloth.springs.isotropic_damping))},
                          {"triangles", triangles_json(cloth.triangles)},
                          {"hinges", hinges_json(cloth.hinges)},
                          {"largest_stable_step", largest_stable_step(cloth, {})}};
    if (cloth.grid) result["grid"] = {cloth.grid->rows, cloth.grid->cols};
    return result;
}

void print_springs(const SpringSet& springs)
{
    if (springs.spring_count() == 0) return;
    print_histogram("stiffness [N/m]", springs.stiffness);
    for (const StiffnessRange& range : springs.ranges) {
        print_histogram(fmt::format("stiffness from strain {} to {} [N/m]", range.from, range.to),
                        range.stiffness);
    }
    print_histogram("damping [N s/m]", springs.damping);
    if (!springs.isotropic_damping.empty()) {
        print_histogram("isotropic damping [N s/m]", springs.isotropic_damping);
    }
}

void print_triangles(const TriangleSet& triangles)
{
    if (triangles.triangle_count() == 0) return;
    print_histogram("shear stiffness of triangles [N/m]", triangles.shear_stiffness);
    print_histogram("area stiffness of triangles [N/m]", triangles.area_stiffness);
    print_histogram(
        fmt::format("damping of triangles against {} [N s/m]", name_of(triangles.damping_kind)),
        triangles.damping);
}

void print_hinges(const HingeSet& hinges)
{
    if (hinges.hinge_count() == 0) return;
    print_histogram("stiffness of hinges [N m]", hinges.stiffness);
    print_histogram("damping of hinges [N m s]", hinges.damping);
}

void print_cloth(const Cloth& cloth)
{
    fmt::print("sheet      {:.6g} m x {:.6g} m, {:.6g} kg\n", cloth.sheet.length, cloth.sheet.width,
               cloth.sheet.mass);
    fmt::print("particles  {}", cloth.particle_count());
    if (cloth.grid) fmt::print(" (grid {} x {})", cloth.grid->rows, cloth.grid->cols);
    fmt::print("\nsprings    {}", cloth.springs.spring_count());
    for (const auto& [family, count] : family_counts(cloth)) fmt::print(", {} {}", count, family);
    if (cloth.triangles.triangle_count() > 0 || cloth.hinges.hinge_count() > 0) {
        fmt::print("\ntriangles  {}\nhinges     {}", cloth.triangles.triangle_count(),
                   cloth.hinges.hinge_count());
    }
    fmt::print("\nstable up to a step of about {:.3g} s\n", largest_stable_step(cloth, {}));
    print_springs(cloth.springs);
    print_triangles(cloth.triangles);
    print_hinges(cloth.hinges);
}

// A cloth as a file of its own or in the folder of a run, with what is known of its making.
struct InspectedCloth {
    std::string file;
    std::optional<std::filesystem::path> folder;
    std::optional<MotionReader> motion{};  // that a run learned from
};

// A picture goes into a run folder, but nowhere else, and if it cannot, the rest is still told.
std::string write_picture(const InspectedCloth& inspected, const Cloth& cloth,
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
    std::optional<Determination> determination;
    std::string picture;
    if (cloth.errors && cloth.springs.spring_count() > 0) {
        determination = determination_of(cloth, inspected.motion ? &*inspected.motion : nullptr,
                                         arguments.common);
        picture = write_picture(inspected, cloth, arguments.common);
    }
    if (!arguments.common.json) {
        fmt::print("{}: cloth, version {}\n", inspected.file, cloth_file_version(cloth));
        print_cloth(cloth);
        if (determination) {
            print_determination(cloth, *determination);
        } else if (inspected.folder) {
            fmt::print("how well it is known was not learned: train --method linear does\n");
        }
        if (!picture.empty()) fmt::print("the errors of all springs are drawn in {}\n", picture);
        return kDone;
    }
    nlohmann::json result = cloth_json(cloth);
    result.update({{"kind", inspected.folder ? "run" : "cloth"},
                   {"version", cloth_file_version(cloth)},
                   {"particles", cloth.particle_count()},
                   {"rollouts", nullptr},
                   {"landmarks", nullptr},
                   {"frames", nullptr},
                   {"dt", nullptr},
                   {"stride", nullptr},
                   {"seed", nullptr},
                   {"determination", nullptr},
                   {"picture", picture.empty() ? nlohmann::json() : nlohmann::json(picture)}});
    if (determination) result["determination"] = determination_json(cloth, *determination);
    fmt::print("{}\n", result.dump());
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
    ProgressBar bar("inspect", "rollouts", arguments.common.quiet);
    for (std::size_t i = 0; i < reads; ++i) {
        const std::size_t number = i * count / reads;
        add_rollout(ranges, motion.read(number), number);
        if (!bar.show(double(i + 1), double(reads))) throw Failure("interrupted");
    }
    return ranges;
}

nlohmann::json motion_json(const MotionReader& motion, const MotionRanges& ranges)
{
    const MotionHeader& header = motion.header();
    const Environment& e = header.environment;
    nlohmann::json result{{"kind", "motion"},
                          {"version", motion.version()},
                          {"rollouts", motion.rollout_count()},
                          {"rollouts_planned", header.rollouts_planned},
                          {"contact", header.contact},
                          {"velocities", header.velocities},
                          {"gaps", ranges.gap_share()},
                          {"never_seen", ranges.never_seen},
                          {"landmarks", header.landmark_count()},
                          {"particles", nullptr},
                          {"springs", nullptr},
                          {"frames", std::size_t(ranges.frames.low)},
                          {"frames_longest", std::size_t(ranges.frames.high)},
                          {"dt", header.dt},
                          {"stride", header.stride},
                          {"seed", header.seed},
                          {"sheet",
                           {{"length", header.sheet.length},
                            {"width", header.sheet.width},
                            {"mass", header.sheet.mass}}},
                          {"gravity", {e.gravity.x, e.gravity.y, e.gravity.z}},
                          {"drag", e.drag},
                          {"wind", {e.wind.x, e.wind.y, e.wind.z}},
                          {"handles", json_of(ranges.handles)},
                          {"rollouts_read", ranges.rollouts_read},
                          {"x", json_of(ranges.x)},
                          {"y", json_of(ranges.y)},
                          {"z", json_of(ranges.z)},
                          {"speed", json_of(ranges.speed)},
                          {"acceleration", json_of(ranges.acceleration)},
                          {"source_cloth", nullptr}};
    if (!header.source_cloth.empty()) {
        const Cloth cloth = cloth_from_json(header.source_cloth, "source cloth");
        result["source_cloth"] = cloth_json(cloth);
        result["springs"] = cloth.springs.spring_count();
    }
    return result;
}

void print_seen(const MotionHeader& header, const MotionRanges& ranges)
{
    fmt::print("stored     {}", header.velocities ? "positions and velocities" : "positions only");
    if (header.gaps) fmt::print("; {:.3g} % missing", 100 * ranges.gap_share());
    fmt::print("\n");
    constexpr std::size_t kMost = 8;
    for (std::size_t i = 0; i < std::min(kMost, ranges.never_seen.size()); ++i) {
        const auto& [rollout, landmark] = ranges.never_seen[i];
        fmt::print("           landmark {} is never seen in rollout {}\n", landmark, rollout);
    }
    if (ranges.never_seen.size() > kMost) {
        fmt::print("           and {} more like it\n", ranges.never_seen.size() - kMost);
    }
}

void print_motion(const std::string& file, const MotionReader& motion, const MotionRanges& ranges)
{
    const MotionHeader& header = motion.header();
    const Environment& e = header.environment;
    fmt::print("{}: motion, version {}\n", file, motion.version());
    fmt::print("rollouts   {}", motion.rollout_count());
    if (header.rollouts_planned > int(motion.rollout_count())) {
        fmt::print(" of {} planned: interrupted, --resume finishes it", header.rollouts_planned);
    }
    fmt::print("\nframes     {:.0f}", ranges.frames.low);
    if (ranges.frames.high != ranges.frames.low) fmt::print(" to {:.0f}", ranges.frames.high);
    fmt::print(" of {:.6g} s (step {:.6g} s, every {}th stored)\n", header.frame_interval(),
               header.dt, header.stride);
    fmt::print("landmarks  {}, {:.0f} to {:.0f} of them handles\n", header.landmark_count(),
               ranges.handles.low, ranges.handles.high);
    print_seen(header, ranges);
    fmt::print("sheet      {:.6g} m x {:.6g} m, {:.6g} kg\n", header.sheet.length,
               header.sheet.width, header.sheet.mass);
    fmt::print(
        "world      gravity ({:.4g}, {:.4g}, {:.4g}) m/s^2, drag {:.4g} 1/s, wind ({:.4g}, "
        "{:.4g}, {:.4g}) m/s\n",
        e.gravity.x, e.gravity.y, e.gravity.z, e.drag, e.wind.x, e.wind.y, e.wind.z);
    fmt::print("seed       {}\n", header.seed);
    fmt::print("ranges, over {} of {} rollouts\n", ranges.rollouts_read, motion.rollout_count());
    const auto print_range = [](const char* name, const Range& range) {
        if (range.count > 0)
            fmt::print("  {:<22}{:>10.4g} .. {:.4g}\n", name, range.low, range.high);
    };
    print_range("x [m]", ranges.x);
    print_range("y, up [m]", ranges.y);
    print_range("z [m]", ranges.z);
    print_range("speed [m/s]", ranges.speed);
    print_range("acceleration [m/s^2]", ranges.acceleration);
    if (header.source_cloth.empty()) {
        fmt::print("source cloth unknown\n");
        return;
    }
    const Cloth cloth = cloth_from_json(header.source_cloth, file + ": source cloth");
    fmt::print("source cloth\n");
    print_cloth(cloth);
}

int run_inspect(const InspectArguments& arguments)
{
    if (std::filesystem::is_directory(arguments.file)) return inspect_run(arguments);
    if (file_kind(arguments.file) == FileKind::cloth) {
        return inspect_cloth(arguments, {arguments.file, {}});
    }
    const MotionReader motion(arguments.file);
    const MotionRanges ranges = ranges_of(motion, arguments);
    if (arguments.common.json) {
        fmt::print("{}\n", motion_json(motion, ranges).dump());
    } else {
        print_motion(arguments.file, motion, ranges);
    }
    return kDone;
}

}  // namespace

Verb add_inspect(CLI::App& root)
{
    auto arguments = std::make_shared<InspectArguments>();
    CLI::App* verb = root.add_subcommand("inspect",
                                         "Tell what a motion or cloth file or the folder of a run "
                                         "holds, or what ails it");
    verb->add_option("file", arguments->file, "Motion or cloth file, or run folder")
        ->required()
        ->type_name("FILE|FOLDER");
    verb->add_flag("--full", arguments->full, "Read every rollout, not 16 of them, for the ranges");
    add_common(*verb, arguments->common);
    return {verb, [arguments] { return run_inspect(*arguments); }, {}};
}

}  // namespace springtime::app
