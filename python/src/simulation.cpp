#include <pybind11/stl.h>

#include <mutex>

#include "keywords.h"
#include "long_call.h"
#include "rooms.h"
#include "springtime/files.h"
#include "springtime/generate.h"

// Running cloths: frame by frame, as a whole, and with gradients.
namespace springtime::python {

namespace {

// ---- Options

using Setters = std::vector<std::pair<const char*, Keywords<SimulationOptions>::Setter>>;

void take_obstacles(SimulationOptions& to, const py::handle& value, const char* name)
{
    for (const py::handle& item : py::reinterpret_borrow<py::iterable>(value)) {
        if (!py::isinstance<Obstacle>(item)) {
            refuse(name, item, "obstacles, as springtime_cloth.obstacles() makes them");
        }
        to.obstacles.push_back(py::cast<Obstacle>(item));
    }
}

Setters simulation_setters()
{
    Setters all{{"device", member(&SimulationOptions::device)},
                {"obstacles", take_obstacles},
                {"thickness", member(&SimulationOptions::thickness)},
                {"self_distance", member(&SimulationOptions::self_distance)}};
    add_environment<SimulationOptions>(all);
    return all;
}

const Keywords<SimulationOptions>& simulation_keywords()
{
    static const Keywords<SimulationOptions> keywords("Simulation", simulation_setters());
    return keywords;
}

SimulationOptions options_of(const Cloth& cloth, double dt, const py::object& substeps,
                             const py::kwargs& given)
{
    SimulationOptions options;
    options.dt = dt;
    options.substeps = substeps_of(substeps);
    options.thickness = usual_thickness(cloth.sheet);
    simulation_keywords().set(options, given);
    return options;
}

// None: flat and at rest. Otherwise positions [m], or positions and velocities [m/s].
State state_of(const py::object& start, const Cloth& cloth)
{
    State state = flat_state(cloth);
    if (start.is_none()) return state;
    const Shape shape{py::ssize_t(cloth.particle_count()), 3};
    const std::string words = fmt::format("{} particles x 3", shape[0]);
    const auto vectors = [&](const py::handle& value) {
        return values_of<double, Vec3d>(array_of<double>(value, "start", shape, words.c_str()));
    };
    if (!py::isinstance<py::tuple>(start)) {
        state.position = vectors(start);
        return state;
    }
    const auto both = py::cast<py::tuple>(start);
    if (both.size() != 2) refuse("start", start, "positions, or (positions, velocities)");
    state.position = vectors(both[0]);
    state.velocity = vectors(both[1]);
    return state;
}

// ---- Frame by frame

// A simulation with a lock of its own, because it runs without that of the interpreter.
class Run {
  public:
    Run(const Cloth& cloth, State start, const SimulationOptions& options)
        : simulation_(cloth, std::move(start), {}, options)
    {
    }

    // A short look or change. Waits without the interpreter's lock while another thread advances.
    template <class Use>
    auto use(Use use)
    {
        std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock) {
            const py::gil_scoped_release released;
            lock.lock();
        }
        return use(simulation_);
    }

    void advance(int frames)
    {
        const py::gil_scoped_release released;
        const std::lock_guard lock(mutex_);
        const auto report = simulation_.advance(frames);
        if (!report) return;
        throw Failure("{}", describe(*report, simulation_.cloth(), simulation_.options()));
    }

