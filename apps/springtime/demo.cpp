#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "config.h"
#include "options.h"
#include "progress.h"
#include "verbs.h"

namespace springtime::app {

namespace {

namespace fs = std::filesystem;

struct DemoArguments {
    CommonOptions common;
    ClothOptions cloth;
    std::string out = "demo";
    double seconds = 8;
    std::optional<Flags> flags;
};

struct Row {
    double time, lowest, speed, strain;
    Energy energy;
};

Row row_of(const Cloth& cloth, const Environment& environment, const State& state)
{
    Row row{state.time, HUGE_VAL, 0, largest_strain(cloth, state),
            energy_of(cloth, environment, state)};
    for (std::size_t p = 0; p < state.position.size(); ++p) {
        row.lowest = std::min(row.lowest, state.position[p].y);
        row.speed = std::max(row.speed, length(state.velocity[p]));
    }
    return row;
}

void print_table(const std::vector<Row>& rows)
{
    fmt::print("  time   lowest point   top speed   kinetic   elastic   potential   strain\n");
    fmt::print("   [s]            [m]       [m/s]       [J]       [J]         [J]      [%]\n");
    for (const Row& row : rows) {
        fmt::print("{:>6.2f}{:>15.3f}{:>12.3f}{:>10.1f}{:>10.1f}{:>12.1f}{:>9.1f}\n", row.time,
                   row.lowest, row.speed, row.energy.kinetic, row.energy.elastic,
                   row.energy.gravitational, 100 * row.strain);
    }
}

// The north-west and the north-east corner, up to three particles wide: one particle alone would
// be torn out of such soft cloth.
Handles held_corners(const Cloth& cloth)
{
    const int rows = cloth.grid->rows, cols = cloth.grid->cols;
    const int size = std::min({3, rows, cols / 2});
    Handles pins;
    for (int row = 0; row < size; ++row) {
        for (int col = 0; col < size; ++col) {
            pins.particles.push_back(row * cols + col);
            pins.particles.push_back(row * cols + cols - 1 - col);
        }
    }
    return pins;
}

int run_demo(const DemoArguments& arguments)
{
    const fs::path folder = arguments.out;
    fs::create_directories(folder);
    const Cloth cloth = make_cloth(arguments.cloth);
    SimulationOptions options;
    options.device = device_named(arguments.common.device);
    constexpr int kStride = 40;
    constexpr double kFrame = 1e-3 * kStride;
    const auto frames = std::size_t(std::max(1.0, std::round(arguments.seconds / kFrame))) + 1;

    const Handles pins = held_corners(cloth);
    const int substeps = stable_substeps(cloth, options.environment, options.dt);
    options.dt /= substeps;
    Simulation simulation(cloth, flat_state(cloth), pins, options);
    const auto begin = std::chrono::steady_clock::now();
    const Recording recording = record(simulation, frames, kStride * substeps,
                                       show_progress(arguments.common.quiet, "demo"));
    const double wall =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (recording.blow_up) throw Failure("{}", describe(*recording.blow_up, cloth, options));

    const MotionHeader header =
        header_for(cloth, options, kStride * substeps, arguments.common.seed, 1,
                   merged_config(*arguments.flags, {"out", "quiet", "json", "threads"}));
    MotionWriter writer(folder / "rollout.h5", header);
    writer.append(recording.rollout);
    writer.finish();
    write_cloth(folder / "cloth.json", cloth);

    const std::vector<State> pictures = picture_states(recording.rollout, header.frame_interval());
    std::vector<Row> rows;
    for (const State& state : pictures) rows.push_back(row_of(cloth, options.environment, state));
    write_png(folder / "frames.png", draw_frames(cloth, pictures));
    write_png(folder / "stiffness.png", draw_stiffness(cloth));

    if (arguments.common.json) {
        nlohmann::json result{{"out", folder.string()},
                              {"particles", cloth.particle_count()},
                              {"springs", cloth.springs.spring_count()},
                              {"seconds", simulation.state().time},
                              {"wall_seconds", wall},
                              {"device", simulation.device_name()},
                              {"lowest_point", rows.back().lowest}};
        fmt::print("{}\n", result.dump());
        return kDone;
    }
    fmt::print(
        "A sheet of {} particles and {} springs, stiffness varying over it, held at two "
        "corners:\n\n",
        cloth.particle_count(), cloth.springs.spring_count());
    print_table(rows);
    fmt::print("\n{:.3g} s of motion in {:.3g} s on {}, {:.0f} times real time\n\n",
               simulation.state().time, wall, simulation.device_name(),
               simulation.state().time / wall);
    fmt::print(
        "{0}/frames.png     the cloth at these times\n"
        "{0}/stiffness.png  the stiffness of every spring\n"
        "{0}/rollout.h5     the motion; try: springtime inspect {0}/rollout.h5\n"
        "{0}/cloth.json     the cloth; try: springtime simulate {0}/cloth.json --pin center\n",
        folder.string());
    return kDone;
}

}  // namespace

Verb add_demo(CLI::App& root)
{
    auto arguments = std::make_shared<DemoArguments>();
    const Flags flags = add_verb(root, "demo",
                                 "Hang a sheet of varying stiffness by two corners "
                                 "and draw what happens");
    arguments->flags = flags;
    flags.add("--out", arguments->out, "Folder to write to").type("FOLDER");
    flags.add("--seconds", arguments->seconds, "How long [s]");
    add_cloth(flags, arguments->cloth);
    add_common(flags, arguments->common);
    return {flags, [arguments] { return run_demo(*arguments); }, {}};
}

}  // namespace springtime::app
