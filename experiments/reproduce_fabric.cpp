#include "reproduce_fabric.h"

#include <cmath>

#include "presets.h"
#include "progress.h"

namespace springtime::app {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct FabricScale {
    int mesh, finer;  // points along a side
    double seconds;
    int few, test;                     // rollouts
    std::vector<Horizon> horizons;     // of descents; empty: the default
    std::optional<int> homogeneous{};  // iterations
};

FabricScale fabric_scale(const std::string& name)
{
    if (name == "smoke") return {7, 13, 2, 3, 2, {{2, 0.5}}, 2};
    if (name == "quick") return {16, 31, 8, 8, 8, {{30, 0.5}, {20, 1}}, 30};
    return {31, 61, 8, 8, 32, {}, {}};
}

// One kind of data of triangles.
struct FabricData {
    std::string name, text;
    bool camera = false;  // positions at 60 frames a second
    double noise = 0;     // [m]
    bool finer = false;   // the source has a finer mesh; every second point is a landmark
};

const std::vector<FabricData>& fabric_data()
{
    static const std::vector<FabricData> all{
        {"clean", "clean, velocities stored"},
        {"camera", "60 fps, positions only", true},
        {"camera-1mm", "60 fps, positions only, noise 1 mm", true, 1e-3},
        {"finer", "clean, every second point of a mesh twice as fine", false, 0, true}};
    return all;
}

GenerateOptions fabric_run(const FabricScale& scale, const FabricData& data, int rollouts,
                           std::uint64_t seed)
{
    GenerateOptions run = reference_run();
    run.rollouts = rollouts;
    run.seconds = scale.seconds;
    run.seed = seed;
    if (data.camera) film(run);
    return run;
}

// What chaos makes of rounding: every parameter of the source is changed by a part in 10^7, the
// last digit of a float.
Cloth hardly_changed(Cloth cloth)
{
    constexpr double kHardly = 1e-7;
    int sign = 1;
    for (const Parameter& parameter : learned_parameters(cloth)) {
        for (double& value : values_of(cloth, parameter)) {
            value *= 1 + sign * kHardly;
            sign = -sign;
        }
    }
    return cloth;
}

constexpr const char* kHardlyChanged = "source-hardly-changed";
constexpr const char* kCoarseSource = "source-on-finer";

json motion_row(const std::string& key, const std::string& text, const Cloth& cloth,
                const Motion& test, const CommonOptions& common)
{
    const MotionError error = surrogate_error(cloth, test, device_named(common.device),
                                              common.threads, show_progress(common.quiet));
    return {
        {"key", key}, {"text", text}, {"motion_rmse", {{"mean", error.mean}, {"std", error.std}}}};
}

double relative_rmse(const std::vector<double>& ours, const std::vector<double>& theirs)
{
    double sum = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) sum += std::pow(ours[i] / theirs[i] - 1, 2);
    return std::sqrt(sum / double(ours.size()));
}

LearnOptions fabric_options(const FabricScale& scale)
{
    LearnOptions options;
    options.elements = LearnElements::triangles;
    options.horizons = scale.horizons;
    options.homogeneous_iterations = scale.homogeneous;
    return options;
}

class FabricTrial {
  public:
    FabricTrial(const ReproduceArguments& arguments, const fs::path& folder)
        : scale_(fabric_scale(arguments.scale)),
          common_(arguments.common),
          folder_(folder / "triangles"),
          truth_(reference_cloth({scale_.mesh, scale_.mesh}, MeshCut::diagonal)),
          finer_(reference_cloth({scale_.finer, scale_.finer}, MeshCut::diagonal))
    {
        fs::create_directories(folder_);
    }

    json rows() const
    {
        json rows = json::array();
        const Motion test = motion({"unseen", ""}, scale_.test, common_.seed + 1000003);
        rows.push_back(motion_row(kHardlyChanged, "source, parameters changed by 1e-7",
                                  hardly_changed(truth_), test, common_));
        for (const FabricData& data : fabric_data()) rows.push_back(row(data, test));
        rows.push_back(motion_row(kCoarseSource, "source with the coarse mesh, on the finer source",
                                  truth_, unseen_finer(), common_));
        return rows;
    }

  private:
    Motion motion(const FabricData& data, int rollouts, std::uint64_t seed) const
    {
        const fs::path path = folder_ / (data.name + ".h5");
        make_motion(
            path, data.finer ? finer_ : truth_, fabric_run(scale_, data, rollouts, seed), common_,
            {.noise = data.noise, .positions_only = data.camera, .every = data.finer ? 2 : 1});
        return until_interrupted(open_motion(path));
    }

    Motion unseen_finer() const
    {
        return motion({"unseen-finer", "", false, 0, true}, scale_.test, common_.seed + 2000003);
    }

    json row(const FabricData& data, const Motion& test) const
    {
        const fs::path file = folder_ / (data.name + ".json");
        if (fs::exists(file)) return json::parse(read_text(file.string()));
        note(common_, "triangles, " + data.text);
        motion(data, scale_.few, common_.seed);
        const RunFolder run = open_run(folder_ / data.name, "triangles", common_);
        const Learned learned =
            learn_in(run, folder_ / (data.name + ".h5"), fabric_options(scale_), common_);
        const Motion unseen = data.finer ? unseen_finer() : test;
        json row = motion_row(data.name, fmt::format("{} rollouts, {}", scale_.few, data.text),
                              learned.cloth, unseen, common_);
        row["seconds"] = learned.seconds;
        const bool comparable =
            !data.finer && learned.cloth.triangles.corners == truth_.triangles.corners;
        if (comparable) {
            const TriangleSet &ours = learned.cloth.triangles, &theirs = truth_.triangles;
            row["shear"] = relative_rmse(ours.shear_stiffness, theirs.shear_stiffness);
            row["area"] = relative_rmse(ours.area_stiffness, theirs.area_stiffness);
            row["bending"] = relative_rmse(learned.cloth.hinges.stiffness, truth_.hinges.stiffness);
        }
        row["summary"] = learned.summary;
        write_text(file.string(), row.dump(1) + "\n");
        return row;
    }

    FabricScale scale_;
    const CommonOptions& common_;
    fs::path folder_;
    Cloth truth_, finer_;
};

}  // namespace

json fabric_rows(const ReproduceArguments& arguments, const fs::path& folder)
{
    return FabricTrial(arguments, folder).rows();
}

RowKeys fabric_row_keys()
{
    RowKeys keys{kHardlyChanged};
    for (const FabricData& data : fabric_data()) keys.push_back(data.name);
    keys.push_back(kCoarseSource);
    return keys;
}

std::string fabric_table(const json& rows)
{
    std::string text =
        "\nTriangles and hinges of the reference sheet, relative RMSE over all elements:\n\n"
        "| data | shear stiffness | area stiffness | hinge stiffness | motion RMSE on unseen "
        "rollouts [m] | seconds |\n|---|---|---|---|---|---|\n";
    for (const json& row : rows) {
        const auto number = [&](const char* key, const char* format) {
            return row.contains(key) ? fmt::format(fmt::runtime(format), row[key].get<double>())
                                     : std::string("-");
        };
        text += fmt::format("| {} | {} | {} | {} | {:.2g} ± {:.2g} | {} |\n",
                            row["text"].get<std::string>(), number("shear", "{:.2g}"),
                            number("area", "{:.2g}"), number("bending", "{:.2g}"),
                            row["motion_rmse"]["mean"].get<double>(),
                            row["motion_rmse"]["std"].get<double>(), number("seconds", "{:.0f}"));
    }
    return text;
}

}  // namespace springtime::app