  private:
    std::mutex mutex_;
    Simulation simulation_;
};

using RunType = py::class_<Run>;

// Three floats per particle; the numbers are those of the call.
template <class Values>
py::array frame_view(const py::object& self, Values values)
{
    const std::span<const Vec3f> span =
        self.cast<Run&>().use([&](Simulation& simulation) { return values(simulation); });
    return view(reinterpret_cast<const float*>(span.data()), {py::ssize_t(span.size()), 3}, self);
}

std::array<double, 3> numbers_of(const Vec3d& value)
{
    return {value.x, value.y, value.z};
}

void add_handles(RunType& type)
{
    type.def(
        "hold",
        [](Run& self, const py::object& places) {
            return self.use([&](Simulation& simulation) {
                return long(simulation.hold(particles_of(places, "places", simulation.cloth())));
            });
        },
        py::arg("places"),
        "Holds particles where they are: a name (corner-nw, edge-north, center, "
        "grid:ROW,COL), an index, or several. Returns a handle.");
    type.def(
        "move",
        [](Run& self, long handle, const py::object& target, const py::object& turn) {
            const Vec3d to = vector_of(target, "target");
            const Vec3d by = turn.is_none() ? Vec3d{} : vector_of(turn, "turn");
            self.use([&](Simulation& simulation) { simulation.move(HandleId(handle), to, by); });
        },
        py::arg("handle"), py::arg("target"), py::arg("turn") = py::none(),
        "Where the centre of the held particles is at the end of the next frame [m]. turn: a "
        "rotation vector [rad] about it, relative to the time of hold().");
    type.def(
        "release",
        [](Run& self, long handle) {
            self.use([&](Simulation& simulation) { simulation.release(HandleId(handle)); });
        },
        py::arg("handle"), "Lets go; the particles keep the velocity of their path.");
    type.def(
        "center",
        [](Run& self, long handle) {
            return self.use([&](Simulation& simulation) {
                return numbers_of(simulation.center(HandleId(handle)));
            });
        },
        py::arg("handle"), "The present centre of the held particles [m].");
    type.def(
        "set_pose",
        [](Run& self, const py::object& obstacle, const py::object& position,
           const py::object& turn) {
            const Pose pose{vector_of(position, "position"),
                            turn.is_none() ? Vec3d{} : vector_of(turn, "turn")};
            std::string name;
            take(obstacle, "obstacle", name);
            self.use([&](Simulation& simulation) {
                simulation.set_pose(simulation.obstacle_named(name), pose);
            });
        },
        py::arg("obstacle"), py::arg("position"), py::arg("turn") = py::none(),
        "Where an obstacle is at the end of the next frame [m], and its rotation vector [rad].");
}

void add_world(RunType& type)
{
    type.def(
        "set_gravity",
        [](Run& self, const py::object& gravity) {
            const Vec3d value = vector_of(gravity, "gravity");
            self.use([&](Simulation& simulation) { simulation.set_gravity(value); });
        },
        py::arg("gravity"), "[m/s^2]; y is up.");
    type.def(
        "set_wind",
        [](Run& self, const py::object& wind) {
            const Vec3d value = vector_of(wind, "wind");
            self.use([&](Simulation& simulation) { simulation.set_wind(value); });
        },
        py::arg("wind"), "Velocity of the air [m/s].");
    type.def(
        "set_drag",
        [](Run& self, double drag) {
            self.use([&](Simulation& simulation) { simulation.set_drag(drag); });
        },
        py::arg("drag"), "Drag per mass [1/s].");
}

void add_looks(RunType& type)
{
    type.def_property_readonly(
        "positions",
        [](const py::object& self) {
            return frame_view(self, [](Simulation& s) { return s.positions(); });
        },
        "Particles x 3 [m], float32: a view. Ask again after a frame; the memory is the same.");
    type.def_property_readonly(
        "velocities",
        [](const py::object& self) {
            return frame_view(self, [](Simulation& s) { return s.velocities(); });
        },
        "Particles x 3 [m/s], likewise.");
    type.def_property_readonly(
        "normals",
        [](const py::object& self) {
            return frame_view(self, [](Simulation& s) { return s.normals(); });
        },
        "Unit normals of the surface, likewise.");
    type.def_property_readonly(
        "state",
        [](Run& self) {
            const State state = self.use([](Simulation& s) { return s.state(); });
            const Shape shape{py::ssize_t(state.position.size()), 3};
            return py::make_tuple(owned_rows<double>(state.position, shape),
                                  owned_rows<double>(state.velocity, shape));
        },
        "Copies of positions [m] and velocities [m/s] in double precision: a start.");
    type.def_property_readonly(
        "time", [](Run& self) { return self.use([](Simulation& s) { return s.state().time; }); },
        "[s].");
    type.def_property_readonly(
        "substeps", [](Run& self) { return self.use([](Simulation& s) { return s.substeps(); }); },
        "In a frame.");
    type.def_property_readonly("device", [](Run& self) {
        return self.use([](Simulation& s) { return s.device_name(); });
    });
    type.def_property_readonly(
        "cloth",
        [](Run& self) {
            return self.use([](Simulation& s) { return std::make_shared<Cloth>(s.cloth()); });
        },
        "A copy of the cloth that runs.");
    type.def(
        "energy",
        [](Run& self) {
            const Energy energy = self.use([](Simulation& s) {
                return energy_of(s.cloth(), s.options().environment, s.state());
            });
            return py::dict(py::arg("kinetic") = energy.kinetic,
                            py::arg("elastic") = energy.elastic,
                            py::arg("gravitational") = energy.gravitational);
        },
        "Kinetic, elastic and gravitational energy [J].");
    type.def(
        "draw",
        [](Run& self) {
            return array_of(self.use([](Simulation& s) {
                return draw_frames(s.cloth(), {s.state()}, s.options().obstacles);
            }));
        },
        "A picture of the present state, height x width x 3 bytes.");
}

bool settle_run(Run& self, double until, const std::optional<double>& speed,
                const py::object& progress)
{
    return run_long(progress, [&](const Progress& told) {
        return self.use([&](Simulation& simulation) {
            RestRule rule = rest_rule(simulation.cloth().sheet);
            rule.speed = speed.value_or(rule.speed);
            const Settling settling =
                settle(simulation, after_all_paths(rule, simulation), until, told);
            if (settling.blow_up) {
                throw Failure(
                    "{}", describe(*settling.blow_up, simulation.cloth(), simulation.options()));
            }
            return settling.settled;
        });
    });
}

void add_simulation_type(py::module_& module)
{
    RunType type(module, "Simulation", "One cloth that runs, frame by frame.");
    type.def(py::init([](const Cloth& cloth, double dt, const py::object& start,
                         const py::object& substeps, const py::kwargs& given) {
                 const SimulationOptions options = options_of(cloth, dt, substeps, given);
                 State state = state_of(start, cloth);
                 check_clear(state, {}, options.obstacles);
                 return std::make_unique<Run>(cloth, std::move(state), options);
             }),
             py::arg("cloth"), py::arg("dt"), py::kw_only(), py::arg("start") = py::none(),
             py::arg("substeps") = "auto",
             ("dt: length of a frame [s]. start: None for flat and at rest, positions [m], or "
              "(positions, velocities). substeps: steps of a frame, or 'auto'." +
              simulation_keywords().words())
                 .c_str());
    type.def("advance", &Run::advance, py::arg("frames") = 1,
             "Runs so many frames. After a blow-up, which raises Failure, the state is that before "
             "the call.");
    type.def("settle", settle_run, py::arg("until"), py::kw_only(), py::arg("speed") = py::none(),
             py::arg("progress") = py::none(),
             "Advances until the cloth rests, or until a time [s]; returns whether it rests. "
             "speed: what counts as rest [m/s].");
    add_handles(type);
    add_world(type);
    add_looks(type);
    type.def("__repr__", [](Run& self) {
        return self.use([](Simulation& s) {
            return fmt::format("<Simulation of {} at {:.4g} s, frames of {:.4g} s in {}>",
                               counted(s.cloth().particle_count(), "particle"), s.state().time,
                               s.options().dt, counted(std::size_t(s.substeps()), "step"));
        });
    });
}

// ---- As a whole

struct Simulating {
    SimulationOptions run;
    double seconds = 8;
    int stride = 40;
    std::optional<double> dt, fps, rest_speed;
    ObserveOptions camera;
    std::uint64_t seed = 1;
};

const Keywords<Simulating>& simulate_keywords()
{
    using Pairs = std::vector<std::pair<const char*, Keywords<Simulating>::Setter>>;
    static const Keywords<Simulating> keywords("simulate", [] {
        Pairs all{{"seconds", member(&Simulating::seconds)},
                  {"stride", member(&Simulating::stride)},
                  {"dt", member(&Simulating::dt)},
                  {"fps", member(&Simulating::fps)},
                  {"seed", member(&Simulating::seed)},
                  {"rest_speed", member(&Simulating::rest_speed)}};
        for (const auto& [name, setter] : simulation_setters()) {
            all.push_back({name, [setter](Simulating& to, const py::handle& value,
                                          const char* word) { setter(to.run, value, word); }});
        }
        const auto camera = [&](const char* name, auto at) {
            all.push_back({name, [at](Simulating& to, const py::handle& value, const char* word) {
                               take(value, word, to.camera.*at);
                           }});
        };
        camera("noise", &ObserveOptions::noise);
        camera("gaps", &ObserveOptions::gaps);
        camera("gap_seconds", &ObserveOptions::gap_seconds);
        camera("positions_only", &ObserveOptions::positions_only);
        return all;
    }());
    return keywords;
}

MotionStart start_of(const Cloth& cloth, const py::object& start, std::size_t rollout)
{
    if (!py::isinstance<Motion>(start)) return {state_of(start, cloth), {}, {}};
    const auto& motion = start.cast<const Motion&>();
    if (rollout >= motion.rollout_count()) {
        throw Error(Field{"rollout"}, "rollout {}: the motion has {}", rollout,
                    counted(motion.rollout_count(), "rollout"));
    }
    return springtime::start_of(motion, rollout, cloth, "start");
}

// As the command of that name does it.
MotionPointer simulate(const Cloth& cloth, const py::object& pins, const py::object& handles,
                       const py::object& start, std::size_t rollout, const py::object& substeps,
                       bool until_rest, const py::object& progress, const py::kwargs& given)
{
    Simulating options;
    MotionStart begin = start_of(cloth, start, rollout);
    options.run.environment = begin.environment;
    options.run.thickness = usual_thickness(cloth.sheet);
    simulate_keywords().set(options, given);
    options.camera.positions_only |= options.camera.noise > 0 || options.camera.gaps > 0;
    if (!pins.is_none() || !handles.is_none()) {
        Handles paths;
        if (!handles.is_none()) {
            paths = read_handle_paths(path_of(handles, "handles"), cloth, begin.state);
        }
        const std::vector<int> held =
            pins.is_none() ? std::vector<int>{} : particles_of(pins, "pins", cloth);
        begin.handles = with_pins(paths, held, begin.state);
    }
    if (begin.observed) project_onto_rest_lengths(begin.state, cloth, begin.handles.particles);
    double dt = options.dt.value_or(begin.dt);
    if (options.fps) set_frame_rate(*options.fps, dt, options.stride);
    const int cut =
        substeps_of(substeps).value_or(stable_substeps(cloth, options.run.environment, dt));
    options.run.dt = dt / cut;
    const int stride = options.stride * cut;
    const double frames = std::round(options.seconds / (options.run.dt * stride));
    if (!(frames >= 1 && frames < 1e9)) {
        throw Error(Field{"seconds"}, "seconds: {} s with frames of {} s; give at least one frame",
                    options.seconds, options.run.dt * stride);
    }
    MotionHeader header = header_for(cloth, options.run, stride, options.seed, 1, {});
    observe_header(header, options.camera);
    begin.state.time = 0;
    check_clear(begin.state, begin.handles, options.run.obstacles);
    RestRule rule = rest_rule(cloth.sheet);
    rule.speed = options.rest_speed.value_or(rule.speed);
    const std::optional<RestRule> rest = until_rest ? std::optional(rule) : std::nullopt;
    return run_long(progress, [&](const Progress& told) {
        Simulation simulation(cloth, begin.state, begin.handles, options.run);
        const Recording recording = record(simulation, std::size_t(frames) + 1, stride, told, rest);
        if (recording.blow_up) {
            throw Failure("{}", describe(*recording.blow_up, cloth, options.run));
        }
        return std::make_shared<Motion>(Motion::from_rollouts(
            header, {observe(recording.rollout, header, options.camera, options.seed, 0)}));
    });
}

// ---- With gradients

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

void add_trace(py::module_& module)
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
    module.def("trace", trace, py::arg("cloth"), py::arg("frames"), py::arg("dt"), py::kw_only(),
               py::arg("held") = py::none(), py::arg("paths") = py::none(),
               py::arg("start") = py::none(), py::arg("substeps") = "auto",
               py::arg("progress") = py::none(),
               "Runs a cloth for frames of dt [s] and keeps them, for gradients. held: particles "
               "by index or name; paths: where they are at every frame, frames x held x 3 [m], "
               "None for pins. Nothing leads back through contact. Options are those of "
               "Simulation; device 'reference' has double precision.");
}

