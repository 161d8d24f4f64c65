#include <pybind11/stl.h>

#include <numeric>

#include "keywords.h"
#include "long_call.h"
#include "rooms.h"
#include "springtime/files.h"
#include "springtime/generate.h"

// Motions: from arrays, from files and from simulated cloths, and their arrays.
namespace springtime::python {

MotionPointer in_memory(const Motion& motion)
{
    std::vector<Rollout> rollouts;
    for (std::size_t r = 0; r < motion.rollout_count(); ++r) {
        rollouts.push_back(motion.read(r, 0, motion.frame_counts[r]));
    }
    return std::make_shared<Motion>(Motion::from_rollouts(motion.header, std::move(rollouts)));
}

namespace {

using MotionType = py::class_<Motion, MotionPointer>;

// ---- Rollouts

// A rollout beside what its motion says of it.
struct SeenRollout {
    Rollout rollout;
    std::size_t landmarks = 0;
    double interval = 0;  // [s]

    Shape shape() const { return {py::ssize_t(rollout.frame_count), py::ssize_t(landmarks), 3}; }
};

SeenRollout rollout_at(const Motion& motion, py::ssize_t index)
{
    const auto count = py::ssize_t(motion.rollout_count());
    if (index < 0) index += count;
    if (index < 0 || index >= count) throw py::index_error();
    const py::gil_scoped_release released;
    const auto r = std::size_t(index);
    return {motion.read(r, 0, motion.frame_counts[r]), motion.header.landmark_count(),
            motion.header.frame_interval()};
}

py::object frames_of(const py::object& self, std::vector<float> Rollout::*values)
{
    const auto& seen = self.cast<const SeenRollout&>();
    if ((seen.rollout.*values).empty()) return py::none();
    return view((seen.rollout.*values).data(), seen.shape(), self);
}

void add_rollout(py::module_& module)
{
    py::class_<SeenRollout>(module, "Rollout", "One motion of the landmarks.")
        .def_property_readonly(
            "positions", [](const py::object& self) { return frames_of(self, &Rollout::position); },
            "Frames x landmarks x 3 [m], NaN where a landmark is not seen; a view.")
        .def_property_readonly(
            "velocities",
            [](const py::object& self) { return frames_of(self, &Rollout::velocity); },
            "The same [m/s]; None if there are positions alone.")
        .def_property_readonly(
            "accelerations",
            [](const py::object& self) { return frames_of(self, &Rollout::acceleration); },
            "The same [m/s^2]; None where they are not stored.")
        .def_property_readonly(
            "times",
            [](const SeenRollout& self) {
                std::vector<double> times(self.rollout.frame_count);
                for (std::size_t f = 0; f < times.size(); ++f) times[f] = double(f) * self.interval;
                return owned_rows<double>(times, {py::ssize_t(times.size())});
            },
            "Of the frames [s].")
        .def_property_readonly(
            "held", [](const SeenRollout& self) { return self.rollout.handles.particles; },
            "Landmarks that are held.")
        .def_property_readonly(
            "path_times",
            [](const py::object& self) {
                return view(self.cast<const SeenRollout&>().rollout.handles.key_time, self);
            },
            "Times of the paths of held landmarks [s]; empty for pins.")
        .def_property_readonly(
            "paths",
            [](const py::object& self) {
                const Handles& handles = self.cast<const SeenRollout&>().rollout.handles;
                return view(reinterpret_cast<const double*>(handles.key_position.data()),
                            {py::ssize_t(handles.key_time.size()),
                             py::ssize_t(handles.particles.size()), 3},
                            self);
            },
            "Times x held landmarks x 3 [m].")
        .def("__len__", [](const SeenRollout& self) { return self.rollout.frame_count; })
        .def("__repr__", [](const SeenRollout& self) {
            return fmt::format("<Rollout of {} of {}>", counted(self.rollout.frame_count, "frame"),
                               counted(self.landmarks, "landmark"));
        });
}

// ---- Motions of arrays

const Keywords<CaptureOptions>& capture_keywords()
{
    static const Keywords<CaptureOptions> keywords("Motion", [] {
        std::vector<std::pair<const char*, Keywords<CaptureOptions>::Setter>> all{
            {"pinned", member(&CaptureOptions::pinned)},
            {"driven", member(&CaptureOptions::driven)},
            {"longest_step", member(&CaptureOptions::longest_step)}};
        add_environment<CaptureOptions>(all);
        return all;
    }());
    return keywords;
}

std::vector<SheetPoint> rest_of(const py::object& rest, const py::object& grid, const Sheet& sheet)
{
    if (rest.is_none() == grid.is_none()) {
        throw Error(Field{"rest"},
                    "rest and grid: both say where landmarks lie in the sheet; give "
                    "one of them");
    }
    if (!rest.is_none()) {
        return values_of<double, SheetPoint>(
            array_of<double>(rest, "rest", {kAny, 2}, "landmarks x 2"));
    }
    Grid sides;
    take(grid, "grid", sides);
    check_sheet(sheet);
    return grid_points(sheet, sides);
}

// One array, or a list of arrays with one for every recording. Floats and doubles are read where
// they are.
template <class Real>
MotionPointer motion_of(const std::vector<py::array>& recordings, double fps, const Sheet& sheet,
                        const std::vector<SheetPoint>& rest, const CaptureOptions& options)
{
    std::vector<py::array> kept;
    std::vector<std::span<const Real>> spans;
    for (const py::array& recording : recordings) {
        kept.push_back(array_of<Real>(recording, "positions", {kAny, py::ssize_t(rest.size()), 3},
                                      fmt::format("frames x {} landmarks x 3", rest.size()).c_str(),
                                      true));
        spans.emplace_back(static_cast<const Real*>(kept.back().data()),
                           std::size_t(kept.back().size()));
    }
    return std::make_shared<Motion>(Motion::from_arrays(sheet, rest, fps, spans, options));
}

std::vector<py::array> recordings_of(const py::object& positions)
{
    const py::module_ numpy = py::module_::import("numpy");
    std::vector<py::array> all;
    if (!py::isinstance<py::list>(positions) && !py::isinstance<py::tuple>(positions)) {
        all.push_back(numpy.attr("asarray")(positions));
        return all;
    }
    for (const py::handle& item : py::reinterpret_borrow<py::iterable>(positions)) {
        all.push_back(numpy.attr("asarray")(item));
    }
    if (all.empty()) refuse("positions", positions, "an array, or a list with at least one");
    return all;
}

MotionPointer make_motion(const py::object& positions, double fps, const py::object& rest,
                          const py::object& grid, const Sheet& sheet, const py::kwargs& given)
{
    CaptureOptions options;
    capture_keywords().set(options, given);
    const std::vector<SheetPoint> places = rest_of(rest, grid, sheet);
    const std::vector<py::array> recordings = recordings_of(positions);
    const bool single = std::all_of(recordings.begin(), recordings.end(), [](const py::array& a) {
        return a.dtype().is(py::dtype::of<float>());
    });
    return single ? motion_of<float>(recordings, fps, sheet, places, options)
                  : motion_of<double>(recordings, fps, sheet, places, options);
}

// A motion that reads another one, and keeps it.
MotionPointer with_source(const MotionPointer& source, Motion made)
{
    made.read = [source, read = made.read](std::size_t rollout, std::size_t first,
                                           std::size_t count) {
        return read(rollout, first, count);
    };
    return std::make_shared<Motion>(std::move(made));
}

// ---- Keeping them

void save_motion(const Motion& motion, const py::object& path, bool overwrite,
                 const py::object& progress)
{
    const std::filesystem::path out = path_of(path, "path");
    run_long(progress, [&](const Progress& told) {
        MotionWriter writer(out, motion.header, overwrite);
        for (std::size_t r = 0; r < motion.rollout_count(); ++r) {
            told.report({"write", double(r), double(motion.rollout_count()), "rollouts", {}});
            writer.append(motion.read(r, 0, motion.frame_counts[r]));
        }
        writer.finish();
        return true;
    });
}

Clips clips_of(const MotionPointer& motion, double seconds, const std::optional<double>& every)
{
    const double interval = motion->header.frame_interval();
    if (!(seconds > 0) || (every && !(*every > 0))) {
        throw Error(Field{"seconds"}, "clips of {} s: give a positive time", seconds);
    }
    const auto frames = [&](double time) {
        return std::max<std::size_t>(1, std::size_t(std::llround(time / interval)));
    };
    Clips all{motion, {}, seconds};
    for (std::size_t r = 0; r < motion->rollout_count(); ++r) {
        for (std::size_t f = 0; f + frames(seconds) < motion->frame_counts[r];
             f += frames(every.value_or(seconds))) {
            all.clips.push_back({r, f});
        }
    }
    if (all.clips.empty()) {
        throw Error(Field{"seconds"}, "clips of {} s: no rollout is that long", seconds);
    }
    return all;
}

// By indices, as a draw of a batch makes them.
Clips some_of(const Clips& self, const py::object& indices)
{
    Clips some{self.motion, {}, self.seconds};
    for (const std::int64_t i : list_of<std::int64_t>(indices, "indices")) {
        const auto count = std::int64_t(self.clips.size());
        if (i < 0 || i >= count) throw py::index_error();
        some.clips.push_back(self.clips[std::size_t(i)]);
    }
    return some;
}

void add_clips(py::module_& module)
{
    py::class_<Clips>(module, "Clips", "Short runs of consecutive frames of a motion.")
        .def("__len__", [](const Clips& self) { return self.clips.size(); })
        .def("select", some_of, py::arg("indices"), "Those with these indices: a batch.")
        .def_readonly("seconds", &Clips::seconds, "Of each [s].")
        .def_property_readonly(
            "starts",
            [](const Clips& self) {
                std::vector<std::array<std::int64_t, 2>> pairs;
                for (const Clip& clip : self.clips) {
                    pairs.push_back({std::int64_t(clip.rollout), std::int64_t(clip.first_frame)});
                }
                const auto count = py::ssize_t(pairs.size());
                return owned_rows<std::int64_t>(std::move(pairs), {count, 2});
            },
            "Rollout and first frame of each.")
        .def("__repr__", [](const Clips& self) {
            return fmt::format("<{} of {:.4g} s>", counted(self.clips.size(), "clip"),
                               self.seconds);
        });
}

std::string repr_of(const Motion& motion)
{
    const std::size_t frames =
        std::accumulate(motion.frame_counts.begin(), motion.frame_counts.end(), std::size_t{0});
    return fmt::format("<Motion of {} with {} of {}, {:.4g} per second>",
                       counted(motion.rollout_count(), "rollout"), counted(frames, "frame"),
                       counted(motion.header.landmark_count(), "landmark"),
                       1 / motion.header.frame_interval());
}

void add_header(MotionType& type)
{
    const auto add = [&](const char* name, auto value, const char* words) {
        type.def_property_readonly(
            name, [value](const Motion& self) { return value(self.header); }, words);
    };
    add(
        "length", [](const MotionHeader& header) { return header.sheet.length; },
        "Of the sheet [m].");
    add(
        "width", [](const MotionHeader& header) { return header.sheet.width; },
        "Of the sheet [m].");
    add(
        "sheet_mass", [](const MotionHeader& header) { return header.sheet.mass; },
        "Of the whole sheet [kg].");
    add(
        "fps", [](const MotionHeader& header) { return 1 / header.frame_interval(); },
        "Frames per second.");
    add(
        "dt", [](const MotionHeader& header) { return header.dt; }, "Step of the source [s].");
    add(
        "stride", [](const MotionHeader& header) { return header.stride; },
        "Steps between frames.");
    add(
        "captured", [](const MotionHeader& header) { return header.captured; },
        "Whether the step of the source is unknown.");
    add(
        "drag", [](const MotionHeader& header) { return header.environment.drag; },
        "Drag per mass [1/s].");
    const auto vector = [](const Vec3d& value) {
        return py::make_tuple(value.x, value.y, value.z);
    };
    add(
        "gravity", [vector](const MotionHeader& h) { return vector(h.environment.gravity); },
        "[m/s^2]; y is up.");
    add(
        "wind", [vector](const MotionHeader& h) { return vector(h.environment.wind); },
        "Velocity of the air [m/s].");
    type.def_property_readonly(
        "source_cloth",
        [](const Motion& self) -> py::object {
            const std::string& text = self.header.source_cloth;
            if (text.empty()) return py::none();
            return py::cast(std::make_shared<Cloth>(cloth_from_json(text, "source cloth")));
        },
        "The cloth that made it; None where that is not known.");
    type.def_property_readonly(
        "rest",
        [](const py::object& self) {
            return view_rows<double>(self.cast<const Motion&>().header.rest, self);
        },
        "Landmarks in the flat sheet [m], landmarks x 2.");
}

// ---- Motions of cloths

struct Generating {
    GenerateOptions run;
    std::optional<double> fps;
    ObserveOptions camera;
};

const Keywords<Generating>& generate_keywords()
{
    using Setters = std::vector<std::pair<const char*, Keywords<Generating>::Setter>>;
    static const Keywords<Generating> keywords("generate", [] {
        Setters all;
        const auto run = [&](const char* name, auto at) {
            all.push_back({name, [at](Generating& to, const py::handle& value, const char* word) {
                               take(value, word, to.run.*at);
                           }});
        };
        const auto camera = [&](const char* name, auto at) {
            all.push_back({name, [at](Generating& to, const py::handle& value, const char* word) {
                               take(value, word, to.camera.*at);
                           }});
        };
        run("rollouts", &GenerateOptions::rollouts);
        run("seconds", &GenerateOptions::seconds);
        run("dt", &GenerateOptions::dt);
        run("stride", &GenerateOptions::stride);
        run("anchors", &GenerateOptions::anchors);
        run("anchor_size", &GenerateOptions::anchor_size);
        run("anchor_radius", &GenerateOptions::anchor_radius);
        run("seed", &GenerateOptions::seed);
        run("threads", &GenerateOptions::threads);
        run("device", &GenerateOptions::device);
        all.push_back({"fps", member(&Generating::fps)});
        camera("noise", &ObserveOptions::noise);
        camera("gaps", &ObserveOptions::gaps);
        camera("gap_seconds", &ObserveOptions::gap_seconds);
        camera("positions_only", &ObserveOptions::positions_only);
        camera("every", &ObserveOptions::every);
        for (const auto& [name, at] :
             {std::pair{"gravity", &Environment::gravity}, {"wind", &Environment::wind}}) {
            all.push_back({name, [at](Generating& to, const py::handle& value, const char* word) {
                               take(value, word, to.run.environment.*at);
                           }});
        }
        all.push_back({"drag", [](Generating& to, const py::handle& value, const char* word) {
                           take(value, word, to.run.environment.drag);
                       }});
        return all;
    }());
    return keywords;
}

// What a camera saw of it has positions alone.
MotionPointer generate_motion(const Cloth& source, const py::object& pinned,
                              const py::object& substeps, const py::object& progress,
                              const py::kwargs& given)
{
    Generating options;
    options.run.rollouts = 16;
    generate_keywords().set(options, given);
    GenerateOptions& run = options.run;
    options.camera.positions_only |= options.camera.noise > 0 || options.camera.gaps > 0;
    if (!pinned.is_none()) run.pinned = particles_of(pinned, "pinned", source);
    if (options.fps) set_frame_rate(*options.fps, run.dt, run.stride);
    cut_step(substeps, source, run.environment, run.dt, run.stride);
    Cloth cloth = source;
    cloth.errors.reset();  // a source is what it is
    check_generate(cloth, run);
    MotionHeader header = header_for(cloth, {run.dt, run.environment, run.device}, run.stride,
                                     run.seed, run.rollouts, {});
    observe_header(header, options.camera);
    return run_long(progress, [&](const Progress& told) {
        std::vector<Rollout> rollouts;
        generate(
            cloth, run, 0,
            [&](int index, const Rollout& rollout) {
                rollouts.push_back(
                    observe(rollout, header, options.camera, run.seed, std::size_t(index)));
            },
            told);
        return std::make_shared<Motion>(Motion::from_rollouts(header, std::move(rollouts)));
    });
}

}  // namespace

void add_motion(py::module_& module)
{
    add_rollout(module);
    add_clips(module);
    MotionType type(module, "Motion",
                    "Landmarks over time, with all that is known beside them. A motion of a file "
                    "is read when it is asked for.");
    type.def(py::init([](const py::object& positions, double fps, const py::object& rest,
                         const py::object& grid, double length, double width, double mass,
                         const py::kwargs& given) {
                 return make_motion(positions, fps, rest, grid, {length, width, mass}, given);
             }),
             py::arg("positions"), py::kw_only(), py::arg("fps"), py::arg("rest") = py::none(),
             py::arg("grid") = py::none(), py::arg("length"), py::arg("width"), py::arg("mass"),
             ("Captured motion: frames x landmarks x 3 [m], NaN where a landmark is not seen; "
              "several recordings as a list. fps: frames per second. rest: places in the flat "
              "sheet [m]; or grid: (rows, columns), row by row from the north-west. length and "
              "width [m], mass [kg] of the sheet. pinned: landmarks held in place; driven: held "
              "and moved." +
              capture_keywords().words())
                 .c_str());
    type.def_static(
        "load",
        [](const py::object& path) {
            return std::make_shared<Motion>(open_motion(path_of(path, "path")));
        },
        py::arg("path"), "Opens a motion file.");
    type.def("save", save_motion, py::arg("path"), py::kw_only(), py::arg("overwrite") = false,
             py::arg("progress") = py::none(),
             "Writes a motion file. Nothing is replaced without overwrite.");
    add_header(type);
    type.def_property_readonly("landmark_count",
                               [](const Motion& self) { return self.header.landmark_count(); });
    type.def_readonly("frame_counts", &Motion::frame_counts, "Of every rollout.");
    type.def("__len__", &Motion::rollout_count);
    type.def("__getitem__", rollout_at, py::arg("index"));
    type.def("clips", clips_of, py::arg("seconds"), py::arg("every") = py::none(),
             "Clips of so many seconds, one after the other, or one every so many seconds.");
    type.def(
        "select",
        [](const MotionPointer& self, const std::vector<std::size_t>& rollouts) {
            return with_source(self, select_rollouts(*self, rollouts));
        },
        py::arg("rollouts"), "Some rollouts, in the given order.");
    type.def(
        "cut",
        [](const MotionPointer& self, std::size_t segments) {
            return with_source(self, cut_into_segments(*self, segments));
        },
        py::arg("segments"), "Every rollout cut into segments that are rollouts of their own.");
    add_printing(type, [](const Motion& self) { return report_of(self, 8); });
    type.def("__repr__", repr_of);
    module.def("generate", generate_motion, py::arg("cloth"), py::kw_only(),
               py::arg("pinned") = py::none(), py::arg("substeps") = "auto",
               py::arg("progress") = py::none(),
               ("Motion of a cloth that falls from random anchors, or while particles are pinned, "
                "as a camera sees it where noise or gaps are given." +
                generate_keywords().words())
                   .c_str());
}

}  // namespace springtime::python
