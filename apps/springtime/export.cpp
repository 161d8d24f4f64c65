#include <charconv>
#include <filesystem>

#include "options.h"
#include "outputs.h"
#include "progress.h"
#include "springtime/export.h"
#include "verbs.h"

namespace springtime::app {

namespace {

namespace fs = std::filesystem;

struct ExportArguments {
    CommonOptions common;
    std::string file, to, out, rollout, layout = "wide", maps, color, scale = "linear";
    std::optional<double> fps, from, until;
    int size = 512;
    bool fill = false, overwrite = false;
};

MapScale scale_of(const ExportArguments& arguments)
{
    return arguments.scale == "log" ? MapScale::logarithmic : MapScale::linear;
}

std::string flag_text(const char* name, bool given)
{
    return given ? fmt::format(" {}", name) : "";
}

void refuse(const std::string& flags, const std::string& file, const char* what, const char* other)
{
    if (flags.empty()) return;
    throw Error("{}: is {}, but{} is about {}; leave that out", file, what, flags, other);
}

// A folder may be named with a slash behind it.
fs::path out_path(const ExportArguments& arguments, const fs::path& file, ExportFormat format,
                  bool motion)
{
    const fs::path path = arguments.out;
    if (path.empty()) return default_export_path(file, format, motion);
    return path.has_filename() ? path : path.parent_path();
}

// ---- The result ----

Result result_of(const WeightMap& map)
{
    Result result = Result::tree();
    result.add("low", map.low).label("0 is");
    result.add("high", map.high).label("1 is");
    result.add("unit", map.unit);
    return result;
}

Result result_of(const ExportReport& report, ExportFormat format)
{
    Result files = Result::list(), maps = Result::tree(), result = Result::tree();
    for (const fs::path& file : report.files) files.push(file.string());
    for (const WeightMap& map : report.maps) maps.add(map.name, result_of(map));
    result.add("format", name_of(format));
    result.add("files", files);
    result.add("frames", report.frame_count);
    result.add("points", report.point_count);
    result.add("faces", report.face_count);
    result.add("surface", report.surface);
    result.add("filled", report.filled).label("missing landmarks drawn").unless_zero();
    result.add("maps", maps).label("weight maps").unless_zero();
    result.add("remarks", report.remarks).data_only();
    return result;
}

// ---- A motion ----

// Those that --rollout means.
std::vector<std::size_t> rollouts_of(const ExportArguments& arguments, std::size_t count)
{
    const std::string& text = arguments.rollout;
    if (text.empty() && count > 1) {
        throw Error("{}: has {} rollouts; say which with --rollout 0 to {}, or --rollout all",
                    arguments.file, count, count - 1);
    }
    if (text.empty()) return {0};
    if (text == "all") {
        std::vector<std::size_t> all;
        for (std::size_t r = 0; r < count; ++r) all.push_back(r);
        return all;
    }
    std::size_t rollout = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), rollout);
    if (status == std::errc() && end == text.data() + text.size() && rollout < count) {
        return {rollout};
    }
    throw Error("--rollout '{}': {} has 0 to {}; give one of them, or all", text, arguments.file,
                count - 1);
}

// NAME-000003.EXT
fs::path numbered(const fs::path& out, std::size_t rollout)
{
    return out.parent_path() /
           fmt::format("{}-{:06}{}", out.stem().string(), rollout, out.extension().string());
}

MotionExport motion_export(const ExportArguments& arguments, ExportFormat format)
{
    MotionExport options;
    options.format = format;
    options.rate = arguments.fps;
    options.from = arguments.from;
    options.until = arguments.until;
    options.fill = arguments.fill;
    options.long_rows = arguments.layout == "long";
    options.overwrite = arguments.overwrite;
    options.inputs.push_back(arguments.file);
    if (!arguments.maps.empty()) {
        const fs::path maps = in_run_folder(arguments.maps);
        options.maps = read_cloth(maps);
        options.inputs.push_back(maps);
    }
    options.scale = scale_of(arguments);
    options.color = arguments.color;
    options.source = arguments.file;
    return options;
}

// Of all rollouts that were exported.
void add_report(ExportReport& all, const ExportReport& one)
{
    ExportReport sum = one;
    sum.files.insert(sum.files.begin(), all.files.begin(), all.files.end());
    sum.frame_count += all.frame_count;
    sum.filled += all.filled;
    sum.remarks.insert(sum.remarks.begin(), all.remarks.begin(), all.remarks.end());
    all = std::move(sum);
}

