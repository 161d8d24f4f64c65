#include <filesystem>

#include "presets.h"
#include "reproduce.h"
#include "settling.h"
#include "surrogates.h"

namespace springtime::app {

namespace {

namespace fs = std::filesystem;

// Two opposite corners are held by discs that a mesh of 16 x 16 still has three particles in.
constexpr double kCornerRadius = 1.1;  // [m]

Handles corner_discs(const Cloth& cloth, const char* one, const char* other)
{
    Handles handles;
    for (const char* name : {one, other}) {
        const int corner = particles_named(cloth, name).front();
        const auto disc = particles_within(cloth, cloth.rest[corner], kCornerRadius);
        handles.particles.insert(handles.particles.end(), disc.begin(), disc.end());
    }
    return handles;
}

// The distance that the figure is about: of the surrogate over that of the mesh it learned from.
double surface_ratio(const nlohmann::json& reports)
{
    return reports[2]["to_first"]["surface"]["rms"].get<double>() /
           reports[1]["to_first"]["surface"]["rms"].get<double>();
}

struct Case {
    std::string key, title;
    nlohmann::json reports;
};

nlohmann::json result_of(const std::vector<Case>& cases)
{
    nlohmann::json result;
    for (const Case& c : cases) {
        result[c.key] = {{"title", c.title},
                         {"sheets", c.reports},
                         {"surrogate_over_coarse", surface_ratio(c.reports)}};
    }
    return result;
}

std::string text_of(const std::vector<Case>& cases)
{
    std::string text;
    for (const Case& c : cases) {
        text += fmt::format(
            "## {}\n\n{}\nSurface distance of the surrogate over that of the mesh it learned "
            "from: {:.2f}\n\n",
            c.title, settling_table(c.reports), surface_ratio(c.reports));
    }
    return text;
}

std::string case_key(bool aligned, bool bends)
{
    return fmt::format("fold-{}-{}", aligned ? "aligned" : "misaligned",
                       bends ? "with-bending" : "without-bending");
}

void fold_cases(const fs::path& folder, const FemScale& scale, double bending,
                const CommonOptions& common, std::vector<Case>& cases)
{
    const std::string kind = bending > 0 ? "with-bending" : "without-bending";
    const std::string words = bending > 0 ? "with bending stiffness" : "without bending stiffness";
    const NamedCloth coarse = reference_mesh(scale.coarse, bending),
                     fine = reference_mesh(scale.fine, bending);
    const auto learn_on = [&](const std::optional<Grid>& grid) {
        return learn_surrogates(folder / kind / "training", coarse.cloth, scale, grid, common);
    };
    const Surrogates finer = learn_on(scale.between), own = learn_on(std::nullopt);
    const std::string side = fmt::format("{} x {}", scale.between.rows, scale.between.cols);
    const std::vector<NamedCloth> others{coarse,
                                         {"learned " + side, finer.learned},
                                         {"homogeneous lean " + side, finer.homogeneous},
                                         {"homogeneous published " + side, finer.published},
                                         {"learned on the grid of the mesh", own.learned}};
    SettlingOptions options;
    options.environment = reference_run().environment;
    options.longest = scale.longest;
    for (const bool aligned : {true, false}) {
        const std::string way = aligned ? "aligned" : "misaligned";
        note(common, fmt::format("fold, {}, {}", way, words));
        options.pictures = folder / kind / way;
        options.handles_of = [aligned](const Cloth& cloth) {
            return aligned ? corner_discs(cloth, "corner-nw", "corner-se")
                           : corner_discs(cloth, "corner-ne", "corner-sw");
        };
        cases.push_back({case_key(aligned, bending > 0),
                         fmt::format("Fold {} the diagonals of the mesh, {}",
                                     aligned ? "along" : "across", words),
                         settle_all(fine, others, options, common)});
    }
}

}  // namespace

RowKeys locking_rows(const ReproduceArguments&)
{
    return {case_key(true, true), case_key(false, true), case_key(true, false),
            case_key(false, false)};
}

int reproduce_locking(const ReproduceArguments& arguments)
{
    const FemScale scale = fem_scale_named(arguments.scale);
    const fs::path folder = fs::path(arguments.out) / arguments.scale;
    std::vector<Case> cases;
    fold_cases(folder, scale, kReferenceBending, arguments.common, cases);
    fold_cases(folder, scale, 0, arguments.common, cases);
    write_result(arguments, "Locking of coarse meshes", result_of(cases), text_of(cases));
    return kDone;
}

}  // namespace springtime::app
