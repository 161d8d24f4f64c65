#include "determination.h"

#include <algorithm>
#include <cmath>

#include "progress.h"

namespace springtime::app {

namespace {

constexpr std::size_t kBest = 3;    // experiments that are told to people
constexpr std::size_t kNamed = 20;  // unseen springs that are told to people
constexpr int kCells = 8;           // of the map, along each side
constexpr const char* kGap = "    ";

Grid map_cells(const Cloth& cloth)
{
    if (!cloth.grid) return {kCells, kCells};
    const auto along = [](int particles) { return std::clamp(particles - 1, 1, kCells); };
    return {along(cloth.grid->rows), along(cloth.grid->cols)};
}

std::string percent_text(double share)
{
    return std::isinf(share) ? "--" : fmt::format("{:.3g}", 100 * share);
}

std::vector<double> of_family(const Cloth& cloth, const std::vector<double>& values,
                              SpringFamily family)
{
    std::vector<double> chosen;
    for (std::size_t s = 0; s < values.size(); ++s) {
        if (cloth.springs.family[s] == family) chosen.push_back(values[s]);
    }
    return chosen;
}

void print_families(const Cloth& cloth, const SpringParameters& relative)
{
    fmt::print("relative standard errors [%]; --: not seen\n");
    fmt::print("  {:<14}{:>8}{}{:^27}{}{:^27}\n", "", "", kGap, "stiffness", kGap, "damping");
    const std::string heads = fmt::format("{:>9}{:>9}{:>9}", "median", "90 %", "worst");
    fmt::print("  {:<14}{:>8}{}{}{}{}\n", "family", "springs", kGap, heads, kGap, heads);
    for (const SpringFamily family : kSpringFamilies) {
        const std::vector<double> stiffness = of_family(cloth, relative[0], family);
        if (stiffness.empty()) continue;
        fmt::print("  {:<14}{:>8}", name_of(family), stiffness.size());
        for (const auto& values : {stiffness, of_family(cloth, relative[1], family)}) {
            const ErrorSummary summary = summary_of(values);
            fmt::print("{}{:>9}{:>9}{:>9}", kGap, percent_text(summary.median),
                       percent_text(summary.ninth_decile), percent_text(summary.worst));
        }
        fmt::print("\n");
    }
}

void print_map(const Cloth& cloth, const std::vector<double>& relative)
{
    const Grid cells = map_cells(cloth);
    fmt::print("stiffness over the sheet, medians of cells [%], north at the top\n");
    const std::vector<double> medians = error_map(cloth, relative, cells);
    for (std::size_t i = 0; i < medians.size(); ++i) {
        fmt::print("{:>9}", std::isnan(medians[i]) ? "." : percent_text(medians[i]));
        if ((i + 1) % std::size_t(cells.cols) == 0) fmt::print("\n");
    }
}

std::string place_of(const Cloth& cloth, int particle)
{
    if (!cloth.grid) return fmt::format("particle {}", particle);
    return fmt::format("row {} col {}", particle / cloth.grid->cols, particle % cloth.grid->cols);
}

// What the motion tells about why; empty where it is not known.
std::string reason_of(const Cloth& cloth, const Determination& determination, int spring)
{
    if (determination.held.empty()) return {};
    const auto [a, b] = cloth.springs.ends[spring];
    return determination.held[a] && determination.held[b] ? "both ends are held in all rollouts"
                                                          : "hardly ever stretched, or never seen";
}

void print_unseen(const Cloth& cloth, const Determination& determination)
{
    const std::vector<int>& unseen = determination.unseen;
    fmt::print("springs whose stiffness the motion says nothing about: {}\n", unseen.size());
    for (std::size_t i = 0; i < std::min(unseen.size(), kNamed); ++i) {
        const auto [a, b] = cloth.springs.ends[unseen[i]];
        const std::string reason = reason_of(cloth, determination, unseen[i]);
        fmt::print("  {} from {} to {}{}{}\n", name_of(cloth.springs.family[unseen[i]]),
                   place_of(cloth, a), place_of(cloth, b), reason.empty() ? "" : ": ", reason);
    }
    if (unseen.size() > kNamed) fmt::print("  and {} more\n", unseen.size() - kNamed);
}

nlohmann::json json_of(const ErrorSummary& summary)
{
    return {{"springs", summary.count},
            {"unseen", summary.unseen},
            {"median", summary.median},
            {"ninth_decile", summary.ninth_decile},
            {"worst", summary.worst}};
}

// By family, of one kind of parameter.
nlohmann::json families_json(const Cloth& cloth, const std::vector<double>& relative)
{
    auto result = nlohmann::json::object();
    for (const SpringFamily family : kSpringFamilies) {
        const std::vector<double> values = of_family(cloth, relative, family);
        if (!values.empty()) result[std::string(name_of(family))] = json_of(summary_of(values));
    }
    return result;
}

nlohmann::json unseen_json(const Cloth& cloth, const Determination& determination)
{
    auto result = nlohmann::json::array();
    for (const int spring : determination.unseen) {
        const std::string reason = reason_of(cloth, determination, spring);
        result.push_back({{"spring", spring},
                          {"ends", cloth.springs.ends[spring]},
                          {"reason", reason.empty() ? nlohmann::json() : nlohmann::json(reason)}});
    }
    return result;
}

// The map as rows of cells.
nlohmann::json map_json(const Cloth& cloth, const std::vector<double>& relative)
{
    const Grid cells = map_cells(cloth);
    const std::vector<double> medians = error_map(cloth, relative, cells);
    auto rows = nlohmann::json::array();
    for (auto at = medians.begin(); at != medians.end(); at += cells.cols) {
        rows.push_back(std::vector<double>(at, at + cells.cols));
    }
    return rows;
}

}  // namespace

std::vector<Experiment> ranked_experiments(const Cloth& cloth, const DesignOptions& options,
                                           const CommonOptions& common)
{
    ProgressBar bar("experiments", "percent", common.quiet);
    DesignOptions design = options;
    design.threads = common.threads;
    return rank_experiments(cloth, design,
                            [&](double share) { return bar.show(100 * share, 100); });
}

std::string ranking_text(const Cloth& cloth, const std::vector<Experiment>& ranking)
{
    const double before = summary_of(known_errors(cloth)[0]).median;
    std::string text;
    for (std::size_t i = 0; i < std::min(ranking.size(), kBest); ++i) {
        text += fmt::format(
            "{:<18}{} (gain {:.4g}: median error of stiffness from {:.3g} to {:.3g} N/m)\n",
            i == 0 ? "would help most:" : "then:", ranking[i].name, ranking[i].gain, before,
            ranking[i].stiffness_error);
    }
    return text;
}

nlohmann::json ranking_json(const Cloth& cloth, const std::vector<Experiment>& ranking)
{
    const SpringParameters known = known_errors(cloth);
    auto experiments = nlohmann::json::array();
    for (const Experiment& experiment : ranking) {
        experiments.push_back({{"name", experiment.name},
                               {"pins", experiment.pins},
                               {"gain", experiment.gain},
                               {"stiffness_error", experiment.stiffness_error},
                               {"damping_error", experiment.damping_error}});
    }
    return {{"stiffness_error", summary_of(known[0]).median},
            {"damping_error", summary_of(known[1]).median},
            {"experiments", experiments}};
}

Determination determination_of(const Cloth& cloth, const MotionReader* motion,
                               const CommonOptions& common)
{
    Determination result{relative_errors(cloth), unseen_springs(cloth), {}, {}};
    DesignOptions design;
    if (motion) {
        result.held = held_throughout(cloth, source_of(*motion));
        design.environment = motion->header().environment;
    }
    if (cloth.errors->force > 0) {
        result.ranking = ranked_experiments(cloth, design, common);
    } else {
        note(common,
             "what to record next is not known: the noise of the force balance is stored as 0");
    }
    return result;
}

void print_determination(const Cloth& cloth, const Determination& determination)
{
    print_families(cloth, determination.relative);
    print_map(cloth, determination.relative[0]);
    print_unseen(cloth, determination);
    fmt::print("{}", ranking_text(cloth, determination.ranking));
}

nlohmann::json determination_json(const Cloth& cloth, const Determination& determination)
{
    const SpringParameters& relative = determination.relative;
    const std::size_t ranges = cloth.springs.ranges.size();
    nlohmann::json result{{"force_noise", cloth.errors->force},
                          {"stiffness", families_json(cloth, relative[0])},
                          {"damping", families_json(cloth, relative[1])},
                          {"ranges", nlohmann::json::array()},
                          {"isotropic_damping", nullptr},
                          {"map", map_json(cloth, relative[0])},
                          {"unseen", unseen_json(cloth, determination)},
                          {"next", ranking_json(cloth, determination.ranking)}};
    for (std::size_t j = 0; j < ranges; ++j) {
        result["ranges"].push_back(families_json(cloth, relative[2 + j]));
    }
    if (!cloth.springs.isotropic_damping.empty()) {
        result["isotropic_damping"] = families_json(cloth, relative[2 + ranges]);
    }
    return result;
}

}  // namespace springtime::app
