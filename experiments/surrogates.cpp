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
LearnOptions learn_options(const FemScale& scale)
{
    LearnOptions options;
    options.method = LearnMethod::gradient;
    options.grid = parse_grid(scale.surrogate);
    options.stiffness_iterations = scale.stiffness_iterations;
    options.damping_iterations = scale.damping_iterations;
    options.force_weight = {0, 1};
    options.impulse_weight = {1, 0};
    options.rounds = 1;
    options.stiffness_rate =
        0.03;  // with 0.1 the best iteration came and went within the first few
    options.validation_share = 0.125;  // 16 of 128 rollouts
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
    const Learned learned = learn_in(run, folder / "train.h5", learn_options(scale), common);
    write_png(folder / "source.png", draw_stiffness(source));
    write_png(folder / "surrogate.png", draw_stiffness(learned.cloth));
    return {learned.cloth, *learned.homogeneous};
}

}  // namespace springtime::app
