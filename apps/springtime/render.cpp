#include <cmath>
#include <filesystem>

#include "options.h"
#include "outputs.h"
#include "progress.h"
#include "springtime/export.h"
#include "verbs.h"

namespace springtime::app {

namespace {

namespace fs = std::filesystem;

struct RenderArguments {
    CommonOptions common;
    ContactOptions contact;
    std::string motion, out, cloth, size = "1280x720";
    int rollout = 0;
    std::optional<int> frame;
    std::optional<double> time;
    double fps = RenderOptions{}.fps, speed = RenderOptions{}.speed;
    bool overwrite = false;
    std::optional<Flags> flags;
};

bool is_film(const fs::path& out)
{
    const std::string ending = out.extension().string();
    if (ending != ".png" && ending != ".mp4") {
        throw Error("--out {}: ends in neither .png, a picture, nor .mp4, a film", out.string());
    }
    return ending == ".mp4";
}

// The frame that --frame or --time means; absent for the last one.
std::optional<std::size_t> frame_of(const RenderArguments& arguments, const Motion& motion)
{
    if (arguments.frame && *arguments.frame < 0) {
        throw Error("--frame: {}: frames are counted from 0", *arguments.frame);
    }
    if (arguments.frame) return std::size_t(*arguments.frame);
    if (!arguments.time) return {};
    if (!(*arguments.time >= 0 && *arguments.time <= 1e9)) {
        throw Error("--time: {}: has to be a time from 0 [s]", *arguments.time);
    }
    return std::size_t(std::lround(*arguments.time / motion.header.frame_interval()));
}

void check_flags(const RenderArguments& arguments, bool film)
{
    const auto refuse = [&](const char* flag, const char* of) {
        if (!arguments.flags->given(flag)) return;
        throw Error("--{}: is for {}, but --out is {}", flag, of, arguments.out);
    };
    for (const char* flag : {"fps", "speed"}) {
        if (!film) refuse(flag, "films (.mp4)");
    }
    for (const char* flag : {"frame", "time"}) {
        if (film) refuse(flag, "pictures (.png)");
    }
}

RenderOptions options_from(const RenderArguments& arguments, const Motion& motion)
{
    RenderOptions options;
    options.rollout = std::size_t(arguments.rollout);
    options.frame = frame_of(arguments, motion);
    const Grid size = parse_grid(arguments.size, "--size");  // columns first here
    options.width = size.rows;
    options.height = size.cols;
    options.fps = arguments.fps;
    options.speed = arguments.speed;
    options.threads = arguments.common.threads;
    if (!arguments.cloth.empty()) options.cloth = read_cloth(arguments.cloth);
    if (!arguments.contact.obstacles.empty()) {
        SimulationOptions world;
        add_contact(world, arguments.contact, motion.header.sheet, arguments.common.quiet);
        options.obstacles = world.obstacles;
    }
    return options;
}

int run_render(const RenderArguments& arguments)
{
    const bool film = is_film(arguments.out);
    check_flags(arguments, film);
    check_outputs(*arguments.flags, {{"--out", arguments.out}}, arguments.overwrite);
    const Motion motion = open_input(arguments.motion);
    const RenderOptions options = options_from(arguments, motion);
    if (film) {
        render_film(motion, options, arguments.out, arguments.overwrite,
                    show_progress(arguments.common.quiet, "render"));
    } else {
        write_png(arguments.out, render_frame(motion, options), arguments.overwrite);
    }
    Result result = Result::tree();
    result.label(film ? "film" : "picture");
    result.add("out", arguments.out).label("written");
    result.add("rollout", arguments.rollout);
    result.add("width", options.width, "pixels");
    result.add("height", options.height, "pixels");
    print(arguments.common, result);
    return kDone;
}

}  // namespace

Verb add_render(CLI::App& root)
{
    auto arguments = std::make_shared<RenderArguments>();
    const Flags flags =
        add_verb(root, "render", "Draw a motion as a picture or a film, without a display");
    flags.add("motion", arguments->motion, "Motion file").required().type("FILE");
    flags
        .add("--out", arguments->out,
             "File to write: .png, a picture, or .mp4, a film, which the program ffmpeg makes")
        .required()
        .type("FILE");
    flags.add("--rollout", arguments->rollout, "Rollout of the motion").between(0, 1000000000);
    const Flag frame =
        flags.add("--frame", arguments->frame, "Frame of a picture; the last one by default");
    flags.add("--time", arguments->time, "Time of a picture instead [s]").excludes(frame);
    flags.add("--size", arguments->size, "Width and height [pixel]").type("WxH");
    flags.add("--fps", arguments->fps, "Pictures per second of a film");
    flags.add("--speed", arguments->speed, "Speed of a film: 0.25 is slow motion");
    flags
        .add("--cloth", arguments->cloth,
             "Cloth to show: at its particles, in the colours of its stiffness; otherwise the "
             "source cloth in the motion file, if there is one")
        .type("FILE");
    flags
        .add("--obstacle", arguments->contact.obstacles,
             "What the cloth fell on, as for simulate; can be repeated")
        .repeated()
        .type("FILE|NAME");
    add_overwrite(flags, arguments->overwrite);
    arguments->flags = flags;
    add_common(flags, arguments->common);
    return {flags, [arguments] { return run_render(*arguments); }};
}

}  // namespace springtime::app
