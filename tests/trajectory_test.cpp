// The loss on trajectories and its descent: gradients against central differences, optima that are
// known beforehand, and what must not change a result.
#include "learn/trajectory.h"

#include <gtest/gtest.h>

#include <set>

#include "learn/descent.h"
#include "learn/limited_mean.h"
#include "learn/steps.h"
#include "springtime/evaluate.h"
#include "training.h"

namespace springtime {

namespace {

// ---- The loss ----

// Two clips of an uneven 5 x 6 sheet in the wind, seen at the landmarks of another grid. The second
// is shorter, and some landmarks are missing.
struct Windy {
    Scene scene = law_scene(12, 1);
    std::vector<Trajectory> clips;
    LandmarkMap map;
    int stride = 3;

    explicit Windy(const Grid& landmarks)
        : map(scene.cloth, scene.cloth.sheet, grid_points(scene.cloth.sheet, landmarks))
    {
        const std::size_t count = map.landmark_count();
        Random random(7);
        for (const std::size_t frames : {5, 3}) {
            Trajectory clip;
            clip.start = rounded_for_floats(frames == 5 ? scene.start : law_scene(12, 2).start);
            clip.handles = scene.handles;
            clip.frame_count = frames;
            clip.free.assign(count, 1);
            clip.free[1] = 0;
            for (std::size_t i = 0; i < frames; ++i) {
                std::vector<Vec3d> x = map.apply(clip.start.position);
                for (Vec3d& point : x) {
                    point += Vec3d{0.1 * random.normal(), 0.1 * random.normal(), 0.2};
                }
                append_vectors(clip.position, x);
            }
            for (int j = 0; j < 3; ++j) clip.position[3 * (count + 4) + std::size_t(j)] = NAN;
            clips.push_back(std::move(clip));
        }
    }

