#include <algorithm>
#include <array>
#include <filesystem>

#include "config.h"
#include "options.h"
#include "outputs.h"
#include "progress.h"
#include "springtime/import.h"
#include "verbs.h"

namespace springtime::app {

namespace {

namespace fs = std::filesystem;

struct ImportArguments {
    CommonOptions common;
    EnvironmentOptions environment;
    ImportOptions run;
    std::vector<std::string> files, handle_paths;
    std::string handle_delay = "auto";
    std::string out = "motion.h5", grid, rest, rest_unit = "auto", unit = "auto",
                velocities = "estimate";
    long rest_frame = -1;
    double length = 0, width = 0, fps = 0, from = 0, until = 0;  // 0: not given
    bool raw_handles = false, overwrite = false;
    bool rest_given = false;  // on the command line, not in a file beside the data
    std::optional<Flags> flags;
};

// Flags that take no value: what follows them may be a file.
constexpr std::array kSwitches{"--column-order", "--keep-outliers",  "--raw-handles",
                               "--trust",        "--overwrite",      "--quiet",
                               "--json",         "--with-velocities"};

// The first argument that is a file and no value of a flag.
fs::path first_file(const std::vector<std::string>& given)
{
    bool is_value = false;
    for (const std::string& argument : given) {
        if (!argument.starts_with("-") && !is_value && fs::exists(argument)) return argument;
        is_value = argument.starts_with("--") && argument.find('=') == std::string::npos &&
                   std::find(kSwitches.begin(), kSwitches.end(), argument) == kSwitches.end();
    }
    return {};
}

fs::path folder_of(const fs::path& data)
{
    return fs::is_directory(data) ? data : data.parent_path();
}

// What lies beside the data: NAME.toml for NAME.csv, else import.toml in its folder.
std::string beside_the_data(const std::vector<std::string>& given)
{
    const fs::path file = first_file(given);
    if (file.empty()) return {};
    const fs::path folder = folder_of(file);
    const fs::path own = fs::path(file).replace_extension(".toml");
    if (!fs::is_directory(file) && fs::is_regular_file(own)) return own.string();
    const fs::path common = folder / "import.toml";
    return fs::is_regular_file(common) ? common.string() : std::string();
}

std::optional<double> unless_zero(double value)
{
    return value == 0 ? std::nullopt : std::optional(value);
}

std::optional<double> unit_from(const std::string& text, const char* flag)
{
    if (text == "auto") return std::nullopt;
    for (const auto& [name, metres] :
         {std::pair{"m", 1.0}, std::pair{"cm", 0.01}, std::pair{"mm", 0.001},
          std::pair{"in", 0.0254}, std::pair{"ft", 0.3048}}) {
        if (text == name) return metres;
    }
    try {
        std::size_t used = 0;
        const double metres = std::stod(text, &used);
        if (used == text.size() && metres > 0) return metres;
    } catch (const std::exception&) {
    }
    throw Error("{} '{}': give m, cm, mm, in, ft, a number of metres, or auto", flag, text);
}

std::optional<double> delay_from(const std::string& text)
{
    if (text == "auto") return std::nullopt;
    try {
        std::size_t used = 0;
        const double seconds = std::stod(text, &used);
        if (used == text.size()) return seconds;
    } catch (const std::exception&) {
    }
    throw Error("--handle-delay '{}': give a number of seconds, or auto", text);
}

// A rest file that is named beside the data lies there, not where the user stands.
fs::path rest_from(const ImportArguments& arguments)
{
    if (arguments.rest.empty() || arguments.rest_given) return arguments.rest;
    const fs::path beside = folder_of(arguments.files.front()) / arguments.rest;
    return fs::exists(beside) ? beside : fs::path(arguments.rest);
}

ImportOptions options_from(const ImportArguments& arguments)
{
    ImportOptions options = arguments.run;
    if (!arguments.grid.empty()) options.grid = parse_grid(arguments.grid);
    options.rest = rest_from(arguments);
    options.rest_unit = unit_from(arguments.rest_unit, "--rest-unit");
    options.unit = unit_from(arguments.unit, "--unit");
    if (arguments.rest_frame >= 0) options.rest_frame = std::size_t(arguments.rest_frame);
    options.length = unless_zero(arguments.length);
    options.width = unless_zero(arguments.width);
    options.frame_rate = unless_zero(arguments.fps);
    options.from = unless_zero(arguments.from);
    options.until = unless_zero(arguments.until);
    options.handle_path.assign(arguments.handle_paths.begin(), arguments.handle_paths.end());
    options.handle_delay = delay_from(arguments.handle_delay);
    options.environment = environment_from(arguments.environment, {});
    options.file_velocities = arguments.velocities == "file";
    options.smooth_handles = !arguments.raw_handles;
    options.overwrite = arguments.overwrite;
    options.config = merged_config(
        *arguments.flags, {"out", "quiet", "json", "threads", "overwrite", "device", "seed"});
    return options;
}

// Files that are read, but not named: those in folders, and a rest shape beside the data.
std::vector<fs::path> other_inputs(const std::vector<fs::path>& files, const ImportOptions& options)
{
    std::vector<fs::path> inputs{options.rest};
    for (const fs::path& folder : files) {
        if (!fs::is_directory(folder)) continue;
        for (const auto& entry : fs::directory_iterator(folder)) inputs.push_back(entry.path());
    }
    return inputs;
}

int run_import(const ImportArguments& arguments)
{
    const ImportOptions options = options_from(arguments);
    const std::vector<fs::path> files(arguments.files.begin(), arguments.files.end());
    check_outputs(*arguments.flags, {{"--out", arguments.out}}, arguments.overwrite,
                  other_inputs(files, options));
    const ImportReport report =
        import_motion(files, arguments.out, options, show_progress(arguments.common.quiet));
    Result result = report_of(report);
    result.label(arguments.out);
    result.add("out", arguments.out).data_only();
    print(arguments.common, result);
    for (const std::string& text : report.warnings) {
        note(arguments.common, "warning: " + with_flags(text));
    }
    return kDone;
}

void add_layout_flags(const Flags& flags, ImportArguments& arguments)
{
    const Flags rare = flags.in("The flat sheet");
    flags.add("--grid", arguments.grid,
              "Points are a grid over the whole sheet, listed row by row from the north-west "
              "corner: ROWSxCOLS");
    rare.add_switch("--column-order", arguments.run.column_order,
                    "The grid is listed column by column");
    flags
        .add("--rest", arguments.rest,
             "Rest shape: an OBJ or PLY file with a vertex for every point, or the motion file of "
             "an earlier import of the same points")
        .type("FILE");
    rare.add("--rest-unit", arguments.rest_unit,
             "What 1 in that OBJ or PLY file means, as --unit; auto: as in the files, or as fits "
             "the points");
    rare.add("--rest-frame", arguments.rest_frame,
             "Without --grid and --rest: the frame that is laid out flat; -1: the first that shows "
             "every point");
    flags.add("--length", arguments.length, std::string(kLengthText) + "; 0: as laid out flat");
    flags.add("--width", arguments.width, std::string(kWidthText) + "; 0: likewise");
    flags.add("--mass", arguments.run.mass, "Mass of the whole cloth [kg]");
}

void add_held_flags(const Flags& flags, ImportArguments& arguments)
{
    const auto add = [&](const char* flag, std::vector<std::string>& names, const char* text) {
        flags.add(flag, names, text).repeated().type("NAME");
    };
    add("--pinned", arguments.run.pinned,
        "Points that are held fast, can be repeated: a name of the file, or corner-nw, corner-ne, "
        "corner-sw, corner-se, edge-north, edge-south, edge-west, edge-east, center, "
        "particle:NUMBER, grid:ROW,COL");
    add("--driven", arguments.run.driven,
        "Points that are held and moved, likewise: their observed paths are prescribed");
    flags
        .add("--handle-path", arguments.handle_paths,
             "Where what moves the --driven points was, a file for every recording: CSV of a "
             "robot's poses (time, position, quaternion), or of a place for every driven point")
        .list()
        .type("FILES");
    flags.in("The files")
        .add("--handle-delay", arguments.handle_delay,
             "How long the recording is behind --handle-path [s]; auto: as fits")
        .type("SECONDS");
    add("--drop", arguments.run.dropped,
        "Points that are left out, likewise: a name of the file, the beginning of several (Wand*), "
        "or particle:NUMBER");
}

void add_file_flags(const Flags& flags, ImportArguments& arguments)
{
    const Flags rare = flags.in("The files");
    flags.add("--unit", arguments.unit,
              "What 1 in the file means: m, cm, mm, in, ft or a number of metres; auto: as the "
              "file says, or as fits the sheet");
    flags.add("--up", arguments.run.up,
              "Axis of the file that points up: x, y, z, -x, -y or -z; empty: as the format has "
              "it, or y");
    flags.add("--fps", arguments.fps,
              "Frames per second, of a file without times, or to resample to; 0: as the file says");
    rare.add("--from", arguments.from, "Begin this long after the first frame [s]");
    rare.add("--until", arguments.until, "End this long after the first frame [s]; 0: at the last");
    rare.add("--layout", arguments.run.csv_layout,
             "Of a CSV file: wide (x1, y1, z1, x2, ...), long (frame, point, x, y, z), blocks (all "
             "x, all y, all z)")
        .one_of({"auto", "wide", "long", "blocks"});
    rare.add_switch("--with-velocities", arguments.run.with_velocities,
                    "The second half of the columns of a CSV without names are velocities");
    rare.add("--time-column", arguments.run.time_column,
             "Column of a CSV that has the time stamps, by its name; empty: of several the one "
             "against which motion is smoother")
        .type("NAME");
    rare.add("--array", arguments.run.array, "Array of an .npz file that has several");
    rare.add("--velocities", arguments.velocities,
             "estimate: none are stored; file: those of the file, where it has them")
        .one_of({"estimate", "file"});
}

void add_cleaning_flags(const Flags& flags, ImportArguments& arguments)
{
    const Flags rare = flags.in("Cleaning");
    rare.add_switch("--keep-outliers", arguments.run.keep_outliers,
                    "Report outliers, but leave them in");
    rare.add_switch("--raw-handles", arguments.raw_handles, "Do not smooth the paths of --driven");
    rare.add_switch("--trust", arguments.run.trust,
                    "Take unit, axis and grid as stated, whatever the points look like");
    rare.add("--dt", arguments.run.longest_step,
             "Longest time step of a simulation [s]; what is stored is the longest below of which "
             "a whole number makes a frame");
}

}  // namespace

Verb add_import(CLI::App& root)
{
    auto arguments = std::make_shared<ImportArguments>();
    const Flags flags = add_verb(
        root, "import",
        "Make a motion file of tracked points: CSV, Motive CSV, NumPy, OBJ, PLY, MDD, PC2");
    arguments->flags = flags;
    flags
        .add("files", arguments->files,
             "Files of tracked points, each a recording; numbered OBJ or PLY files are one; or "
             "folders of such")
        .list()
        .required()
        .type("FILES");
    flags.add("--out", arguments->out, "Motion file to write").type("FILE");
    add_layout_flags(flags, *arguments);
    add_held_flags(flags, *arguments);
    add_file_flags(flags, *arguments);
    add_cleaning_flags(flags, *arguments);
    add_environment(flags, arguments->environment);
    add_overwrite(flags, arguments->overwrite);
    add_common(flags, arguments->common);
    const auto beside = [arguments](const std::vector<std::string>& given) {
        arguments->rest_given = has_argument(given, "rest");
        return beside_the_data(given);
    };
    return {flags, [arguments] { return run_import(*arguments); }, {}, {}, beside};
}

}  // namespace springtime::app
