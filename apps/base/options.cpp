#include "options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "progress.h"

namespace springtime::app {

namespace fs = std::filesystem;

namespace {

bool parse_int(const char* begin, const char* end, int& value)
{
    const auto [stop, status] = std::from_chars(begin, end, value);
    return status == std::errc() && stop == end;
}

}  // namespace

bool parse_int(const std::string& text, int& value)
{
    return parse_int(text.data(), text.data() + text.size(), value);
}

void add_common(const Flags& flags, CommonOptions& options)
{
    const Flags rare = flags.in(kRunGroup);
    rare.add("--config", options.config,
             "TOML file whose keys are the names of these flags; flags win over it")
        .type("FILE");
    rare.add("--seed", options.seed, "Seed of all random choices");
    rare.add("--threads", options.threads, "Threads; 0 means one per core").between(0, 4096);
    rare.add("--device", options.device, "Where it runs: auto, reference, cpu or cuda");
    flags.add_switch("--quiet", options.quiet, "No progress, no remarks but warnings");
    flags.add_switch("--json", options.json, "Print the result as JSON on standard output");
}

void add_families(const Flags& flags, std::vector<std::string>& families)
{
    flags.in(kClothGroup)
        .add("--families", families, "Spring families")
        .words()
        .shows("structural diagonal antidiagonal bending")
        .one_of({"structural", "diagonal", "antidiagonal", "bending"});
}

void add_knots(const Flags& flags, std::vector<double>& knots)
{
    flags.in(kClothGroup)
        .add("--knots", knots,
             "Strains at which the stiffness of springs changes, ascending; 0 keeps tension and "
             "compression apart")
        .list()
        .type("STRAIN ...");
}

void add_cloth(const Flags& flags, ClothOptions& options)
{
    const Flags rare = flags.in(kClothGroup);
    flags.add("--grid", options.grid, "Particles, ROWSxCOLS");
    rare.add("--length", options.length, kLengthText);
    rare.add("--width", options.width, kWidthText);
    rare.add("--mass", options.mass, "Mass of the whole sheet [kg]");
    add_families(flags, options.families);
    flags
        .add("--stiffness", options.stiffness,
             "Stiffness over the sheet [N/m], in layers: docs/materials.md")
        .type("FIELD");
    flags.add("--damping", options.damping, "Damping over the sheet [N s/m], likewise")
        .type("FIELD");
    rare.add("--law", options.law,
             "published: a stiffness and a damping per spring; full: compression apart, isotropic "
             "damping, and bending of three particles in line. The flags below add single terms")
        .one_of({"published", "full"});
    add_knots(flags, options.knots);
    rare.add("--range-stiffness", options.range_stiffness,
             "Stiffness between the knots [N/m], likewise, from compression to tension; "
             "--stiffness is that just above rest")
        .list()
        .type("FIELD ...");
    rare.add("--isotropic-damping", options.isotropic_damping,
             "Damping of springs against all relative velocity [N s/m], likewise")
        .shows("")
        .type("FIELD");
    rare.add("--bend-stiffness", options.bend_stiffness,
             "Bending stiffness kappa of three particles in line [N/m], likewise")
        .shows("")
        .type("FIELD");
    rare.add("--bend-damping", options.bend_damping, "Its damping eta [N s/m], likewise")
        .shows("")
        .type("FIELD");
}

void add_environment(const Flags& flags, EnvironmentOptions& options, bool from_start)
{
    const Flags rare = flags.in(kWorldGroup);
    const auto add = [&](const char* flag, auto& value, std::string text, const char* otherwise) {
        if (from_start) text += fmt::format("; by default that of the start, else {}", otherwise);
        return rare.add(flag, value, text).shows(from_start ? "" : otherwise);
    };
    add("--gravity", options.gravity, "Gravity, y is up [m/s^2]", "0 -9.81 0").three();
    add("--drag", options.drag, "Drag per mass [1/s]", "1");
    add("--wind", options.wind, "Velocity of the air [m/s]", "0 0 0").three();
}

void add_contact_flags(const Flags& flags, ContactOptions& options)
{
    const Flags rare = flags.in("Contact");
    flags
        .add("--obstacle", options.obstacles,
             "What the cloth falls on, can be repeated: a TOML file (docs/obstacles.md), a closed "
             "OBJ mesh, or floor, sphere, table, animal")
        .repeated()
        .type("FILE|NAME");
    rare.add("--thickness", options.thickness,
             "Distance kept between cloth and obstacles [m]; by default 1/500 of the sheet");
    rare.add("--friction", options.friction,
             "Coulomb friction of all obstacles, instead of their own");
    rare.add("--self-distance", options.self_distance,
             "Distance that the cloth keeps from itself [m]; 0: it passes through itself; auto: "
             "the distance of neighbouring particles");
}

double self_distance_from(const std::string& text, const Cloth& cloth)
{
    if (text == "auto") return smallest_spacing(cloth);
    double distance = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), distance);
    if (status != std::errc() || end != text.data() + text.size() || !(distance >= 0)) {
        throw Error("--self-distance '{}': give a distance in metres, or auto", text);
    }
    return distance;
}