// ---- Obstacles

std::vector<Obstacle> obstacles(const py::object& source, const Cloth& cloth,
                                const std::optional<double>& size, const py::object& top,
                                const std::optional<double>& friction)
{
    ObstacleFit fit = fit_below(cloth.sheet, usual_thickness(cloth.sheet));
    if (size) fit.size = *size;
    if (!top.is_none()) fit.top = vector_of(top, "top");
    std::vector<Obstacle> all = read_obstacles(path_of(source, "source").string(), fit);
    for (Obstacle& obstacle : all) obstacle.friction = friction.value_or(obstacle.friction);
    return all;
}

}  // namespace

void add_simulation(py::module_& module)
{
    py::class_<Obstacle>(module, "Obstacle", "A solid that a cloth cannot enter.")
        .def_readonly("name", &Obstacle::name)
        .def_readonly("friction", &Obstacle::friction, "Coulomb's coefficient.")
        .def(
            "distance",
            [](const Obstacle& self, const py::object& point, double time) {
                return signed_distance(self, vector_of(point, "point"), time);
            },
            py::arg("point"), py::arg("time") = 0.0,
            "Signed distance of a point [m], negative inside.")
        .def("__repr__",
             [](const Obstacle& self) { return fmt::format("<Obstacle {}>", self.name); });
    module.def("obstacles", obstacles, py::arg("source"), py::arg("cloth"), py::kw_only(),
               py::arg("size") = py::none(), py::arg("top") = py::none(),
               py::arg("friction") = py::none(),
               "Obstacles below the flat sheet of a cloth: floor, sphere, table, animal, a closed "
               "OBJ file or a TOML file. size: of the longest horizontal side [m]; top: the "
               "middle of the top [m].");
    add_simulation_type(module);
    module.def("simulate", simulate, py::arg("cloth"), py::kw_only(), py::arg("pins") = py::none(),
               py::arg("handles") = py::none(), py::arg("start") = py::none(),
               py::arg("rollout") = 0, py::arg("substeps") = "auto", py::arg("until_rest") = false,
               py::arg("progress") = py::none(),
               ("Runs a cloth and records its motion. pins: particles that are held; handles: a "
                "CSV file of paths; start: a Motion, whose rollout tells start, held particles and "
                "environment, or as Simulation takes it; until_rest: ends when the cloth has "
                "settled." +
                simulate_keywords().words())
                   .c_str());
    add_trace(module);
}

}  // namespace springtime::python
