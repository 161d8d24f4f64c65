#include <pybind11/stl.h>

#include <mutex>

#include "keywords.h"
#include "long_call.h"
#include "rooms.h"
#include "springtime/learn.h"

// Gradients for an optimiser of one's own: of a cloth that follows motion, and of any run.
namespace springtime::python {

namespace {

// ---- Of a cloth that follows clips

const Keywords<RolloutLossOptions>& gradient_keywords()
{
    using O = RolloutLossOptions;
    static const Keywords<O> keywords(
        "rollout_gradient",
        {{"squares", member(&O::squares)},
         {"width", member(&O::width)},
         {"substeps", [](O& to, const py::handle& value,
                         const char*) { to.substeps = Substeps{substeps_of(value)}; }},
         {"threads", member(&O::threads)},
         {"device", member(&O::device)}});
    return keywords;
}

// Clips, or a motion for its whole rollouts.
py::tuple gradient_of(const Cloth& cloth, const py::object& clips, const py::object& progress,
                      const py::kwargs& given)
{
    RolloutLossOptions options;
    gradient_keywords().set(options, given);
    MotionPointer motion;
    if (py::isinstance<Clips>(clips)) {
        const auto& some = clips.cast<const Clips&>();
        motion = some.motion;
        options.clips = some.clips;
        options.seconds = some.seconds;
    } else if (py::isinstance<Motion>(clips)) {
        motion = clips.cast<MotionPointer>();
    } else {
        refuse("clips", clips, "clips, as Motion.clips() makes them, or a motion");
    }
    RolloutGradient found = run_long(progress, [&](const Progress& told) {
        return rollout_gradient(cloth, *motion, options, told);
    });
    return py::make_tuple(found.loss, named_arrays(cloth, std::move(found.gradient)));
}

// ---- Of a run

// A run that is kept, with what its arrays need.
struct Trace {
    TracedRun run;
    Cloth cloth;
    std::size_t held = 0, keys = 0;
    std::mutex mutex{};

    Shape shape() const
    {
        return {py::ssize_t(run.frame_count()), py::ssize_t(cloth.particle_count()), 3};
    }
};

struct TraceGradient {
    RunGradient gradient;
    py::object parameters;
    Shape paths;
};

// Frame times are the keys of the paths.
Handles held_of(const py::object& held, const py::object& paths, const Cloth& cloth, double dt)
{
    Handles handles;
    if (!held.is_none()) handles.particles = particles_of(held, "held", cloth);
    if (paths.is_none()) return handles;
    const auto count = py::ssize_t(handles.particles.size());
    const py::array keys = array_of<double>(paths, "paths", {kAny, count, 3},
                                            fmt::format("frames x {} held x 3", count).c_str());
    handles.key_position = values_of<double, Vec3d>(keys);
    for (py::ssize_t k = 0; k < keys.shape(0); ++k) handles.key_time.push_back(double(k) * dt);
    return handles;
}

std::unique_ptr<Trace> trace(const Cloth& cloth, int frames, double dt, const py::object& held,
                             const py::object& paths, const py::object& start,
                             const py::object& substeps, const py::object& progress,
                             const py::kwargs& given)
{
    const SimulationOptions options = options_of(cloth, dt, substeps, given);
    const State state = state_of(start, cloth);
    const Handles handles = held_of(held, paths, cloth, dt);
    return run_long(progress, [&](const Progress& told) {
        TracedRun run(cloth, state, handles, options, frames, told);
        return std::unique_ptr<Trace>(
            new Trace{std::move(run), cloth, handles.particles.size(), handles.key_time.size()});
    });
}

TraceGradient walk_back(Trace& self, const py::object& by_position, const py::object& progress)
{
    const Shape shape = self.shape();
    const std::string words = fmt::format("{} frames x {} particles x 3", shape[0], shape[1]);
    const py::array by = array_of<double>(by_position, "by_position", shape, words.c_str());
    const std::span<const Vec3d> span(static_cast<const Vec3d*>(by.data()),
                                      std::size_t(by.size()) / 3);
    RunGradient gradient = run_long(progress, [&](const Progress& told) {
        const std::lock_guard lock(self.mutex);
        return self.run.back(span, told);
    });
    const py::object parameters = named_arrays(self.cloth, std::move(gradient.parameters));
    return {std::move(gradient), parameters, {py::ssize_t(self.keys), py::ssize_t(self.held), 3}};
}

void add_trace_types(py::module_& module)
{
    const auto rows_in = [](const py::object& self, const std::vector<Vec3d>& rows, Shape shape) {
        return view(reinterpret_cast<const double*>(rows.data()), std::move(shape), self);
    };
    const auto of = [](const py::object& self) -> const TraceGradient& {
        return self.cast<const TraceGradient&>();
    };
    py::class_<TraceGradient>(module, "TraceGradient",
                              "Derivatives of a number by all that goes into a run.")
        .def_readonly("parameters", &TraceGradient::parameters,
                      "By the parameters of the cloth, by their names.")
        .def_property_readonly(
            "paths",
            [=](const py::object& self) {
                return rows_in(self, of(self).gradient.key_position, of(self).paths);
            },
            "By the paths, in their shape.")
        .def_property_readonly(
            "start_positions",
            [=](const py::object& self) {
                const auto& values = of(self).gradient.start.position;
                return rows_in(self, values, {py::ssize_t(values.size()), 3});
            },
            "By the positions at the start.")
        .def_property_readonly(
            "start_velocities",
            [=](const py::object& self) {
                const auto& values = of(self).gradient.start.velocity;
                return rows_in(self, values, {py::ssize_t(values.size()), 3});
            },
            "By the velocities at the start.")
        .def_property_readonly(
            "gravity", [](const TraceGradient& self) { return numbers_of(self.gradient.gravity); })
        .def_property_readonly("drag",
                               [](const TraceGradient& self) { return self.gradient.drag; });
    py::class_<Trace>(module, "Trace", "A run that is kept and can be walked back.")
        .def_property_readonly(
            "positions",
            [](const py::object& self) {
                const auto& trace = self.cast<const Trace&>();
                return view(reinterpret_cast<const double*>(trace.run.positions().data()),
                            trace.shape(), self);
            },
            "Frames x particles x 3 [m]; the start is the first frame.")
        .def("back", walk_back, py::arg("by_position"), py::kw_only(),
             py::arg("progress") = py::none(),
             "From the derivatives of a number by the positions to those by all that went into "
             "the run.");
}

}  // namespace

void add_gradients(py::module_& module)
{
    add_trace_types(module);
    module.def("rollout_gradient", gradient_of, py::arg("cloth"), py::arg("clips"), py::kw_only(),
               py::arg("progress") = py::none(),
               ("Loss [m] of a cloth that runs freely along clips, and its gradient by the "
                "parameters. clips: of Motion.clips(); a motion stands for its whole rollouts." +
                gradient_keywords().words())
                   .c_str());
    module.def("trace", trace, py::arg("cloth"), py::arg("frames"), py::arg("dt"), py::kw_only(),
               py::arg("held") = py::none(), py::arg("paths") = py::none(),
               py::arg("start") = py::none(), py::arg("substeps") = "auto",
               py::arg("progress") = py::none(),
               "Runs a cloth for frames of dt [s] and keeps them, for gradients. held: particles "
               "by index or name; paths: where they are at every frame, frames x held x 3 [m], "
               "None for pins. Nothing leads back through contact. Options are those of "
               "Simulation; device 'reference' has double precision.");
}

}  // namespace springtime::python
