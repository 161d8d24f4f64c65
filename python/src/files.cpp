#include <pybind11/stl.h>
#include <unistd.h>

#include "keywords.h"
#include "long_call.h"
#include "rooms.h"
#include "springtime/export.h"
#include "springtime/files.h"
#include "springtime/import.h"

// Files of other programs: import, export, and reports for browsers.
namespace springtime::python {

namespace {

namespace fs = std::filesystem;

// ---- Import

struct Imported {
    MotionPointer motion;
    ImportReport report;
};

const Keywords<ImportOptions>& import_keywords()
{
    using O = ImportOptions;
    static const Words<bool> velocities{{"estimate", false}, {"file", true}};
    static const Keywords<O> keywords("import_motion", [] {
        std::vector<std::pair<const char*, Keywords<O>::Setter>> all{
            {"grid", member(&O::grid)},
            {"column_order", member(&O::column_order)},
            {"rest", member(&O::rest)},
            {"rest_unit", member(&O::rest_unit)},
            {"rest_frame", member(&O::rest_frame)},
            {"length", member(&O::length)},
            {"width", member(&O::width)},
            {"mass", member(&O::mass)},
            {"pinned", member(&O::pinned)},
            {"driven", member(&O::driven)},
            {"dropped", member(&O::dropped)},
            {"handle_path", member(&O::handle_path)},
            {"handle_delay", member(&O::handle_delay)},
            {"unit", member(&O::unit)},
            {"up", member(&O::up)},
            {"frame_rate", member(&O::frame_rate)},
            {"from_time", member(&O::from)},  // `from` is a word of Python's own
            {"until", member(&O::until)},
            {"longest_step", member(&O::longest_step)},
            {"velocities", choice(&O::file_velocities, velocities)},
            {"keep_outliers", member(&O::keep_outliers)},
            {"smooth_handles", member(&O::smooth_handles)},
            {"trust", member(&O::trust)},
            {"csv_layout", member(&O::csv_layout)},
            {"with_velocities", member(&O::with_velocities)},
            {"time_column", member(&O::time_column)},
            {"array", member(&O::array)}};
        add_environment<O>(all);
        return all;
    }());
    return keywords;
}

// A file that goes when it is no longer needed.
class Scratch {
  public:
    Scratch()
    {
        std::string name = (fs::temp_directory_path() / "springtime-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) {
            throw Failure("{}: no folder can be made there", name);
        }
        folder_ = name;
    }
    ~Scratch()
    {
        std::error_code ignored;  // what stays is in the folder for such things
        fs::remove_all(folder_, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    fs::path path() const { return folder_ / "motion.h5"; }

  private:
    fs::path folder_;
};

Imported import_files(const py::object& files, const py::object& out, bool overwrite,
                      const py::object& progress, const py::kwargs& given)
{
    ImportOptions options;
    options.overwrite = overwrite;
    import_keywords().set(options, given);
    std::vector<fs::path> paths;
    take(files, "files", paths);
    const std::optional<fs::path> kept =
        out.is_none() ? std::nullopt : std::optional(path_of(out, "out"));
    return run_long(progress, [&](const Progress& told) {
        if (kept) {
            const ImportReport report = import_motion(paths, *kept, options, told);
            return Imported{std::make_shared<Motion>(open_motion(*kept)), report};
        }
        const Scratch scratch;
        const ImportReport report = import_motion(paths, scratch.path(), options, told);
        return Imported{in_memory(open_motion(scratch.path())), report};
    });
}

void add_import(py::module_& module)
{
    py::class_<Imported> type(module, "Imported", "A motion of tracked points, and what was done.");
    type.def_readonly("motion", &Imported::motion);
    type.def_property_readonly(
        "warnings", [](const Imported& self) { return self.report.warnings; },
        "A sentence for everything that looks wrong.");
    add_printing(type, [](const Imported& self) { return report_of(self.report); });
    module.def("import_motion", import_files, py::arg("files"), py::kw_only(),
               py::arg("out") = py::none(), py::arg("overwrite") = false,
               py::arg("progress") = py::none(),
               ("Makes a motion of tracked points: CSV, Motive, NumPy, OBJ, PLY, MDD, PC2; each "
                "file is a recording. out: a motion file to write; otherwise the motion stays in "
                "memory. Lengths in m, mass in kg, times in s." +
                import_keywords().words())
                   .c_str());
}

// ---- Export

struct Exporting {
    ExportFormat format = ExportFormat::usda;
    bool formatted = false;
    MotionExport motion;
    int size = 512;  // [pixels]
};

const Keywords<Exporting>& export_keywords()
{
    using O = Exporting;
    static const Words<MapScale> scales{{"linear", MapScale::linear},
                                        {"logarithmic", MapScale::logarithmic}};
    static const Keywords<O> keywords("export", [] {
        std::vector<std::pair<const char*, Keywords<O>::Setter>> all{
            {"format",
             [](O& to, const py::handle& value, const char* name) {
                 to.format = chosen(value, name, words_of(kExportFormats));
                 to.formatted = true;
             }},
            {"size", member(&O::size)}};
        const auto motion = [&](const char* name, auto at) {
            all.push_back({name, [at](O& to, const py::handle& value, const char* word) {
                               take(value, word, to.motion.*at);
                           }});
        };
        motion("rollout", &MotionExport::rollout);
        motion("rate", &MotionExport::rate);
        motion("from_time", &MotionExport::from);
        motion("until", &MotionExport::until);
        motion("fill", &MotionExport::fill);
        motion("long_rows", &MotionExport::long_rows);
        motion("overwrite", &MotionExport::overwrite);
        motion("color", &MotionExport::color);
        all.push_back({"scale", [](O& to, const py::handle& value, const char* name) {
                           to.motion.scale = chosen(value, name, scales);
                       }});
        all.push_back({"maps", [](O& to, const py::handle& value, const char* name) {
                           if (!py::isinstance<Cloth>(value)) refuse(name, value, "a cloth");
                           to.motion.maps = value.cast<const Cloth&>();
                       }});
        return all;
    }());
    return keywords;
}

// The ending of the file says the format, unless it is given.
ExportFormat format_of(const Exporting& options, const fs::path& out)
{
    if (options.formatted) return options.format;
    const std::string ending = out.extension().string();
    for (const ExportFormat format : kExportFormats) {
        if (ending == "." + std::string(name_of(format))) return format;
    }
    throw Error(Field{"format"},
                "{}: the name does not say the format; give format=, or a name "
                "that ends in .usda, .glb, .csv, .npz, ...",
                out.string());
}

ExportReport export_any(const py::object& what, const py::object& out, const py::object& progress,
                        const py::kwargs& given)
{
    Exporting options;
    export_keywords().set(options, given);
    const fs::path path = path_of(out, "out");
    const ExportFormat format = format_of(options, path);
    if (py::isinstance<Cloth>(what)) {
        const auto& cloth = what.cast<const Cloth&>();
        const MotionExport& from = options.motion;
        return run_long(progress, [&](const Progress&) {
            return export_cloth(
                cloth,
                {format, path, from.overwrite, {}, from.scale, from.color, options.size, "cloth"});
        });
    }
    if (!py::isinstance<Motion>(what)) refuse("what", what, "a cloth or a motion");
    const auto& motion = what.cast<const Motion&>();
    options.motion.format = format;
    options.motion.out = path;
    options.motion.source = "motion";
    return run_long(progress, [&](const Progress& told) {
        return export_motion(motion, options.motion, told);
    });
}

void add_export(py::module_& module)
{
    py::class_<ExportReport>(module, "Exported", "What was written.")
        .def_property_readonly("files",
                               [](const ExportReport& self) {
                                   std::vector<std::string> files;
                                   for (const fs::path& path : self.files)
                                       files.push_back(path.string());
                                   return files;
                               })
        .def_readonly("frame_count", &ExportReport::frame_count)
        .def_readonly("point_count", &ExportReport::point_count)
        .def_readonly("face_count", &ExportReport::face_count)
        .def_readonly("surface", &ExportReport::surface, "What its faces are made of.")
        .def_readonly("remarks", &ExportReport::remarks)
        .def("__repr__", [](const ExportReport& self) {
            return fmt::format("<Exported {}>", counted(self.files.size(), "file"));
        });
    module.def("export", export_any, py::arg("what"), py::arg("out"), py::kw_only(),
               py::arg("progress") = py::none(),
               ("Writes a motion or a cloth for other programs: usda, glb, obj, ply, mdd, pc2, "
                "csv, npz, png, newton, arcsim, blender." +
                export_keywords().words())
                   .c_str());
}

// ---- Report

const Keywords<ReportOptions>& report_keywords()
{
    using O = ReportOptions;
    static const Keywords<O> keywords("report", {{"motion", member(&O::motion)},
                                                 {"seen", member(&O::seen)},
                                                 {"truth", member(&O::truth)},
                                                 {"rollouts", member(&O::rollouts)},
                                                 {"player_rollouts", member(&O::player_rollouts)},
                                                 {"threads", member(&O::threads)}});
    return keywords;
}

void write_report(const py::object& runs, const py::object& out, bool overwrite,
                  const py::object& progress, const py::kwargs& given)
{
    ReportOptions options;
    report_keywords().set(options, given);
    take(runs, "runs", options.runs);
    const fs::path path = path_of(out, "out");
    run_long(progress, [&](const Progress& told) {
        write_text(path, make_report(options, told), overwrite);
    });
}

void add_report(py::module_& module)
{
    module.def("report", write_report, py::arg("runs"), py::arg("out"), py::kw_only(),
               py::arg("overwrite") = false, py::arg("progress") = py::none(),
               ("Writes one page of HTML: what runs have learned, how well, and how it moves. runs: "
                "run folders or cloth files; motion: the motion file to compare with; seen: whether "
                "they may have learned from it; truth: the source cloth." +
                report_keywords().words())
                   .c_str());
}

}  // namespace

void add_files(py::module_& module)
{
    add_import(module);
    add_export(module);
    add_report(module);
}

}  // namespace springtime::python