void add_contact(SimulationOptions& to, const ContactOptions& options, const Sheet& sheet,
                 bool quiet)
{
    if (options.obstacles.empty() && (options.thickness || options.friction)) {
        throw Error("--thickness and --friction are about obstacles; give an --obstacle too");
    }
    if (options.thickness && !(*options.thickness >= 0)) {
        throw Error("--thickness {}: a distance in metres, not negative", *options.thickness);
    }
    to.thickness = options.thickness.value_or(usual_thickness(sheet));
    const ObstacleFit fit = fit_below(sheet, to.thickness);
    for (const std::string& source : options.obstacles) {
        for (Obstacle& obstacle : read_obstacles(source, fit)) {
            if (options.friction) obstacle.friction = *options.friction;
            to.obstacles.push_back(std::move(obstacle));
        }
        const std::string end = fs::path(source).extension().string();
        if (!quiet && end != ".toml" && end != ".TOML") {
            fmt::print(stderr,
                       "{}: {}its top {:.3g} m below the level sheet; write a TOML file "
                       "(docs/obstacles.md) to size and place it yourself\n",
                       source, source == "floor" ? "" : fmt::format("{:.3g} m wide, ", fit.size),
                       -fit.top.y);
        }
    }
}

Grid parse_grid(const std::string& text, const std::string& flag)
{
    const auto x = text.find('x');
    Grid grid;
    if (x != std::string::npos && parse_int(text.data(), text.data() + x, grid.rows) &&
        parse_int(text.data() + x + 1, text.data() + text.size(), grid.cols)) {
        return grid;
    }
    const bool file = flag == "--mesh";
    throw Error("{} '{}': give ROWSxCOLS, for example 32x32{}", flag, text,
                file ? ", or the name of an OBJ file, which ends in .obj" : "");
}

GridOptions grid_options(const std::string& text, const std::vector<std::string>& families)
{
    const Grid grid = parse_grid(text);
    const auto has = [&](const char* family) {
        return std::find(families.begin(), families.end(), family) != families.end();
    };
    return {grid.rows,       grid.cols,           has("structural"),
            has("diagonal"), has("antidiagonal"), has("bending")};
}

Cloth make_cloth(const ClothOptions& options)
{
    Cloth cloth = make_grid_cloth({options.length, options.width, options.mass},
                                  grid_options(options.grid, options.families),
                                  read_material(options.stiffness), read_material(options.damping));
    SpringLaw law = law_named(options.law);
    if (!options.knots.empty()) law.knots = options.knots;
    if (!options.isotropic_damping.empty()) law.isotropic = true;
    if (!options.bend_stiffness.empty() || !options.bend_damping.empty()) law.bends = true;
    set_law(cloth, law);
    auto& ranges = cloth.springs.ranges;
    const std::size_t given = options.range_stiffness.size();
    if (given != 0 && given != ranges.size()) {
        throw Error(
            "--range-stiffness: {} fields, but the {} knots leave {} ranges beside the one just "
            "above rest; give one each",
            given, law.knots.size(), ranges.size());
    }
    for (std::size_t j = 0; j < given; ++j) {
        ranges[j].stiffness = at_springs(cloth, read_material(options.range_stiffness[j]));
    }
    if (!options.isotropic_damping.empty()) {
        cloth.springs.isotropic_damping =
            at_springs(cloth, read_material(options.isotropic_damping));
    }
    if (!options.bend_stiffness.empty()) {
        cloth.bends.stiffness = at_bends(cloth, read_material(options.bend_stiffness));
    }
    if (!options.bend_damping.empty()) {
        cloth.bends.damping = at_bends(cloth, read_material(options.bend_damping));
    }
    check_cloth(cloth, "cloth");
    return cloth;
}

