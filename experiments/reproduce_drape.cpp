#include <cmath>
#include <filesystem>
#include <numbers>
#include <set>

#include "presets.h"
#include "reproduce.h"
#include "settling.h"
#include "surrogates.h"

namespace springtime::app {

namespace {

namespace fs = std::filesystem;

constexpr double kTilt = std::numbers::pi / 180;  // [rad]

// The source, and the sheets that are compared with it. The first of them is a finer mesh of the
// source: it says how far apart two honest sheets lie.
struct Drapers {
    NamedCloth source;
    std::vector<NamedCloth> others;
};

// A level start, and some that lean in directions spread over the circle. The directions are off
// the axes and diagonals of the sheet, about which it is almost symmetric.
std::vector<std::optional<Tilt>> starts_of_falls(int tilted)
{
    constexpr double kFirst = 20 * std::numbers::pi / 180;  // [rad]
    std::vector<std::optional<Tilt>> starts{std::nullopt};
    for (int i = 0; i < tilted; ++i) {
        starts.push_back(Tilt{kTilt, kFirst + 2 * std::numbers::pi * i / tilted});
    }
    return starts;
}

// Mean over the falls of the distance to the source, with its standard error. [m]
nlohmann::json mean_distance(const nlohmann::json& falls, std::size_t sheet)
{
    double sum = 0, squares = 0;
    const double count = double(falls.size());
    for (const nlohmann::json& reports : falls) {
        const double rms = reports[sheet]["to_first"]["surface"]["rms"];
        sum += rms;
        squares += rms * rms;
    }
    const double mean = sum / count, variance = std::max(0.0, squares / count - mean * mean);
    return {{"name", falls[0][sheet]["name"]},
            {"mean", mean},
            {"standard_error", count > 1 ? std::sqrt(variance / (count - 1)) : 0}};
}

nlohmann::json drape_on(const std::string& obstacle, const Drapers& drapers, const FemScale& scale,
                        const fs::path& folder, const CommonOptions& common)
{
    SettlingOptions options = drape_options(obstacle, scale.longest);
    nlohmann::json falls;
    for (const std::optional<Tilt>& tilt : starts_of_falls(scale.tilted)) {
        note(common, fmt::format("drape on {}, fall {}", obstacle, falls.size() + 1));
        options.tilt = tilt;
        options.pictures.reset();
        if (!tilt) options.pictures = folder / ("on-" + fs::path(obstacle).stem().string());
        falls.push_back(settle_all(drapers.source, drapers.others, options, common));
    }
    nlohmann::json distances;
    for (std::size_t i = 1; i <= drapers.others.size(); ++i) {
        distances.push_back(mean_distance(falls, i));
    }
    return {{"obstacle", obstacle}, {"to_source", distances}, {"falls", falls}};
}

std::string text_of(const nlohmann::json& drapes, int falls)
{
    std::string text = fmt::format(
        "Distance from the particles of a sheet to the surface of the source [m]: root mean square "
        "over the particles, then mean and standard error over {} falls. One starts level, the "
        "others lean by a degree. The first column is the yardstick: the source itself with "
        "another mesh.\n\n| obstacle |",
        falls);
    std::string line = "\n|---|", details;
    for (const nlohmann::json& sheet : drapes[0]["to_source"]) {
        text += fmt::format(" {} |", sheet["name"].get<std::string>());
        line += "---|";
    }
    text += line + "\n";
    for (const nlohmann::json& drape : drapes) {
        text += fmt::format("| {} |", drape["obstacle"].get<std::string>());
        for (const nlohmann::json& sheet : drape["to_source"]) {
            text += fmt::format(" {:.3f} ± {:.3f} |", sheet["mean"].get<double>(),
                                sheet["standard_error"].get<double>());
        }
        text += "\n";
        details +=
            fmt::format("\n## {}, from a level start\n\n{}", drape["obstacle"].get<std::string>(),
                        settling_table(drape["falls"][0]));
    }
    return text + details;
}

std::vector<std::string> obstacles_of(const ReproduceArguments& arguments)
{
    std::vector<std::string> obstacles{"table", "sphere", "animal"};
    obstacles.insert(obstacles.end(), arguments.obstacles.begin(), arguments.obstacles.end());
    return obstacles;
}

}  // namespace

RowKeys drape_rows(const ReproduceArguments& arguments)
{
    return obstacles_of(arguments);
}

int reproduce_drape(const ReproduceArguments& arguments)
{
    const FemScale scale = fem_scale_named(arguments.scale);
    const fs::path folder = fs::path(arguments.out) / arguments.scale;
    const std::vector<std::string> obstacles = obstacles_of(arguments);
    std::set<std::string> names;
    for (const std::string& obstacle : obstacles) {
        drape_options(obstacle, 1);  // errors come first
        if (names.insert(fs::path(obstacle).stem().string()).second) continue;
        throw Error("--obstacle {}: another one has the same name; rename the file", obstacle);
    }

    const NamedCloth source = reference_mesh(scale.middle, kReferenceBending);
    const Surrogates surrogates = learn_surrogates(training_folder(arguments), source.cloth, scale,
                                                   std::nullopt, arguments.common);
    const Drapers drapers{source,
                          {reference_mesh(scale.remeshed, kReferenceBending),
                           {"learned", surrogates.learned},
                           {"homogeneous lean", surrogates.homogeneous},
                           {"homogeneous published", surrogates.published}}};
    nlohmann::json drapes = nlohmann::json::array();
    for (const std::string& obstacle : obstacles) {
        drapes.push_back(drape_on(obstacle, drapers, scale, folder, arguments.common));
    }
    write_result(arguments, "Draping on obstacles never seen", {{"drapes", drapes}},
                 text_of(drapes, 1 + scale.tilted));
    return kDone;
}

}  // namespace springtime::app
