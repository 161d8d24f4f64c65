#include <algorithm>
#include <cmath>

#include "presets.h"
#include "settling.h"
#include "surrogates.h"

namespace springtime::app {

namespace {

namespace fs = std::filesystem;

struct MappedCloth {
    std::string key, name;
    Cloth cloth;
};

// The stiffness of every cell as it is, row by row, and how it goes with that of the source.
nlohmann::json map_row(const MappedCloth& mapped, const Cloth& source, const Grid& cells)
{
    const ValueMap map = stiffness_map(mapped.cloth, cells);
    const double correlation = map_correlation(mapped.cloth, source);
    return {{"key", mapped.key},
            {"name", mapped.name},
            {"correlation",
             std::isfinite(correlation) ? nlohmann::json(correlation) : nlohmann::json(nullptr)},
            {"rows", map.rows},
            {"cols", map.cols},
            {"stiffness", map.values}};
}

std::string text_of(const nlohmann::json& rows, int rollouts)
{
    std::string text = fmt::format(
        "The mean stiffness of every cell of the sheet, learned from {} rollouts of the source, "
        "and its correlation over the cells with that of the source. The pictures are in the "
        "folder, one for each cloth.\n\n| cloth | lowest [N/m] | highest [N/m] | correlation with "
        "the source |\n|---|---|---|---|\n",
        rollouts);
    for (const nlohmann::json& row : rows) {
        const auto values = row["stiffness"].get<std::vector<double>>();
        const auto [low, high] = std::minmax_element(values.begin(), values.end());
        text += fmt::format(
            "| {} | {:.3g} | {:.3g} | {} |\n", row["name"].get<std::string>(), *low, *high,
            row["correlation"].is_null() ? std::string("-")
                                         : fmt::format("{:.3f}", row["correlation"].get<double>()));
    }
    return text;
}

}  // namespace

RowKeys maps_rows(const ReproduceArguments&)
{
    return {"source", "learned", "homogeneous"};
}

int reproduce_maps(const ReproduceArguments& arguments)
{
    const FemScale scale = fem_scale_named(arguments.scale);
    const fs::path folder = fs::path(arguments.out) / arguments.scale;
    const NamedCloth source = reference_mesh(scale.middle, kReferenceBending);
    const Surrogates surrogates = learn_surrogates(training_folder(arguments), source.cloth, scale,
                                                   std::nullopt, arguments.common);
    fs::create_directories(folder);
    const std::vector<MappedCloth> cloths{
        {"source", "source", source.cloth},
        {"learned", "learned, per spring", surrogates.learned},
        {"homogeneous", "homogeneous, lean law", surrogates.homogeneous}};
    const Grid cells{scale.middle - 1, scale.middle - 1};
    nlohmann::json rows = nlohmann::json::array();
    for (const MappedCloth& mapped : cloths) {
        write_png(folder / (mapped.key + ".png"), draw_stiffness(mapped.cloth));
        rows.push_back(map_row(mapped, source.cloth, cells));
    }
    write_result(arguments, "Stiffness maps of source and surrogate", {{"rows", rows}},
                 text_of(rows, scale.rollouts));
    return kDone;
}

}  // namespace springtime::app
