#include <chrono>
#include <filesystem>

#include "camera_options.h"
#include "config.h"
#include "options.h"
#include "outputs.h"
#include "progress.h"
#include "replay.h"
#include "springtime/generate.h"
#include "springtime/motion.h"
#include "verbs.h"

namespace springtime::app {

namespace {

namespace fs = std::filesystem;

struct SimulateArguments {
    CommonOptions common;
    EnvironmentOptions environment;
    std::string cloth, start, handles;
    std::vector<std::string> pins;
    std::string out = "rollout.h5", picture;
    double seconds = 8;
    std::optional<double> dt;
    std::string substeps = "auto";
    int stride = 40;
    CameraOptions camera;
    ContactOptions contact;
    bool until_rest = false;
    std::optional<double> rest_speed;
    bool overwrite = false;
    std::optional<Flags> flags;
};

MotionStart stored_start(const std::string& text, const Cloth& cloth)
{
    const auto hash = text.rfind('#');
    std::size_t rollout = 0, used = 0;
    const std::string number = hash == std::string::npos ? "0" : text.substr(hash + 1);
    try {
        rollout = std::stoul(number, &used);
    } catch (const std::exception&) {
        used = 0;
    }
    if (used == 0 || used != number.size() || number[0] == '-') {
        throw Error("--start '{}': give FILE#ROLLOUT, for example motion.h5#3", text);
    }
    const std::string path = text.substr(0, hash);
    const Motion motion = open_input(path);
    if (rollout >= motion.rollout_count()) {
        throw Error("{}: has rollouts 0 to {}, not {}", path, motion.rollout_count() - 1, rollout);
    }
    return start_of(motion, rollout, cloth, path);
}

// Handles of all that --pin and --handles name; what stands in the path file wins.
Handles named_handles(const SimulateArguments& arguments, const Cloth& cloth, const State& state)
{
    Handles handles;
    if (!arguments.handles.empty()) handles = read_handle_paths(arguments.handles, cloth, state);
    std::vector<int> pins;
    for (const std::string& name : arguments.pins) {
        const std::vector<int> named = particles_named(cloth, name);
        pins.insert(pins.end(), named.begin(), named.end());
    }
    return with_pins(handles, pins, state);
}

std::optional<RestRule> rest_from(const SimulateArguments& arguments, const Cloth& cloth)
{
    if (!arguments.until_rest) return std::nullopt;
    RestRule rule = rest_rule(cloth.sheet);
    rule.speed = arguments.rest_speed.value_or(rule.speed);
    if (!(rule.speed > 0)) throw Error("--rest-speed {}: it must be positive", rule.speed);
    return rule;
}

MotionStart make_start(const SimulateArguments& arguments, const Cloth& cloth)
{
    MotionStart start;
    if (arguments.start.empty()) {
        start.state = flat_state(cloth);
    } else {
        start = stored_start(arguments.start, cloth);
    }
    if (!arguments.pins.empty() || !arguments.handles.empty()) {
        start.handles = named_handles(arguments, cloth, start.state);
    }
    if (start.observed) project_onto_rest_lengths(start.state, cloth, start.handles.particles);
    start.environment = environment_from(arguments.environment, start.environment);
    start.dt = arguments.dt.value_or(start.dt);
    return start;
}

// Of the file to write; says before the run when it cannot be seen so.
MotionHeader header_of(const SimulateArguments& arguments, const Cloth& cloth,
                       const SimulationOptions& options, int stride)
{
    std::vector<std::string> left_out{"out", "picture", "quiet", "json", "threads", "overwrite"};
    if (arguments.camera.fps) left_out.push_back("stride");
    MotionHeader header = header_for(cloth, options, stride, arguments.common.seed, 1,
                                     merged_config(*arguments.flags, left_out));
    observe_header(header, observe_options(arguments.camera));
    return header;
}

// How deep the deepest particle lies in the nearest obstacle, negative when all are outside. [m]
double deepest_point(const Simulation& simulation)
{
    double deepest = -HUGE_VAL;
    const State& state = simulation.state();
    for (const Obstacle& obstacle : simulation.options().obstacles) {
        for (const Vec3d& x : state.position) {
            deepest = std::max(deepest, -signed_distance(obstacle, x, state.time));
        }
    }
    return deepest;
}

Result result_of(const SimulateArguments& arguments, const Simulation& simulation,
                 const Recording& recording, double wall)
{
    const State& state = simulation.state();
    const Speeds speeds = speeds_of(state);
    double lowest = HUGE_VAL;
    for (const Vec3d& x : state.position) lowest = std::min(lowest, x.y);
    Result result = Result::tree();
    result.label(arguments.out);
    result.add("out", arguments.out).data_only();
    result.add("frames", recording.rollout.frame_count);
    result.add("seconds", state.time, "s").label("motion");
    result.add("wall_seconds", wall, "s").label("time taken");
    result.add("device", simulation.device_name());
    result.add("lowest_point", lowest, "m");
    result.add("rms_speed", speeds.rms, "m/s").label("rms speed at the end");
    result.add("largest_speed", speeds.largest, "m/s").label("largest speed at the end");
    if (arguments.until_rest) {
        result.add("settled", recording.settled);
        if (!recording.settled) {
            result.say(
                fmt::format("an rms speed of {:.2g} m/s counts as rest: raise --seconds or "
                            "--rest-speed",
                            rest_from(arguments, simulation.cloth())->speed));
        }
    }
    if (!simulation.options().obstacles.empty()) {
        result.add("deepest_point", deepest_point(simulation), "m")
            .label("deepest point in an obstacle");
    }
    return result;
}

// All that can be known to go wrong with the files, before the run.
void check_files(const SimulateArguments& arguments)
{
    std::vector<Output> outputs{{"--out", arguments.out}};
    if (!arguments.picture.empty()) outputs.push_back({"--picture", arguments.picture});
    check_outputs(*arguments.flags, outputs, arguments.overwrite);
}

int run_simulate(const SimulateArguments& arguments)
{
    check_files(arguments);
    if (arguments.rest_speed && !arguments.until_rest) {
        throw Error("--rest-speed: says when --until-rest stops; give that too");
    }
    check_camera(arguments.camera, arguments.flags->given("stride"));
    const Cloth cloth = read_cloth(arguments.cloth);
    MotionStart start = make_start(arguments, cloth);
    int stride = arguments.stride;
    set_frame_rate(arguments.camera, start.dt, stride);
    const int substeps = substeps_from(arguments.substeps, cloth, start.environment, start.dt,
                                       arguments.common.quiet);
    SimulationOptions options{start.dt / substeps, start.environment,
                              device_named(arguments.common.device)};
    add_contact(options, arguments.contact, cloth.sheet, arguments.common.quiet);
    options.self_distance = self_distance_from(arguments.contact.self_distance, cloth);
    stride = stride_in_substeps(stride, substeps);
    const double frames = std::round(arguments.seconds / (options.dt * stride));
    if (!(frames >= 1 && frames < 1e9)) {
        throw Error("--seconds {}: must be at least one frame of {} s; raise it or {}",
                    arguments.seconds, options.dt * stride,
                    arguments.camera.fps ? "--fps" : "lower --stride");
    }
    const MotionHeader header = header_of(arguments, cloth, options, stride);
    start.state.time = 0;
    check_clear(start.state, start.handles, options.obstacles);
    Simulation simulation(cloth, start.state, start.handles, options);
    MotionWriter writer(arguments.out, header, arguments.overwrite);  // from now on it is ours
    const auto begin = std::chrono::steady_clock::now();
    Recording recording;
    bool cancelled = false;
    try {
        record(simulation, std::size_t(frames) + 1, stride, recording,
               show_progress(arguments.common.quiet), rest_from(arguments, cloth));
    } catch (const Cancelled&) {  // the frames so far are kept
        cancelled = true;
    }
    const double wall =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    writer.append(observe(recording.rollout, header, observe_options(arguments.camera),
                          arguments.common.seed, 0));
    writer.finish();
    if (!arguments.picture.empty() && !cancelled) {  // drawing takes its time
        std::vector<State> moments;
        for (const std::size_t frame : picture_frames(recording.rollout.frame_count, 6)) {
            moments.push_back(recording.rollout.state(frame, options.dt * stride));
        }
        write_png(arguments.picture, draw_frames(cloth, moments, options.obstacles),
                  arguments.overwrite);
    }
    if (recording.blow_up) {
        throw Failure("{}. The {} frames before that are in {}",
                      describe(*recording.blow_up, cloth, options), recording.rollout.frame_count,
                      arguments.out);
    }
    print(arguments.common, result_of(arguments, simulation, recording, wall));
    if (!cancelled) return kDone;
    fmt::print(stderr, "springtime: interrupted; the frames so far are in {}\n", arguments.out);
    return kFailed;
}

}  // namespace

Verb add_simulate(CLI::App& root)
{
    auto arguments = std::make_shared<SimulateArguments>();
    const Flags flags = add_verb(root, "simulate", "Run a cloth and record its motion");
    const Flags time = flags.in(kTimeGroup);
    arguments->flags = flags;
    flags.add("cloth", arguments->cloth, "Cloth file").required().type("FILE");
    flags
        .add("--start", arguments->start,
             "Start, pins and environment of a stored rollout; otherwise the sheet starts flat and "
             "level")
        .type("FILE#ROLLOUT");
    flags
        .add("--pin", arguments->pins,
             "Hold these particles, can be repeated: corner-nw, corner-ne, corner-sw, corner-se, "
             "edge-north, edge-south, edge-west, edge-east, center, particle:INDEX, grid:ROW,COL")
        .repeated()
        .type("NAME");
    flags.add("--handles", arguments->handles, "CSV of moving handles: time,handle,x,y,z")
        .type("FILE");
    flags.add("--out", arguments->out, "Motion file to write").type("FILE");
    flags.add("--picture", arguments->picture, "PNG file to draw six frames to").type("FILE");
    flags.add("--seconds", arguments->seconds, "How long [s]");
    time.add("--dt", arguments->dt, "Time step [s]; by default that of the start, else 0.001");
    time.add("--substeps", arguments->substeps,
             "Steps per time step: a number, or auto for as many as are safe");
    time.add("--stride", arguments->stride, "Time steps between stored frames");
    add_camera(flags, arguments->camera);
    add_environment(flags, arguments->environment, true);
    add_contact_flags(flags, arguments->contact);
    flags.add_switch("--until-rest", arguments->until_rest,
                     "Stop when the cloth has settled; --seconds is then the longest it may take");
    time.add("--rest-speed", arguments->rest_speed,
             "What counts as rest: rms speed [m/s]; by default a thousandth of the sheet's "
             "diagonal per second");
    add_overwrite(flags, arguments->overwrite);
    add_common(flags, arguments->common);
    return {flags, [arguments] { return run_simulate(*arguments); }};
}

}  // namespace springtime::app
