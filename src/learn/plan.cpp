#include "learn/plan.h"

#include <algorithm>

#include "learn/meaning.h"
#include "motion/clips.h"
#include "springtime/error.h"

namespace springtime {

namespace {

GridOptions grid_options(const Grid& grid, const std::vector<SpringFamily>& families)
{
    const auto has = [&](SpringFamily family) {
        return std::find(families.begin(), families.end(), family) != families.end();
    };
    return {grid.rows,
            grid.cols,
            has(SpringFamily::structural),
            has(SpringFamily::diagonal),
            has(SpringFamily::antidiagonal),
            has(SpringFamily::bending)};
}

// Weights of the passes, in their order.
std::vector<LossWeights> weights_of(const LearnOptions& options, bool captured)
{
    const auto pick = [](const std::vector<double>& values, std::size_t pass, double otherwise) {
        return values.empty() ? otherwise : values[std::min(pass, values.size() - 1)];
    };
    std::vector<LossWeights> weights;
    for (std::size_t pass = 0; pass < 2; ++pass) {
        const double negative = pick(options.negative_weight, pass, 0);
        // Forces of captured motion are second differences, which noise drowns.
        weights.push_back({pick(options.force_weight, pass, captured ? 0 : 1),
                           pick(options.impulse_weight, pass, captured ? 0 : 10),
                           pick(options.position_weight, pass, captured ? 1 : 0), negative,
                           negative});
    }
    return weights;
}

std::vector<TrainPass> passes_of(const LearnOptions& options, bool captured)
{
    const bool learn_stiffness = options.freeze != Freeze::stiffness;
    const bool learn_damping = options.freeze != Freeze::damping;
    const int stiffness_iterations = options.stiffness_iterations.value_or(captured ? 64 : 128);
    const int damping_iterations = options.damping_iterations.value_or(captured ? 32 : 64);
    const std::vector<LossWeights> weights = weights_of(options, captured);
    if (options.passes.value_or(captured ? LearnPasses::single : LearnPasses::dual) ==
        LearnPasses::single) {
        const Learn learn = !learn_stiffness ? Learn::damping
                            : learn_damping  ? Learn::both
                                             : Learn::stiffness;
        return {{learn, stiffness_iterations + damping_iterations, false, weights[0]}};
    }
    std::vector<TrainPass> passes;
    if (learn_stiffness) {
        passes.push_back(
            {Learn::stiffness, stiffness_iterations, options.slow_seconds > 0, weights[0]});
    }
    if (learn_damping) passes.push_back({Learn::damping, damping_iterations, false, weights[1]});
    return passes;
}

// Clips become as short as the rollouts, but for stubs of less than half the longest: they only
// judge the answer.
void fit_clips(TrainOptions& options, const Motion& motion)
{
    const std::size_t longest =
        *std::max_element(motion.frame_counts.begin(), motion.frame_counts.end());
    for (const std::size_t frames : motion.frame_counts) {
        if (frames < 2 || 2 * frames < longest) continue;
        options.clip_steps = std::min(options.clip_steps, int(frames - 1) * motion.header.stride);
    }
}

}  // namespace

Motion learning_motion(const Motion& motion)
{
    // A start in the midst of a recording is as noisy as its tracker, so whole recordings are left
    // out where there are some.
    constexpr std::size_t kEnough = 3;
    const std::size_t count = motion.frame_counts.size();
    const bool cut = count == 1 || (motion.header.captured && count < kEnough);
    const std::size_t segments = cut ? segment_count(motion) : 1;
    return segments > 1 ? cut_into_segments(motion, segments) : motion;
}

namespace {

void check_range(const char* field, double value, double least, double most)
{
    if (value >= least && value <= most) return;
    throw Error(Field{field}, "learn: {} is {}; it must lie between {} and {}", field, value, least,
                most);
}

void check_descent(const LearnOptions& options)
{
    constexpr double kMany = 1e6, kTiny = 1e-6;
    for (const Horizon& horizon : options.horizons) {
        check_range("horizons", horizon.seconds, kTiny, kMany);
        check_range("horizons", horizon.iterations, 1, kMany);
    }
    check_range("homogeneous_iterations", options.homogeneous_iterations.value_or(1), 1, kMany);
    check_range("batch", options.batch, 1, kMany);
    check_range("rate", options.rate.value_or(1), kTiny, 10);
    check_range("start_share", options.start_share.value_or(0), 0, 1);
    check_range("smoothing", options.smoothing.value_or(0), 0, 1000);
    check_range("width", options.width.value_or(1), 1e-12, kMany);
    check_range("validate_every", options.validate_every.value_or(1), 1, kMany);
    check_range("validation_rollouts", options.validation_rollouts, 1, kMany);
    if (options.substeps) check_range("substeps", options.substeps->count.value_or(1), 1, kMany);
}

void check_elements(const LearnOptions& options)
{
    const bool triangles = options.elements == LearnElements::triangles;
    const std::pair<const char*, bool> of_triangles[] = {
        {"cut", options.cut.has_value()},
        {"orthotropic", options.orthotropic},
        {"region_count", options.region_count.has_value()},
        {"region_map", options.region_map.has_value()},
        {"single_elements", options.single_elements}};
    for (const auto& [field, given] : of_triangles) {
        if (!given || triangles) continue;
        throw Error(Field{field},
                    "learn: {} belongs to triangles; add `elements` triangles, or leave it out",
                    field);
    }
    if (triangles && options.law) {
        throw Error(Field{"law"},
                    "learn: a law belongs to springs, and triangles are to be learned; leave out "
                    "one of the two");
    }
    if (triangles && options.families) {
        throw Error(Field{"families"},
                    "learn: families belong to springs, and triangles are to be learned; leave "
                    "out one of the two");
    }
    if (options.mesh && options.grid) {
        throw Error(Field{"mesh"}, "learn: a mesh and a grid of particles; give one of the two");
    }
    if (options.single_elements && (options.region_count || options.region_map)) {
        throw Error(Field{"single_elements"},
                    "learn: regions, and every element for itself; give one of the two");
    }
    if (options.region_count && options.region_map) {
        throw Error(Field{"region_count"},
                    "learn: a number of regions and a map of them; give one of the two");
    }
    if (options.region_count) check_range("region_count", *options.region_count, 1, 1000);
    if (learns_on_mesh(options) && options.method == LearnMethod::gradient) {
        throw Error(Field{"method"},
                    "learn: the published descent learns springs on a grid; use another method for "
                    "meshes");
    }
}

void check_asked_grid(const Sheet& sheet, const Grid& grid)
{
    try {
        grid_points(sheet, grid);
    } catch (const Error& error) {
        throw Error(Field{"grid"}, "{}", error.what());
    }
}

void check_motion_to_learn(const Motion& motion)
{
    if (motion.header.contact) {
        throw Error(
            "learn: in this motion the cloth could touch obstacles or itself, and those forces "
            "would be taken for springs; learn from motion without contact");
    }
    for (std::size_t r = 0; r < motion.frame_counts.size(); ++r) {
        if (motion.frame_counts[r] >= 2) continue;
        throw Error("learn: rollout {} has {} frames, but motion takes two; leave it out", r,
                    motion.frame_counts[r]);
    }
    check_some_free(motion, "learn");
    check_holds_together(motion);
}

}  // namespace

void check_learn(const LearnOptions& options, const Motion& motion)
{
    check_motion_to_learn(motion);
    check_descent(options);
    split_rollouts(motion.frame_counts.size(), options.validation_share, options.seed);
    for (const auto& [field, weights] : {std::pair{"force_weight", &options.force_weight},
                                         std::pair{"impulse_weight", &options.impulse_weight},
                                         std::pair{"position_weight", &options.position_weight},
                                         std::pair{"negative_weight", &options.negative_weight}}) {
        if (weights->size() <= 2) continue;
        throw Error(Field{field}, "learn: {} weights for two passes; give one or two",
                    weights->size());
    }
    check_elements(options);
    if (options.grid) check_asked_grid(motion.header.sheet, *options.grid);
    if (options.method == LearnMethod::gradient) return;
    const std::pair<const char*, bool> of_another[] = {
        {"freeze", options.freeze.has_value()},
        {"stiffness_start", options.stiffness_start.has_value()},
        {"damping_start", options.damping_start.has_value()},
        {"passes", options.passes.has_value()},
        {"rounds", options.rounds.has_value()},
        {"stiffness_iterations", options.stiffness_iterations.has_value()},
        {"damping_iterations", options.damping_iterations.has_value()},
        {"clip_steps", options.clip_steps.has_value()},
        {"patience", options.patience.has_value()},
        {"stiffness_rate", options.stiffness_rate.has_value()},
        {"damping_rate", options.damping_rate.has_value()},
        {"logarithmic", options.logarithmic.has_value()},
        {"force_weight", !options.force_weight.empty()},
        {"impulse_weight", !options.impulse_weight.empty()},
        {"position_weight", !options.position_weight.empty()},
        {"negative_weight", !options.negative_weight.empty()}};
    for (const auto& [field, given] : of_another) {
        if (!given) continue;
        throw Error(
            Field{field},
            "learn: {} belongs to the descent as published; add `method` gradient, or leave "
            "it out",
            field);
    }
}

TrainOptions train_options(const LearnOptions& options, const Motion& motion)
{
    const bool captured = motion.header.captured;
    TrainOptions train;
    const Grid grid = options.grid.value_or(fitting_grid(motion.header));
    train.grid = grid_options(grid, options.families.value_or(std::vector(kSpringFamilies.begin(),
                                                                          kSpringFamilies.end())));
    train.law = options.law.value_or(SpringLaw{});
    train.passes = passes_of(options, captured);
    train.rounds = options.rounds.value_or(captured ? 1 : 4);
    train.batch = options.batch;
    // Measured on a cloth of 0.3 m with 1 mm of noise: with clips of 0.1 s and steps of 1 % the
    // loss halves; from 0.5 s on gradients lead nowhere, since what a noisy start shakes is chaos.
    train.clip_steps = options.clip_steps.value_or(captured ? 150 : 500);
    const bool may_fit = options.method != LearnMethod::gradient || captured;
    if (may_fit && !options.clip_steps && !motion.frame_counts.empty()) fit_clips(train, motion);
    train.substeps = options.substeps;
    train.slow_seconds = options.slow_seconds;
    train.stiffness_rate = options.stiffness_rate.value_or(captured ? 0.01 : 0.1);
    train.damping_rate = options.damping_rate.value_or(captured ? 0.01 : 0.075);
    train.round_decay = options.round_decay;
    train.cosine = options.cosine;
    train.logarithmic = options.logarithmic.value_or(captured);
    train.stiffness_start = options.stiffness_start;
    train.damping_start = options.damping_start;
    train.validation_share = options.validation_share;
    train.validation_rollouts = options.validation_rollouts;
    train.validate_every = options.validate_every.value_or(8);
    const int patience = options.patience.value_or(captured ? 24 : 0);
    if (patience > 0) train.patience = patience;
    train.seed = options.seed;
    train.threads = options.threads;
    train.crew = options.crew;
    train.device = options.device;
    return train;
}

bool learns_on_mesh(const LearnOptions& options)
{
    return options.elements == LearnElements::triangles || options.mesh;
}

IdentifyOptions identify_options(const LearnOptions& options, const TrainOptions& train)
{
    IdentifyOptions solve;
    solve.grid = train.grid;
    solve.cloth = train.cloth;
    solve.regions = train.regions;
    if (options.region_count) solve.search = {*options.region_count, *options.region_count};
    if (options.single_elements) solve.search.reset();
    solve.law = options.law.value_or(SpringLaw{});
    solve.form = options.form;
    solve.instruments = options.instruments;
    solve.window = options.window;
    solve.prior = options.prior;
    solve.validation_share = options.validation_share;
    solve.seed = options.seed;
    solve.threads = options.threads;
    solve.crew = options.crew;
    return solve;
}

std::optional<Grid> finer_grid(const LearnOptions& options, const MotionHeader& header)
{
    constexpr int kLeast = 3, kMostRows = 20;  // fewer are no grid for a surrogate
    const bool open = header.captured && !options.grid && !learns_on_mesh(options) &&
                      options.method != LearnMethod::linear && !options.freeze &&
                      !options.stiffness_start && !options.damping_start;
    const std::optional<Grid> own = regular_grid(header.rest);
    if (!open || !own || own->rows < kLeast || own->cols < kLeast) return std::nullopt;
    const Grid finer{2 * own->rows - 1, 2 * own->cols - 1};
    if (finer.rows > kMostRows || finer.cols > kMostRows) return std::nullopt;
    return finer;
}

bool compares_positions_only(const TrainOptions& options)
{
    return std::all_of(options.passes.begin(), options.passes.end(), [](const TrainPass& pass) {
        return pass.weights.force == 0 && pass.weights.impulse == 0;
    });
}

}  // namespace springtime
