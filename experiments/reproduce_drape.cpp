#include <filesystem>
#include <set>

#include "presets.h"
#include "reproduce.h"
#include "settling.h"
#include "surrogates.h"

namespace springtime::app {

namespace {

namespace fs = std::filesystem;

// The source, its surrogate, and a finer mesh of the source, which says how far apart two honest
// sheets lie.
struct Drapers {
    NamedCloth fine, source, surrogate, homogeneous;
};

nlohmann::json drape_on(const std::string& obstacle, const Drapers& drapers, double longest,
                        const fs::path& folder, const CommonOptions& common)
{
    note(common, fmt::format("drape on {}", obstacle));
    const SettlingOptions options = drape_options(obstacle, longest);
    const auto run = [&](const NamedCloth& sheet) {
        return settle_sheet(sheet, options, folder / ("on-" + fs::path(obstacle).stem().string()),
                            common);
    };
    const SettledSheet fine = run(drapers.fine), source = run(drapers.source),
                       surrogate = run(drapers.surrogate), homogeneous = run(drapers.homogeneous);
    nlohmann::json sheets;
    for (const SettledSheet* sheet : {&fine, &source, &surrogate, &homogeneous}) {
        sheets.push_back(report_of(*sheet));
        if (sheet != &fine) sheets.back()["to_fine"] = distance_of(*sheet, fine);
        if (sheet != &fine && sheet != &source) {
            sheets.back()["to_source"] = distance_of(*sheet, source);
        }
    }
    return {{"obstacle", obstacle},
            {"sheets", sheets},
            {"surrogate_to_source", distance_of(surrogate, source)},
            {"source_to_fine", distance_of(source, fine)}};
}

std::string text_of(const nlohmann::json& drapes)
{
    const auto rms = [](const nlohmann::json& distance) {
        return distance["surface"]["rms"].get<double>();
    };
    std::string text;
    for (const nlohmann::json& drape : drapes) {
        text += fmt::format(
            "## {}\n\n{}\nSurface distance, rms: surrogate to source {:.3f} m; the yardstick, "
            "source to fine mesh, {:.3f} m\n\n",
            drape["obstacle"].get<std::string>(), settling_table(drape["sheets"]),
            rms(drape["surrogate_to_source"]), rms(drape["source_to_fine"]));
    }
    return text;
}

}  // namespace

int reproduce_drape(const ReproduceArguments& arguments)
{
    const FemScale scale = fem_scale_named(arguments.scale);
    const fs::path folder = fs::path(arguments.out) / arguments.scale;
    std::vector<std::string> obstacles{"animal"};
    obstacles.insert(obstacles.end(), arguments.obstacles.begin(), arguments.obstacles.end());
    std::set<std::string> names;
    for (const std::string& obstacle : obstacles) {
        drape_options(obstacle, 1);  // errors come first
        if (names.insert(fs::path(obstacle).stem().string()).second) continue;
        throw Error("--obstacle {}: another one has the same name; rename the file", obstacle);
    }

    const NamedCloth source = reference_mesh(scale.middle, kReferenceBending);
    const Surrogates surrogates =
        learn_surrogates(folder / "training", source.cloth, scale, arguments.common);
    const Drapers drapers{reference_mesh(scale.fine, kReferenceBending),
                          source,
                          {"surrogate " + scale.surrogate, surrogates.learned},
                          {"best homogeneous springs " + scale.surrogate, surrogates.homogeneous}};
    nlohmann::json drapes = nlohmann::json::array();
    for (const std::string& obstacle : obstacles) {
        drapes.push_back(drape_on(obstacle, drapers, scale.longest, folder, arguments.common));
    }
    write_result(arguments, "Draping on obstacles never seen", {{"drapes", drapes}},
                 text_of(drapes));
    return kDone;
}

}  // namespace springtime::app