Environment environment_from(const EnvironmentOptions& options, const Environment& otherwise)
{
    Environment environment = otherwise;
    const auto vector = [](const std::vector<double>& a) { return Vec3d{a[0], a[1], a[2]}; };
    if (!options.gravity.empty()) environment.gravity = vector(options.gravity);
    if (!options.wind.empty()) environment.wind = vector(options.wind);
    if (options.drag) environment.drag = *options.drag;
    check_environment(environment);
    return environment;
}

fs::path in_run_folder(const std::string& path)
{
    if (!fs::is_directory(path)) return path;
    const fs::path cloth = fs::path(path) / "cloth.json";
    if (fs::exists(cloth)) return cloth;
    throw Error("{}: a folder without cloth.json; give a run folder or a file", path);
}

int substeps_from(const std::string& text, const Cloth& cloth, const Environment& environment,
                  double dt, bool quiet)
{
    if (!is_time_step(dt)) {
        throw Error("--dt {}: a time step must lie in {} to {} s", dt, kLeastTimeStep,
                    kMostTimeStep);
    }
    const int stable = stable_substeps(cloth, environment, dt);
    if (text == "auto" && stable >= kMostSubsteps) {
        throw Error(
            "--substeps auto: the largest stable step of this cloth is {:.3g} s, which takes more "
            "than {} sub-steps of {} s; lower its stiffness and damping, or raise its mass",
            largest_stable_step(cloth, environment), kMostSubsteps, dt);
    }
    if (text == "auto") {
        if (stable > 1 && !quiet) {
            fmt::print(stderr,
                       "a time step of {:.3g} s is too long for this cloth: it takes {} "
                       "sub-steps each\n",
                       dt, stable);
        }
        return stable;
    }
    int substeps = 0;
    if (!parse_int(text, substeps) || substeps < 1) {
        throw Error("--substeps '{}': give a number of at least 1, or auto", text);
    }
    if (substeps < stable) {
        fmt::print(stderr,
                   "warning: a step of {:.3g} s is close to or above the largest stable step of "
                   "about {:.3g} s; --substeps auto would take {} sub-steps\n",
                   dt / substeps, largest_stable_step(cloth, environment), stable);
    }
    return substeps;
}

int stride_in_substeps(int stride, int substeps)
{
    if (stride >= 1 && double(stride) * substeps <= kLargestStride) return stride * substeps;
    throw Error("--stride {}: with {} sub-steps a frame must be 1 to {} steps", stride, substeps,
                kLargestStride);
}

Motion source_of(const MotionReader& reader)
{
    Motion source;
    source.header = reader.header();
    for (std::size_t r = 0; r < reader.rollout_count(); ++r) {
        source.frame_counts.push_back(reader.frame_count(r));
    }
    source.read = [&reader](std::size_t rollout, std::size_t first, std::size_t count) {
        return reader.read(rollout, first, count);
    };
    return until_interrupted(std::move(source));
}

// Much that looks at every rollout does no more than read, and reports nothing.
Motion until_interrupted(Motion motion)
{
    motion.read = [read = std::move(motion.read)](std::size_t rollout, std::size_t first,
                                                  std::size_t count) {
        if (interrupted()) throw Cancelled("reading: cancelled");
        return read(rollout, first, count);
    };
    return motion;
}

void warn_if_unfinished(const std::filesystem::path& path, const Motion& motion)
{
    const MotionHeader& header = motion.header;
    const bool is_part = path.extension() == ".part";
    if (!is_part && header.rollouts_planned <= int(motion.rollout_count())) return;
    const std::filesystem::path out =
        is_part ? std::filesystem::path(path).replace_extension() : path;
    // Only generate writes the source cloth, and only generate can go on.
    fmt::print(stderr, "springtime: warning: {}: is not finished, it holds {} of {} rollouts; {}\n",
               path.string(), motion.rollout_count(), header.rollouts_planned,
               header.source_cloth.empty()
                   ? std::string("make it again")
                   : fmt::format("springtime generate --resume --out {} goes on", out.string()));
}

Motion open_input(const std::filesystem::path& path)
{
    Motion motion = open_motion(path);
    warn_if_unfinished(path, motion);
    return until_interrupted(std::move(motion));
}

void note(const CommonOptions& options, const std::string& text)
{
    if (options.quiet && !text.starts_with("warning: ")) return;
    fmt::print(stderr, "{}\n", text);
}

void print(const CommonOptions& options, const Result& result)
{
    fmt::print("{}", options.json ? to_json(result) + "\n" : with_flags(to_text(result)));
}

}  // namespace springtime::app
