#include "surrogates.h"

#include "presets.h"

namespace springtime::app {

namespace {

namespace fs = std::filesystem;

GenerateOptions motion_options(const Cloth& source, const FemScale& scale, std::uint64_t seed)
{
    GenerateOptions run = reference_run();
    run.rollouts = scale.rollouts;
    run.seconds = scale.seconds;
    run.seed = seed;
    const int substeps = stable_substeps(source, run.environment, run.dt);
    run.dt /= substeps;
    run.stride = 20 * substeps;
    return run;
}

}  // namespace

FemScale fem_scale_named(const std::string& name)
{
    if (name == "smoke") {
        FemScale scale{5, 7, 9, 9, {8, 8}, 4, 1.5, 1, 1};
        scale.learning.horizons = {{4, 0.5}};
        scale.learning.homogeneous_iterations = 4;
        return scale;
    }
    if (name == "quick") {
        FemScale scale{16, 31, 41, 41, {32, 32}, 24, 8, 2, 30};
        scale.learning.horizons = {{30, 0.5}, {20, 1}, {10, 2}};
        scale.learning.homogeneous_iterations = 30;
        return scale;
    }
    return {16, 31, 61, 41, {32, 32}, 128, 8, 4, 60};
}

fs::path training_folder(const ReproduceArguments& arguments)
{
    const fs::path folder = arguments.shared.empty() ? fs::path(arguments.out) : arguments.shared;
    return folder / arguments.scale / "training";
}

Surrogates learn_surrogates(const fs::path& folder, const Cloth& source, const FemScale& scale,
                            const std::optional<Grid>& grid, const CommonOptions& common)
{
    fs::create_directories(folder);
    write_cloth(folder / "source.json", source);
    make_motion(folder / "train.h5", source, motion_options(source, scale, common.seed), common);
    LearnOptions options = scale.learning;
    options.grid = grid;
    const std::string name =
        grid ? fmt::format("surrogate-{}x{}", grid->rows, grid->cols) : std::string("surrogate");
    const RunFolder run = open_run(folder / name, "default", common);
    const Learned learned = learn_in(run, folder / "train.h5", options, common);
    write_png(folder / "source.png", draw_stiffness(source));
    write_png(folder / (name + ".png"), draw_stiffness(learned.cloth));
    return {learned.cloth, learned.steps.at(1).cloth, learned.steps.at(0).cloth};
}

}  // namespace springtime::app
