#include <pybind11/stl.h>

#include "keywords.h"
#include "long_call.h"
#include "rooms.h"
#include "springtime/files.h"
#include "springtime/generate.h"

// Whole runs of a cloth, which are recorded.
namespace springtime::python {

namespace {

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
    using Setters = std::vector<std::pair<const char*, Keywords<Simulating>::Setter>>;
    static const Keywords<Simulating> keywords("simulate", [] {
        Setters all{{"seconds", member(&Simulating::seconds)},
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
        camera("every", &ObserveOptions::every);
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

// What the options say of held particles counts instead of what the motion says.
MotionStart begin_of(const Cloth& cloth, const py::object& start, std::size_t rollout,
                     const py::object& pins, const py::object& handles)
{
    MotionStart begin = start_of(cloth, start, rollout);
    if (!pins.is_none() || !handles.is_none()) {
        Handles paths;
        if (!handles.is_none()) {
            paths = read_handle_paths(path_of(handles, "handles"), cloth, begin.state);
        }
        std::vector<int> held;
        if (!pins.is_none()) held = particles_of(pins, "pins", cloth);
        begin.handles = with_pins(paths, held, begin.state);
    }
    if (begin.observed) project_onto_rest_lengths(begin.state, cloth, begin.handles.particles);
    begin.state.time = 0;
    return begin;
}

std::size_t frames_in(double seconds, double interval)
{
    const double frames = std::round(seconds / interval);
    if (frames >= 1 && frames < 1e9) return std::size_t(frames) + 1;  // with the start
    throw Error(Field{"seconds"}, "seconds: {} s with frames of {} s; give at least one frame",
                seconds, interval);
}

// As the command of that name does it.
MotionPointer simulate(const Cloth& cloth, const py::object& pins, const py::object& handles,
                       const py::object& start, std::size_t rollout, const py::object& substeps,
                       bool until_rest, const py::object& progress, const py::kwargs& given)
{
    const MotionStart begin = begin_of(cloth, start, rollout, pins, handles);
    Simulating options;
    options.run.environment = begin.environment;
    options.run.thickness = usual_thickness(cloth.sheet);
    simulate_keywords().set(options, given);
    options.camera.positions_only |= options.camera.noise > 0 || options.camera.gaps > 0;
    double& dt = options.run.dt;
    dt = options.dt.value_or(begin.dt);
    if (options.fps) set_frame_rate(*options.fps, dt, options.stride);
    cut_step(substeps, cloth, options.run.environment, dt, options.stride);
    const std::size_t frames = frames_in(options.seconds, dt * options.stride);
    MotionHeader header = header_for(cloth, options.run, options.stride, options.seed, 1, {});
    observe_header(header, options.camera);
    check_clear(begin.state, begin.handles, options.run.obstacles);
    std::optional<RestRule> rest;
    if (until_rest) rest = rest_rule(cloth.sheet);
    if (rest) rest->speed = options.rest_speed.value_or(rest->speed);
    return run_long(progress, [&](const Progress& told) {
        Simulation simulation(cloth, begin.state, begin.handles, options.run);
        const Recording recording = record(simulation, frames, options.stride, told, rest);
        if (recording.blow_up) {
            throw Failure("{}", describe(*recording.blow_up, cloth, options.run));
        }
        return std::make_shared<Motion>(Motion::from_rollouts(
            header, {observe(recording.rollout, header, options.camera, options.seed, 0)}));
    });
}

}  // namespace

void add_runs(py::module_& module)
{
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
}

}  // namespace springtime::python
