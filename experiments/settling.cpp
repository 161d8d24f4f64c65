#include "settling.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>

#include "presets.h"
#include "progress.h"
#include "reproduce.h"

namespace springtime::app {

namespace {

constexpr double kStep = 1e-3;  // [s]; divided where a cloth needs it
// Slower than what counts as rest elsewhere: sheets that still creep should not be compared.
constexpr RestRule kRest{0.005, 1};  // [m/s], [s]

// Below the height at which the sheet started, zero. [m]
double sag_of(const Cloth& cloth, const State& state, const char* name)
{
    return 0 - state.position[particles_named(cloth, name).front()].y;  // never "-0"
}

double centroid_sag(const Cloth& cloth, const State& state)
{
    double sum = 0, mass = 0;
    for (std::size_t p = 0; p < cloth.particle_count(); ++p) {
        sum -= cloth.mass[p] * state.position[p].y;
        mass += cloth.mass[p];
    }
    return sum / mass;
}

State start_of(const Cloth& cloth, const std::optional<Tilt>& tilt)
{
    State start = flat_state(cloth);
    if (!tilt) return start;
    const Vec3d up{0, 1, 0}, side{std::cos(tilt->towards), 0, std::sin(tilt->towards)};
    for (Vec3d& x : start.position) {
        const double along = dot(x, side);
        x += (along * (std::cos(tilt->angle) - 1)) * side + (along * std::sin(tilt->angle)) * up;
    }
    return start;
}

// "mesh 16 x 16" becomes "mesh-16-x-16".
std::string file_name(std::string name)
{
    std::replace(name.begin(), name.end(), ' ', '-');
    return name;
}

}  // namespace

NamedCloth reference_mesh(int side, double bending)
{
    return {fmt::format("mesh {} x {}", side, side),
            reference_cloth({side, side}, MeshCut::diagonal, bending)};
}

SettlingOptions drape_options(const std::string& obstacle, double longest)
{
    SettlingOptions options;
    SimulationOptions contact;
    ContactOptions named;
    named.obstacles = {obstacle};
    add_contact(contact, named, kReferenceSheet, true);
    options.environment = reference_run().environment;
    options.obstacles = contact.obstacles;
    options.thickness = contact.thickness;
    options.longest = longest;
    return options;
}

SettledSheet settle_sheet(const NamedCloth& sheet, const SettlingOptions& options,
                          const CommonOptions& common)
{
    const Cloth& cloth = sheet.cloth;
    SimulationOptions run{kStep / stable_substeps(cloth, options.environment, kStep),
                          options.environment, device_named(common.device)};
    run.obstacles = options.obstacles;
    run.thickness = options.thickness;
    const State start = start_of(cloth, options.tilt);
    const Handles handles = options.handles_of ? options.handles_of(cloth) : Handles{};
    check_clear(start, handles, run.obstacles);
    Simulation simulation(cloth, start, handles, run);
    const auto begin = std::chrono::steady_clock::now();
    SettledSheet result{sheet, {}, {}, 0};
    result.settling =
        settle(simulation, kRest, options.longest, show_progress(common.quiet, sheet.name));
    if (result.settling.blow_up) {
        throw Failure("{}: {}", sheet.name, describe(*result.settling.blow_up, cloth, run));
    }
    result.state = simulation.state();
    result.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (interrupted()) throw Cancelled(sheet.name + ": cancelled");  // drawing takes its time
    if (options.pictures) {
        std::filesystem::create_directories(*options.pictures);
        write_png(*options.pictures / (file_name(sheet.name) + ".png"),
                  draw_frames(cloth, {result.state}, options.obstacles));
    }
    return result;
}

nlohmann::json report_of(const SettledSheet& settled)
{
    const Cloth& cloth = settled.sheet.cloth;
    nlohmann::json report{{"name", settled.sheet.name},
                          {"settled", settled.settling.settled},
                          {"seconds", settled.state.time},
                          {"wall_seconds", settled.wall},
                          {"rms_speed", settled.settling.speeds.rms},
                          {"largest_speed", settled.settling.speeds.largest},
                          {"centroid_sag", centroid_sag(cloth, settled.state)}};
    for (const char* corner : {"corner-nw", "corner-ne", "corner-sw", "corner-se"}) {
        report["corner_sag"][corner] = sag_of(cloth, settled.state, corner);
    }
    return report;
}

nlohmann::json distance_of(const SettledSheet& sheet, const SettledSheet& other)
{
    const SurfaceDistance distance =
        surface_distance(sheet.state.position, surface_of(other.sheet.cloth, other.state));
    return {{"rmse", sheet_rmse(sheet.sheet.cloth, sheet.state, other.sheet.cloth, other.state)},
            {"surface",
             {{"rms", distance.rms}, {"mean", distance.mean}, {"largest", distance.largest}}}};
}

nlohmann::json settle_all(const NamedCloth& first, const std::vector<NamedCloth>& others,
                          const SettlingOptions& options, const CommonOptions& common)
{
    CommonOptions quiet = common;
    quiet.quiet = true;  // bars of several sheets would write over each other
    const auto begin = [&](const NamedCloth& sheet) {
        const auto how = common.threads == 1 ? std::launch::deferred : std::launch::async;
        return std::async(how, [&] { return settle_sheet(sheet, options, quiet); });
    };
    std::future<SettledSheet> running_first = begin(first);
    std::vector<std::future<SettledSheet>> running;
    for (const NamedCloth& other : others) running.push_back(begin(other));
    const SettledSheet compared = running_first.get();
    nlohmann::json reports{report_of(compared)};
    for (std::future<SettledSheet>& sheet : running) {
        const SettledSheet settled = sheet.get();
        reports.push_back(report_of(settled));
        reports.back()["to_first"] = distance_of(settled, compared);
    }
    return reports;
}

std::string settling_table(const nlohmann::json& reports)
{
    std::string text =
        "| sheet | sag of corners nw, ne, sw, se [m] | sag of centroid [m] | RMSE to the first [m] "
        "| "
        "surface distance to the first, rms [m] | largest [m] | rms speed at the end [m/s] | time "
        "[s] "
        "|\n|---|---|---|---|---|---|---|---|\n";
    for (const nlohmann::json& r : reports) {
        const nlohmann::json& sag = r["corner_sag"];
        const bool compared = r.contains("to_first");
        const auto number = [&](const nlohmann::json& value) {
            return fmt::format("{:.3f}", value.get<double>());
        };
        text += fmt::format(
            "| {} | {}, {}, {}, {} | {} | {} | {} | {} | {:.2g}{} | {:.1f} |\n",
            r["name"].get<std::string>(), number(sag["corner-nw"]), number(sag["corner-ne"]),
            number(sag["corner-sw"]), number(sag["corner-se"]), number(r["centroid_sag"]),
            compared ? number(r["to_first"]["rmse"]) : "-",
            compared ? number(r["to_first"]["surface"]["rms"]) : "-",
            compared ? number(r["to_first"]["surface"]["largest"]) : "-",
            r["rms_speed"].get<double>(), r["settled"].get<bool>() ? "" : " (not settled)",
            r["seconds"].get<double>());
    }
    return text;
}

}  // namespace springtime::app
