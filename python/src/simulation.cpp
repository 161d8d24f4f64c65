#include <pybind11/stl.h>

#include <mutex>

#include "keywords.h"
#include "long_call.h"
#include "rooms.h"
#include "springtime/files.h"

// Running a cloth frame by frame, and what it can fall on.
namespace springtime::python {

namespace {

// ---- Options

void take_obstacles(SimulationOptions& to, const py::handle& value, const char* name)
{
    for (const py::handle& item : py::reinterpret_borrow<py::iterable>(value)) {
        if (!py::isinstance<Obstacle>(item)) {
            refuse(name, item, "obstacles, as springtime_cloth.obstacles() makes them");
        }
        to.obstacles.push_back(py::cast<Obstacle>(item));
    }
}

}  // namespace

SimulationSetters simulation_setters()
{
    SimulationSetters all{{"device", member(&SimulationOptions::device)},
                          {"obstacles", take_obstacles},
                          {"thickness", member(&SimulationOptions::thickness)},
                          {"self_distance", member(&SimulationOptions::self_distance)}};
    add_environment<SimulationOptions>(all);
    return all;
}

namespace {

const Keywords<SimulationOptions>& simulation_keywords()
{
    static const Keywords<SimulationOptions> keywords("Simulation", simulation_setters());
    return keywords;
}

}  // namespace

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

namespace {

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
}

}  // namespace springtime::python