    template <class Real>
    std::vector<TrajectoryResult> run(Tape<Real>& tape, const ParameterValues& values,
                                      const FrameLoss& loss,
                                      std::vector<ParameterValues>* gradients) const
    {
        std::vector<TrajectoryResult> results;
        const std::size_t width = std::size_t(tape.lane_count());
        tape.set_parameters(values);
        for (std::size_t begin = 0; begin < clips.size(); begin += width) {
            std::vector<const Trajectory*> lanes;
            std::vector<ParameterValues*> to;
            for (std::size_t i = begin; i < std::min(begin + width, clips.size()); ++i) {
                lanes.push_back(&clips[i]);
                if (gradients) to.push_back(&(*gradients)[i]);
            }
            for (const TrajectoryResult& result :
                 follow<Real>(tape, map, lanes, loss, stride, 1e6, to)) {
                results.push_back(result);
            }
        }
        return results;
    }
};

std::vector<FrameLoss> all_losses()
{
    return {{.floor = 1e-3},
            {.floor = 100},
            {.floor = 0, .width = 0.15},
            {.floor = 0, .squares = true}};
}

TEST(FrameLoss, HasTheGradientOfCentralDifferences)
{
    const Windy windy({4, 4});
    const auto tape = make_reference_tape(windy.scene.cloth, windy.scene.options);
    const ParameterValues values = parameters_of(windy.scene.cloth);
    for (const FrameLoss& loss : all_losses()) {
        std::vector<ParameterValues> gradients(2, ParameterGradient(windy.scene.cloth).kinds);
        windy.run(*tape, values, loss, &gradients);
        for (std::size_t k = 0; k < values.size(); ++k) {
            for (const std::size_t e : {std::size_t(0), values[k].size() / 2}) {
                const double step = 1e-4 * std::max(1.0, values[k][e]);
                ParameterValues up = values, down = values;
                up[k][e] += step;
                down[k][e] -= step;
                const auto above = windy.run(*tape, up, loss, nullptr);
                const auto below = windy.run(*tape, down, loss, nullptr);
                for (std::size_t clip = 0; clip < 2; ++clip) {
                    const double slope = (above[clip].loss - below[clip].loss) / (2 * step);
                    // Rounding of the loss over the step.
                    EXPECT_NEAR(gradients[clip][k][e], slope, 1e-5 * std::abs(slope) + 1e-10)
                        << "parameter " << k << " of element " << e << ", clip " << clip;
                }
            }
        }
    }
}

TEST(FrameLoss, IsTheSameOnBothTapes)
{
    const Windy windy({4, 4});
    const ParameterValues values = parameters_of(windy.scene.cloth);
    const auto exact = make_reference_tape(windy.scene.cloth, windy.scene.options);
    const auto fast = make_fast_tape(windy.scene.cloth, windy.scene.options);
    for (const FrameLoss& loss : all_losses()) {
        std::vector<ParameterValues> a(2, ParameterGradient(windy.scene.cloth).kinds), b = a;
        const auto expected = windy.run(*exact, values, loss, &a);
        const auto found = windy.run(*fast, values, loss, &b);
        for (std::size_t clip = 0; clip < 2; ++clip) {
            // Twelve steps in float.
            EXPECT_NEAR(found[clip].loss, expected[clip].loss, 1e-5 * expected[clip].loss);
            EXPECT_NEAR(found[clip].error, expected[clip].error, 1e-5 * expected[clip].error);
            for (std::size_t k = 0; k < a[clip].size(); ++k) {
                double most = 0;
                for (const double g : a[clip][k]) most = std::max(most, std::abs(g));
                for (std::size_t e = 0; e < a[clip][k].size(); ++e) {
                    EXPECT_NEAR(b[clip][k][e], a[clip][k][e], 1e-3 * most);
                }
            }
        }
    }
}

TEST(FrameLoss, IsTheMeanOverFramesOfTheRootMeanSquare)
{
    // Nothing moves in empty space; the targets are off by 3 and 4 m, then by 1 m, then missing.
    const Cloth cloth = chain_cloth(2, 1, 2, 8, 1);
    Trajectory clip;
    clip.start = {0, {{0, 0, 0}, {1, 0, 0}}, {{}, {}}};
    clip.frame_count = 4;
    clip.free = {1, 1};
    append_vectors(clip.position, {{0, 3, 0}, {1, 0, 4}, {0, 1, 0}, {1, 1, 0}});
    clip.position.resize(24, NAN);
    const LandmarkMap map(cloth, cloth.sheet, cloth.rest);
    const auto tape = make_reference_tape(cloth, {0.1, kEmptySpace, Device::reference});
    tape->set_parameters(parameters_of(cloth));
    const Trajectory* lanes[] = {&clip};
    const auto run = [&](const FrameLoss& loss) {
        return follow<double>(*tape, map, lanes, loss, 1, 1e6, {})[0];
    };
    const double first = std::sqrt(12.5);
    EXPECT_NEAR(run({}).loss, (first + 1) / 2, 1e-6);
    EXPECT_NEAR(run({}).error, (first + 1) / 2, 1e-6);
    EXPECT_EQ(run({}).frames, 2u);
    EXPECT_NEAR(run({.squares = true}).loss, (12.5 + 1) / 2, 1e-6);
    EXPECT_NEAR(run({.floor = 2}).loss, (first + (1 / 2.0 + 2) / 2) / 2, 1e-6);
    // Beyond the width a distance counts like its root: h(s) = 2 w^2 (sqrt(1 + s/w^2) - 1).
    const auto bent = [](double s) { return 2 * 9 * (std::sqrt(1 + s / 9) - 1); };
    const double robust = (std::sqrt((bent(9) + bent(16)) / 2) + std::sqrt(bent(1))) / 2;
    EXPECT_NEAR(run({.width = 3}).loss, robust, 1e-6);
    EXPECT_NEAR(run({.width = 3}).error, (first + 1) / 2, 1e-6);
}

// ---- Clips ----

TEST(ClipDraw, TakesAShareFromStartsAndIsAFunctionOfTheIteration)
{
    Motion motion;
    motion.frame_counts = {20, 20, 20, 5};
    const ClipDraw draw{8, 0.5, 3};
    std::set<std::size_t> rollouts;
    for (int iteration = 0; iteration < 20; ++iteration) {
        const std::vector<Clip> clips = draw.clips(motion, {0, 2, 3}, 9, iteration);
        ASSERT_EQ(clips.size(), 8u);
        for (std::size_t i = 0; i < clips.size(); ++i) {
            rollouts.insert(clips[i].rollout);
            const std::size_t latest = clips[i].rollout == 3 ? 0 : 10;
            EXPECT_LE(clips[i].first_frame, i < 4 ? 0 : latest);
        }
        EXPECT_EQ(clips, draw.clips(motion, {0, 2, 3}, 9, iteration));
    }
    EXPECT_EQ(rollouts, (std::set<std::size_t>{0, 2, 3}));
}

TEST(LimitedMean, ScalesDownToTheMedianAndLeavesOutWhatIsNotFinite)
{
    // Norms 1, 2, 3 and 100: the upper one in the middle is 3, so 100 becomes 6.
    const auto mean = limited_mean({{{1}}, {{-2}}, {{3}}, {{100}}}, 2);
    ASSERT_TRUE(mean);
    EXPECT_DOUBLE_EQ((*mean)[0][0], (1 - 2 + 3 + 6) / 4.0);
    EXPECT_DOUBLE_EQ((*limited_mean({{{1}}, {{NAN}}, {{3}}}, 10))[0][0], 2);
    EXPECT_FALSE(limited_mean({{{1}}, {{NAN}}}, 2));
}

// ---- Logarithms ----

TEST(LogParameters, StayBelowStableValuesAndZerosStayZero)
{
    Cloth cloth = patchwork();  // particles of 0.1 kg
    set_law(cloth, law_named("full"));
    const double dt = 2e-3;
    const LogParameters logs(cloth, dt, false);
    TrainState state = logs.start_from(cloth);
    EXPECT_EQ(logs.values(state.parameters)[1], cloth.springs.damping);
    DescentOptions options;
    ParameterValues upwards = ParameterGradient(cloth).kinds;
    for (auto& kind : upwards) std::fill(kind.begin(), kind.end(), -1.0);
    for (int step = 1; step <= 60; ++step) {
        ParameterValues gradient = upwards;
        to_coordinates(gradient, logs.slopes(logs.values(state.parameters)));
        logs.descend(state, gradient, options, 0.3, step);
    }
    const ParameterValues values = logs.values(state.parameters);
    const std::vector<Parameter> parameters = learned_parameters(cloth);
    for (std::size_t k = 0; k < values.size(); ++k) {
        const bool spring = parameters[k].kind->element == Element::spring;
        const bool zero = !spring || parameters[k].kind->name == "isotropic_damping";
        const double bound = parameters[k].is_damping() ? 0.03 * 0.1 / dt : 0.08 * 0.1 / (dt * dt);
        for (const double value : values[k]) EXPECT_NEAR(value, zero ? 0 : bound, 1e-9 * bound);
    }
}

TEST(LogParameters, LevelsMoveFamiliesAndDeviationsMoveElements)
{
    const Cloth cloth = patchwork();
    const LogParameters logs(cloth, 2e-3, false);
    const std::vector<ElementFamily> families = families_of(cloth, Element::spring);
    ParameterValues gradient = ParameterGradient(cloth).kinds;
    const std::size_t pulled = families[1].members[7];
    gradient[0][pulled] = 1;
    const auto moved_by = [&](const DescentOptions& options) {
        TrainState state = logs.start_from(cloth);
        const ParameterValues before = state.parameters;
        logs.descend(state, gradient, options, 0.1, 1);
        std::vector<double> by;
        for (std::size_t s = 0; s < before[0].size(); ++s) {
            by.push_back(state.parameters[0][s] - before[0][s]);
        }
        return by;
    };
    DescentOptions options;
    options.smoothing = 0;
    // The first step of Adam is the rate, whatever the gradient.
    const std::vector<double> both = moved_by(options);
    options.deviate = false;
    const std::vector<double> levels = moved_by(options);
    for (std::size_t s = 0; s < both.size(); ++s) {
        const bool family = cloth.springs.family[s] == SpringFamily::diagonal;
        EXPECT_NEAR(levels[s], family ? -0.2 : 0, 1e-9);
        EXPECT_NEAR(both[s], (family ? -0.2 : 0) - (s == pulled ? 0.1 : 0), 1e-9);
    }
    // Smoothed, the neighbours of the same family and direction follow.
    options.deviate = true;
    options.smoothing = 1;
    const std::vector<double> smoothed = moved_by(options);
    int others = 0;
    for (std::size_t s = 0; s < both.size(); ++s) others += smoothed[s] < levels[s] - 0.05;
    EXPECT_EQ(others, 9);  // itself and eight around it
}

TEST(LogParameters, SmoothingEndsBeforeTheDescentDoes)
{
    const Cloth cloth = patchwork();
    const LogParameters logs(cloth, 2e-3, false);
    const std::size_t pulled = families_of(cloth, Element::spring)[1].members[7];
    ParameterValues gradient = ParameterGradient(cloth).kinds;
    gradient[0][pulled] = 1;
    DescentOptions options;
    options.level_rate = 0;
    options.smoothing = 2;
    options.horizons = {{6, 0.1}, {4, 0.2}};  // ten iterations: 2 passes, then 1, then none
    for (const auto& [step, passes] : {std::pair{1, 2}, {3, 2}, {4, 1}, {8, 1}, {9, 0}, {10, 0}}) {
        TrainState state = logs.start_from(cloth);
        const std::vector<double> before = state.parameters[0];
        logs.descend(state, gradient, options, 0.1, step);
        int moved = 0;
        for (std::size_t s = 0; s < before.size(); ++s) moved += state.parameters[0][s] < before[s];
        // A pass reaches one further in every direction. The family is 5 x 5, the seventh in its
        // second row, so the second pass ends at the border above.
        EXPECT_EQ(moved, passes == 0 ? 1 : passes == 1 ? 9 : 20) << "step " << step;
    }
}

TEST(LogParameters, WhereItIsLeanStiffnessAloneDeviates)
{
    Cloth cloth = patchwork();
    set_law(cloth, law_named("full"));
    for (double& c : cloth.springs.isotropic_damping) c = 0.1;
    for (double& kappa : cloth.bends.stiffness) kappa = 0.2;
    const LogParameters logs(cloth, 2e-3, true);
    TrainState state = logs.start_from(cloth);
    const ParameterValues before = state.parameters;
    ParameterValues gradient = random_values_like(before);
    DescentOptions options;
    options.lean = true;
    logs.descend(state, gradient, options, 0.01, 1);
    const std::vector<Parameter> parameters = learned_parameters(cloth);
    for (std::size_t k = 0; k < parameters.size(); ++k) {
        const bool stiffness =
            parameters[k].kind->element == Element::spring && !parameters[k].is_damping();
        for (const ElementFamily& family : families_of(cloth, parameters[k].kind->element)) {
            double least = HUGE_VAL, most = -HUGE_VAL;
            for (const std::size_t e : family.members) {
                least = std::min(least, state.parameters[k][e] - before[k][e]);
                most = std::max(most, state.parameters[k][e] - before[k][e]);
            }
            // Adam moves each by about the rate, up or down.
            EXPECT_EQ(most - least > 0.01, stiffness);
            EXPECT_EQ(most - least < 1e-12, !stiffness);
        }
    }
    const auto [lightest, heaviest] =
        std::minmax_element(state.parameters.back().begin(), state.parameters.back().end());
    EXPECT_GT(*heaviest - *lightest, 0.01);
}

// ---- The descent ----

// Twelve falls of a patchwork of springs, on its own grid.
struct Falls {
    TrainOptions options = quick_options(6, 6, {});
    TrainingSet set{patchwork_motion(), options};
};

DescentOptions short_descent(int iterations)
{
    DescentOptions options;
    options.horizons = {{iterations / 2, 0.1}, {iterations - iterations / 2, 0.2}};
    options.batch = 8;
    options.validate_every = 4;
    return options;
}

TrainResult descended(const TrainingSet& set, const Cloth& start, const DescentOptions& options,
                      Diary* diary = nullptr, const TrainState* resume = nullptr)
{
    const Progress none;
    return descend(set, start, options, 3, resume, diary ? write_to(*diary) : TrainHooks{}, none,
                   "test");
}

Cloth even_patchwork()
{
    Cloth cloth = patchwork();
    std::fill(cloth.springs.stiffness.begin(), cloth.springs.stiffness.end(), 40);
    std::fill(cloth.springs.damping.begin(), cloth.springs.damping.end(), 0.8);
    return cloth;
}

TEST(Descent, FindsTheSpringsOfAPatchwork)
{
    const Falls falls;
    DescentOptions options = short_descent(120);
    options.horizons = {{60, 0.2}, {60, 0.4}};
    options.smoothing = 0;
    const Cloth truth = patchwork(), start = even_patchwork();
    const TrainResult result = descended(falls.set, start, options);
    const auto distance = [&](const Cloth& cloth) {
        double sum = 0;
        for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
            sum += std::pow(std::log(cloth.springs.stiffness[s] / truth.springs.stiffness[s]), 2);
        }
        return std::sqrt(sum / double(cloth.springs.spring_count()));
    };
    EXPECT_LE(distance(result.cloth), 0.5 * distance(start));
    EXPECT_LE(result.validation_rmse, 0.1 * falls.set.validation_error(start).mean);
    EXPECT_EQ(result.validation_rmse, falls.set.validation_error(result.cloth).mean);
    // With levels alone, families stay even.
    options.horizons = {{30, 0.2}};
    options.deviate = false;
    const SpringSet even = descended(falls.set, start, options).cloth.springs;
    for (std::size_t s = 0; s < even.spring_count(); ++s) {
        const auto same = std::find(even.family.begin(), even.family.end(), even.family[s]);
        EXPECT_EQ(even.stiffness[s], even.stiffness[std::size_t(same - even.family.begin())]);
    }
}

TEST(Descent, GoesOnAfterAnyIterationWithTheSameBits)
{
    const Falls falls;
    const DescentOptions options = short_descent(9);
    Cloth start = even_patchwork();
    set_law(start, law_named("full"));
    Diary diary;
    const TrainResult whole = descended(falls.set, start, options, &diary);
    ASSERT_EQ(diary.states.size(), 9u);
    EXPECT_EQ(diary.logs.front().iteration, 3);
    EXPECT_EQ(whole.state.iteration, 12);
    for (std::size_t stop = 0; stop < 9; ++stop) {
        const TrainResult resumed =
            descended(falls.set, start, options, nullptr, &diary.states[stop]);
        expect_same_bits(resumed, whole);
        EXPECT_EQ(resumed.state.average, whole.state.average);
        EXPECT_EQ(resumed.state.level_square, whole.state.level_square);
    }
    TrainOptions one_thread = falls.options;
    one_thread.threads = 1;
    expect_same_bits(descended(TrainingSet(patchwork_motion(), one_thread), start, options), whole);
}

TEST(Validation, IsThatOfEvaluateOnWholeRollouts)
{
    for (const int rows : {6, 8}) {  // on the landmarks, and between them
        TrainOptions options = quick_options(rows, rows, {});
        options.validation_share = 0.25;
        const TrainingSet set(patchwork_motion(), options);
        const Cloth cloth = make_surrogate(set.motion.header, options.grid, 45, 0.9);
        const ValidationError error = set.validation_error(cloth);
        const MotionError expected = surrogate_error(
            cloth, select_rollouts(set.motion, set.split.validation), Device::automatic, 1);
        ASSERT_EQ(error.by_rollout.size(), 3u);
        EXPECT_NEAR(error.mean, expected.mean, 1e-4 * expected.mean);  // in float, by other kernels
        for (std::size_t i = 0; i < 3; ++i) {
            EXPECT_NEAR(error.by_rollout[i], expected.per_rollout[i], 1e-3 * expected.mean);
        }
    }
}

// ---- What is kept ----

TEST(SimplestGood, IsTheFirstThatIsNotClearlyWorse)
{
    const auto even = [](double mean) { return ValidationError{mean, {mean, mean, mean}}; };
    EXPECT_EQ(simplest_good({even(1), even(0.9), even(0.5)}), 2u);
    EXPECT_EQ(simplest_good({even(1.02), even(0.995), even(1)}), 0u);
    EXPECT_EQ(simplest_good({even(1), even(NAN), even(0.5)}), 2u);
    EXPECT_EQ(simplest_good({even(NAN)}), std::nullopt);
    // Differences 0.4, -0.2, 0.1: mean 0.1, standard error sqrt(0.06/2) = 0.17.
    EXPECT_EQ(simplest_good({{1.1, {1.4, 0.8, 1.1}}, {1, {1, 1, 1}}}), 0u);
}

// A sheet of triangles, stiff in one half: no network of springs is like it.
Motion stiff_half(int rollouts, std::uint64_t seed)
{
    const Sheet sheet{3, 3, 1.5};
    MeshMaterial material;
    material.shear_stiffness = material.area_stiffness =
        MaterialField::uniform(15).paint({MaterialField::ColumnStripes{{{0.5, 1}}}, 120});
    material.damping = MaterialField::uniform(0.1);
    material.bending = MaterialField::uniform(1e-3);
    const Cloth cloth =
        make_mesh_cloth(sheet, make_grid_mesh(sheet, {7, 7}, MeshCut::diagonal), material);
    GenerateOptions options = short_falls(rollouts, 2);
    options.anchor_size = 1;
    options.anchor_radius = 0.3;
    options.seed = seed;
    return generated_motion(cloth, options);
}

TEST(Learn, PerSpringWinsOnAnUnevenSheetOfTrianglesAndTheLinearAnswerIsRefused)
{
    const Motion motion = stiff_half(16, 3), unseen = stiff_half(8, 4);
    LearnOptions options;
    options.horizons = {{30, 0.3}, {40, 0.8}};
    options.batch = 16;
    options.threads = 2;
    options.smoothing = 1;  // of seven points a side
    const Learned learned = learn(motion, options);
    ASSERT_EQ(learned.steps.size(), 3u);
    ASSERT_TRUE(learned.linear_rmse);  // solved, but not taken
    EXPECT_EQ(parameters_of(learned.cloth), parameters_of(learned.steps[2].cloth));
    EXPECT_LT(learned.validation_rmse, *learned.linear_rmse);
    EXPECT_FALSE(learned.cloth.errors);
    const auto error = [&](const Cloth& cloth) {
        return surrogate_error(cloth, unseen, Device::automatic, 2).mean;
    };
    const double ours = error(learned.cloth);
    EXPECT_LT(ours, 0.8 * error(learned.steps[1].cloth));
    EXPECT_LT(ours, 0.75 * error(learned.steps[0].cloth));  // seen: 0.65
    EXPECT_LT(ours, 0.3 * trivial_errors(unseen).best());
}

TEST(Learn, WhatLosesToNothingMovesIsRefusedAndLeavesNoCloth)
{
    // Landmarks that swap places from frame to frame: no cloth does that.
    Motion motion = select_rollouts(patchwork_motion(), {0, 1, 2});
    motion.read = [read = motion.read](std::size_t rollout, std::size_t first, std::size_t count) {
        Rollout result = read(rollout, 0, 1);
        const Rollout still = result;
        Random random = Random::stream(rollout, first);
        result.frame_count = count;
        result.position.clear();
        result.velocity.clear();
        for (std::size_t f = 0; f < count; ++f) {
            for (const float x : still.position)
                result.position.push_back(x + float(f + first == 0 ? 0 : 0.01 * random.normal()));
            for (std::size_t i = 0; i < still.position.size(); ++i)
                result.velocity.push_back(float(3 * random.normal()));
        }
        result.acceleration = result.velocity;
        return result;
    };
    LearnOptions options;
    options.horizons = {{2, 0.1}};
    options.homogeneous_iterations = 2;
    MemoryStore store;
    EXPECT_THROW(learn(motion, options, {}, &store), Failure);
}

}  // namespace

}  // namespace springtime
