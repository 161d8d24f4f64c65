#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "options.h"
#include "progress.h"
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

// A run folder stands for the cloth in it.
fs::path cloth_or_motion(const std::string& file)
{
    const fs::path path = file;
    if (!fs::is_directory(path)) return path;
    const fs::path cloth = path / "cloth.json";
    if (fs::exists(cloth)) return cloth;
    throw Error("{}: a folder without cloth.json; give a run folder, a cloth file or a motion file",
                file);
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

void check_not_input(const fs::path& out, const ExportArguments& arguments)
{
    std::error_code ignored;  // what does not exist is no file at all
    for (const std::string& input : {arguments.file, arguments.maps}) {
        if (input.empty() || !fs::equivalent(out, input, ignored)) continue;
        throw Error("--out {}: is read as well; give another name", out.string());
    }
}

// A folder may be named with a slash behind it.
fs::path out_path(const ExportArguments& arguments, const fs::path& file, ExportFormat format,
                  bool motion)
{
    const fs::path path = arguments.out;
    if (path.empty()) return default_export_path(file, format, motion);
    return path.has_filename() ? path : path.parent_path();
}

// ---- Results ----

nlohmann::json json_of(const ExportReport& report, ExportFormat format)
{
    nlohmann::json files = nlohmann::json::array(), maps = nlohmann::json::object();
    for (const fs::path& file : report.files) files.push_back(file.string());
    for (const WeightMap& map : report.maps) {
        maps[map.name] = {{"low", map.low}, {"high", map.high}, {"unit", map.unit}};
    }
    return {{"format", name_of(format)},    {"files", files},
            {"frames", report.frame_count}, {"points", report.point_count},
            {"faces", report.face_count},   {"surface", report.surface},
            {"filled", report.filled},      {"maps", maps},
            {"remarks", report.remarks}};
}

void print_report(const ExportReport& report)
{
    for (const fs::path& file : report.files) fmt::print("{}\n", file.string());
    fmt::print("  {} frames, {} points, {} faces ({})\n", report.frame_count, report.point_count,
               report.face_count, report.surface);
    for (const WeightMap& map : report.maps) {
        if (map.constant()) {
            fmt::print("  {:<28} {:.6g} {} everywhere: weight 1\n", map.name, map.low, map.unit);
        } else {
            fmt::print("  {:<28} 0 is {:.6g}, 1 is {:.6g} {}\n", map.name, map.low, map.high,
                       map.unit);
        }
    }
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
    if (!arguments.maps.empty()) options.maps = read_cloth(cloth_or_motion(arguments.maps));
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
    const MotionSource motion = source_of(reader);
    const std::vector<std::size_t> rollouts = rollouts_of(arguments, reader.rollout_count());
    MotionExport options = motion_export(arguments, format);
    const fs::path out = out_path(arguments, file, format, true);
    ExportReport report;
    for (const std::size_t rollout : rollouts) {
        options.rollout = rollout;
        options.out = arguments.rollout == "all" ? numbered(out, rollout) : out;
        ProgressBar bar("export " + options.out.filename().string(), "frames",
                        arguments.common.quiet);
        add_report(report, export_motion(motion, options, [&](double done, double total) {
                       return bar.show(done, total);
                   }));
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
    const fs::path file = cloth_or_motion(arguments.file);
    const FileKind kind = file_kind(file);
    check_flags(arguments, kind);
    check_not_input(arguments.out, arguments);
    const ExportReport report = kind == FileKind::cloth
                                    ? export_cloth_file(arguments, file, format)
                                    : export_motion_file(arguments, file, format);
    if (arguments.common.json) {
        fmt::print("{}\n", json_of(report, format).dump());
    } else {
        print_report(report);
    }
    for (const std::string& text : report.remarks) note(arguments.common, text);
    return kDone;
}

void add_motion_flags(CLI::App& verb, ExportArguments& arguments)
{
    verb.add_option("--rollout", arguments.rollout,
                    "Rollout of a motion file, or all: then each has a file of its own")
        ->type_name("N|all");
    verb.add_option("--fps", arguments.fps,
                    "Frames per second; by default those stored. What is no whole part of these is "
                    "interpolated linearly")
        ->default_str("");
    verb.add_option("--from", arguments.from, "Begin at this time of the motion [s]")
        ->default_str("");
    verb.add_option("--until", arguments.until, "End at this time of the motion [s]")
        ->default_str("");
    verb.add_flag("--fill", arguments.fill, "Draw missing landmarks on straight lines in time");
    verb.add_option("--layout", arguments.layout, "csv: one row per frame, or one per point")
        ->check(CLI::IsMember({"wide", "long"}));
    verb.add_option("--maps", arguments.maps,
                    "Cloth with the same particles, whose weight maps go along (ply, glb, usda)")
        ->type_name("FILE");
}

}  // namespace

Verb add_export(CLI::App& root)
{
    auto arguments = std::make_shared<ExportArguments>();
    CLI::App* verb = root.add_subcommand(
        "export", "Turn motion, or a cloth with its weight maps, into files of other programs");
    verb->add_option("file", arguments->file, "Motion file, cloth file or run folder")
        ->required()
        ->type_name("FILE");
    verb->add_option("--to", arguments->to,
                     "Format: obj, ply, usda, glb, csv, npz; of motion also mdd, pc2; of a cloth "
                     "also png. docs/export.md says what each holds")
        ->required()
        ->type_name("FORMAT");
    verb->add_option("--out", arguments->out,
                     "What to write; by default it lies beside the input and has its name")
        ->type_name("PATH");
    add_motion_flags(*verb, *arguments);
    verb->add_option("--scale", arguments->scale, "Weight maps: between lowest and highest value")
        ->check(CLI::IsMember({"linear", "log"}));
    verb->add_option("--color", arguments->color,
                     "glb: the weight map that is the vertex colour too; by default stretch")
        ->default_str("")
        ->type_name("MAP");
    verb->add_option("--size", arguments->size, "png: pixels along each side");
    verb->add_flag("--overwrite", arguments->overwrite, "Replace what is there");
    add_common(*verb, arguments->common);
    return {verb, [arguments] { return run_export(*arguments); }, {}};
}

}  // namespace springtime::app
