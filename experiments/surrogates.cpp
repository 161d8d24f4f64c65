#include "surrogates.h"

#include "presets.h"
#include "reproduce.h"

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

// Stiffness by impulses on slow clips, then damping by forces on all.
TrainOptions training_options(const FemScale& scale, const CommonOptions& common)
{
    const LossWeights impulse{.force = 0, .impulse = 1}, force{.force = 1, .impulse = 0};
    TrainOptions options;
    options.grid = grid_options(scale.surrogate, ClothOptions{}.families);
    options.passes = {{Learn::stiffness, scale.stiffness_iterations, true, impulse},
                      {Learn::damping, scale.damping_iterations, false, force}};
    options.rounds = 1;
    options.stiffness_rate =
        0.03;  // with 0.1 the best iteration came and went within the first few
    options.validation_share = 0.125;  // 16 of 128 rollouts
    options.seed = common.seed;
    options.threads = common.threads;
    options.device = device_named(common.device);
    return options;
}

}  // namespace

FemScale fem_scale_named(const std::string& name)
{
    if (name == "smoke") return {5, 7, 9, "8x8", 4, 1.5, 4, 2, 1};
    if (name == "quick") return {16, 31, 46, "32x32", 32, 8, 48, 16, 30};
    return {16, 31, 61, "32x32", 128, 8, 256, 64, 60};
}

Surrogates learn_surrogates(const fs::path& folder, const Cloth& source, const FemScale& scale,
                            const CommonOptions& common)
{
    fs::create_directories(folder);
    write_cloth(folder / "source.json", source);
    make_motion(folder / "train.h5", source, motion_options(source, scale, common.seed), common);
    const RunFolder run = open_run(folder / "surrogate", "impulse", common);
    const TrainingOutcome outcome =
        finish_training(folder / "train.h5", training_options(scale, common), run, common);
    write_png(folder / "source.png", draw_stiffness(source));
    write_png(folder / "surrogate.png", draw_stiffness(outcome.result.cloth));
    return {outcome.result.cloth, read_cloth(run.path() / "homogeneous.json")};
}

}  // namespace springtime::app