ExportReport export_motion_file(const ExportArguments& arguments, const fs::path& file,
                                ExportFormat format)
{
    const MotionReader reader(file);
    const Motion motion = source_of(reader);
    warn_if_unfinished(file, motion);
    const std::vector<std::size_t> rollouts = rollouts_of(arguments, reader.rollout_count());
    MotionExport options = motion_export(arguments, format);
    const fs::path out = out_path(arguments, file, format, true);
    ExportReport report;
    for (const std::size_t rollout : rollouts) {
        options.rollout = rollout;
        options.out = arguments.rollout == "all" ? numbered(out, rollout) : out;
        const std::string label = "export " + options.out.filename().string();
        add_report(report,
                   export_motion(motion, options, show_progress(arguments.common.quiet, label)));
    }
    return report;
}

// ---- A cloth ----

ExportReport export_cloth_file(const ExportArguments& arguments, const fs::path& file,
                               ExportFormat format)
{
    ClothExport options;
    options.format = format;
    options.out = out_path(arguments, file, format, false);
    options.overwrite = arguments.overwrite;
    options.inputs.push_back(file);
    options.scale = scale_of(arguments);
    options.color = arguments.color;
    options.size = arguments.size;
    options.source = file.string();
    return export_cloth(read_cloth(file), options);
}

// ---- The verb ----

void check_flags(const ExportArguments& arguments, FileKind kind)
{
    if (kind == FileKind::cloth) {
        refuse(flag_text("--rollout", !arguments.rollout.empty()) +
                   flag_text("--fps", arguments.fps.has_value()) +
                   flag_text("--from", arguments.from.has_value()) +
                   flag_text("--until", arguments.until.has_value()) +
                   flag_text("--fill", arguments.fill) +
                   flag_text("--layout", arguments.layout != "wide") +
                   flag_text("--maps", !arguments.maps.empty()),
               arguments.file, "a cloth", "motion");
        return;
    }
    refuse(flag_text("--size", arguments.size != 512), arguments.file, "a motion",
           "pictures of a cloth");
}

int run_export(const ExportArguments& arguments)
{
    const ExportFormat format = export_format_named(arguments.to);
    const fs::path file = in_run_folder(arguments.file);
    const FileKind kind = file_kind(file);
    check_flags(arguments, kind);
    check_no_stream("--out", arguments.out);
    const ExportReport report = kind == FileKind::cloth
                                    ? export_cloth_file(arguments, file, format)
                                    : export_motion_file(arguments, file, format);
    print(arguments.common, result_of(report, format));
    for (const std::string& text : report.remarks) note(arguments.common, with_flags(text));
    return kDone;
}

void add_motion_flags(const Flags& flags, ExportArguments& arguments)
{
    const Flags rare = flags.in("Motion");
    flags
        .add("--rollout", arguments.rollout,
             "Rollout of a motion file, or all: then each has a file of its own")
        .type("N|all");
    flags
        .add("--fps", arguments.fps,
             "Frames per second; by default those stored. Frames that are not stored are "
             "interpolated linearly")
        .shows("");
    flags.add("--from", arguments.from, "Begin at this time of the motion [s]").shows("");
    flags.add("--until", arguments.until, "End at this time of the motion [s]").shows("");
    rare.add_switch("--fill", arguments.fill, "Draw missing landmarks on straight lines in time");
    rare.add("--layout", arguments.layout, "csv: one row per frame, or one per point")
        .one_of({"wide", "long"});
    rare.add("--maps", arguments.maps,
             "Cloth with the same particles, whose weight maps go along (ply, glb, usda)")
        .type("FILE");
}

}  // namespace

Verb add_export(CLI::App& root)
{
    auto arguments = std::make_shared<ExportArguments>();
    const Flags flags =
        add_verb(root, "export",
                 "Turn motion, or a cloth with its weight maps, into files of other programs");
    const Flags rare = flags.in("A cloth and its weight maps");
    flags.add("file", arguments->file, "Motion file, cloth file or run folder")
        .required()
        .type("FILE");
    flags
        .add("--to", arguments->to,
             "Format: obj, ply, usda, glb, csv, npz; of motion also mdd, pc2; of a cloth also png, "
             "and of one of triangles newton, arcsim, blender: parameters for these solvers. "
             "docs/export.md says what each holds")
        .required()
        .type("FORMAT");
    flags
        .add("--out", arguments->out,
             "What to write; by default it lies beside the input and has its name")
        .type("PATH");
    add_motion_flags(flags, *arguments);
    rare.add("--scale", arguments->scale, "Weight maps: between lowest and highest value")
        .one_of({"linear", "log"});
    rare.add("--color", arguments->color,
             "glb: the weight map that is the vertex colour too; by default stretch")
        .shows("")
        .type("MAP");
    rare.add("--size", arguments->size, "png: pixels along each side");
    add_overwrite(flags, arguments->overwrite);
    add_common(flags, arguments->common);
    return {flags, [arguments] { return run_export(*arguments); }};
}

}  // namespace springtime::app
