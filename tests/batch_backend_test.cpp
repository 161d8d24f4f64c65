// A device that takes whole rollouts and clips: what generates, learns and judges says the same as
// without one, sends no more than it must, and stops when asked.
#include <gtest/gtest.h>

#include <numeric>

#include "learn/descent.h"
#include "learn/watched_error.h"
#include "motion/generate_by.h"
#include "motion/motion_cache.h"
#include "springtime/evaluate.h"
#include "stand_ins.h"
#include "training.h"

namespace springtime {

namespace {

// ---- Generating ----

struct Made {
    std::vector<Rollout> rollouts;
    bool finished = true;
};

Made made(const GenerateOptions& options, BatchRecorder* recorder, int first = 0,
          const Progress& progress = {})
{
    Made made;
    const auto sink = [&](int index, const Rollout& rollout) {
        EXPECT_EQ(index, first + int(made.rollouts.size()));
        made.rollouts.push_back(rollout);
    };
    try {
        if (recorder) {
            generate_by(*recorder, patchwork(), options, first, sink, progress);
        } else {
            generate(patchwork(), options, first, sink, progress);
        }
    } catch (const Cancelled&) {
        made.finished = false;
    }
    return made;
}

void expect_same_rollouts(const std::vector<Rollout>& a, const std::vector<Rollout>& b)
{
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_EQ(a[i].frame_count, b[i].frame_count);
        EXPECT_EQ(a[i].position, b[i].position) << i;
        EXPECT_EQ(a[i].velocity, b[i].velocity) << i;
        EXPECT_EQ(a[i].acceleration, b[i].acceleration) << i;
        EXPECT_EQ(a[i].handles.particles, b[i].handles.particles) << i;
    }
}

StepperRecorder recorder_for(const GenerateOptions& options, int lanes)
{
    return {patchwork(), {options.dt, options.environment, Device::automatic}, lanes};
}

TEST(GenerateByARecorder, MakesTheRolloutsThatSteppersMake)
{
    const GenerateOptions options = short_falls(11, 0.1);
    const Made expected = made(options, nullptr);
    for (const int lanes : {1, 4, 100}) {
        StepperRecorder recorder = recorder_for(options, lanes);
        expect_same_rollouts(made(options, &recorder).rollouts, expected.rollouts);
        const Made rest = made(options, &recorder, 6);
        expect_same_rollouts(rest.rollouts,
                             {expected.rollouts.begin() + 6, expected.rollouts.end()});
    }
}

TEST(GenerateByARecorder, StopsWhenAskedAndHandsOutWhatIsFinished)
{
    const GenerateOptions options = short_falls(11, 0.1);
    StepperRecorder recorder = recorder_for(options, 4);
    double last = 0;
    const Made stopped = made(options, &recorder, 0, Progress([&](const ProgressUpdate& update) {
                                  EXPECT_GE(update.done, last);
                                  EXPECT_EQ(update.total, 11);
                                  last = update.done;
                                  return update.done < 8.5;  // in the third batch
                              }));
    EXPECT_FALSE(stopped.finished);
    const std::vector<Rollout> all = made(options, nullptr).rollouts;
    expect_same_rollouts(stopped.rollouts, {all.begin(), all.begin() + 8});
    made(options, &recorder, 0, Progress([&](const ProgressUpdate& update) {
             last = update.done;
             return true;
         }));
    EXPECT_EQ(last, 11);
}

TEST(GenerateByARecorder, PassesOnErrorsOfTheSinkAndBlowUps)
{
    GenerateOptions options = short_falls(11, 0.1);
    StepperRecorder recorder = recorder_for(options, 4);
    int taken = 0;
    const auto sink = [&](int index, const Rollout&) {
        if (index == 5) throw Failure("disk full");
        ++taken;
    };
    EXPECT_THROW(generate_by(recorder, patchwork(), options, 0, sink, {}), Failure);
    EXPECT_EQ(taken, 5);
    options.dt = 0.2;
    options.seconds = 30;
    StepperRecorder wild = recorder_for(options, 4);
    const auto message = [&](BatchRecorder* by) -> std::string {
        try {
            made(options, by);
        } catch (const Failure& failure) {
            return failure.what();
        }
        return "nothing was thrown";
    };
    EXPECT_EQ(message(&wild), message(nullptr));
    EXPECT_EQ(message(&wild).find("the cloth blew up: particle "), 0u);
}

// ---- Judging ----

// Rollouts of different lengths.
Motion uneven_falls()
{
    const Motion& all = patchwork_motion();
    std::vector<Rollout> rollouts;
    for (std::size_t r = 0; r < 9; ++r) rollouts.push_back(all.read(r, 0, 120 - 7 * (r % 4)));
    return Motion::from_rollouts(all.header, std::move(rollouts));
}

MakeRecorder recorders(int lanes)
{
    return [lanes](const Cloth& cloth, const SimulationOptions& options, std::size_t, std::size_t) {
        return std::make_unique<StepperRecorder>(cloth, options, lanes);
    };
}

TEST(SurrogateErrorByARecorder, IsThatOfSteppers)
{
    const Motion motion = uneven_falls();
    const Cloth cloth = make_grid_cloth({2.5, 2.5, 3.6}, {5, 7, true, true, true, false},
                                        MaterialField::uniform(40), MaterialField::uniform(0.8));
    for (const int substeps : {1, 3}) {
        const MotionError expected =
            surrogate_error(cloth, motion, Device::automatic, 1, {}, substeps);
        for (const int lanes : {1, 4, 100}) {
            std::vector<std::vector<double>> seen(motion.rollout_count());
            const FrameWatcher watcher = [&](std::size_t rollout, std::size_t frame,
                                             const State& state, double error) {
                EXPECT_EQ(frame, seen[rollout].size());
                EXPECT_NEAR(state.time, double(frame) * motion.header.frame_interval(), 1e-9);
                EXPECT_EQ(state.velocity.size(), cloth.particle_count());
                seen[rollout].push_back(error);
            };
            const MotionError found = watched_error(cloth, motion, Device::automatic, 2, {},
                                                    substeps, watcher, recorders(lanes));
            EXPECT_EQ(found.mean, expected.mean);
            EXPECT_EQ(found.std, expected.std);
            EXPECT_EQ(found.per_rollout, expected.per_rollout);
            EXPECT_EQ(found.over_time, expected.over_time);
            for (std::size_t r = 0; r < seen.size(); ++r) {
                EXPECT_EQ(seen[r].size(), motion.frame_counts[r]);
            }
        }
    }
}

// The sheet stands still in empty space, but for one particle that flies off in its first step.
Motion standing_sheets(std::size_t count, std::size_t bad, std::size_t frames_of_bad)
{
    const Cloth cloth = patchwork();
    MotionHeader header = patchwork_motion().header;
    header.environment = kEmptySpace;
    std::vector<Rollout> rollouts(count);
    for (std::size_t r = 0; r < count; ++r) {
        rollouts[r].frame_count = r == bad ? frames_of_bad : 3;
        for (std::size_t f = 0; f < rollouts[r].frame_count; ++f) {
            append_vectors(rollouts[r].position, flat_state(cloth).position);
        }
        rollouts[r].velocity.assign(rollouts[r].position.size(), 0);
    }
    rollouts[bad].velocity[3 * 2] = 1e4;
    return Motion::from_rollouts(header, std::move(rollouts));
}

TEST(SurrogateErrorByARecorder, NamesTheRolloutThatBlowsUp)
{
    const Motion motion = standing_sheets(9, 6, 3);
    const auto message = [&](const MakeRecorder& make) -> std::string {
        try {
            watched_error(patchwork(), motion, Device::automatic, 1, {}, 1, {}, make);
        } catch (const Failure& failure) {
            return failure.what();
        }
        return "nothing was thrown";
    };
    EXPECT_EQ(message(recorders(4)), message(make_batch_recorder));
    EXPECT_NE(message(recorders(4)).find("rollout 6: the surrogate blew up: particle 2 was"),
              std::string::npos);
}

TEST(SurrogateErrorByARecorder, DoesNotMindABlowUpBehindTheEndOfATarget)
{
    const Motion motion = standing_sheets(5, 3, 1);
    const MotionError error =
        watched_error(patchwork(), motion, Device::automatic, 1, {}, 1, {}, recorders(4));
    EXPECT_NEAR(error.mean, 0, 1e-6);
    EXPECT_EQ(error.per_rollout.size(), 5u);
}

TEST(SurrogateErrorByARecorder, StopsWhenAsked)
{
    double last = 0;
    const Motion motion = uneven_falls();
    const auto run = [&](const Progress& progress) {
        watched_error(patchwork(), motion, Device::automatic, 1, progress, 1, {}, recorders(4));
    };
    run(Progress([&](const ProgressUpdate& update) {
        EXPECT_GE(update.done, last);
        last = update.done;
        return true;
    }));
    EXPECT_DOUBLE_EQ(last, double(std::accumulate(motion.frame_counts.begin(),
                                                  motion.frame_counts.end(), std::size_t(0))));
    EXPECT_THROW(run(Progress([](const ProgressUpdate&) { return false; })), Cancelled);
}

// ---- Descents ----

Cloth even_patchwork(const char* law)
{
    Cloth cloth = patchwork();
    std::fill(cloth.springs.stiffness.begin(), cloth.springs.stiffness.end(), 40);
    std::fill(cloth.springs.damping.begin(), cloth.springs.damping.end(), 0.8);
    set_law(cloth, law_named(law));
    for (double& kappa : cloth.bends.stiffness) kappa = 0.1;
    return cloth;
}

DescentOptions short_descent(int iterations)
{
    DescentOptions options;
    options.horizons = {{iterations / 2, 0.1}, {iterations - iterations / 2, 0.2}};
    options.batch = 8;
    options.validate_every = 4;
    return options;
}

TrainResult descended(const TrainingSet& set, const Cloth& start, const DescentOptions& options,
                      Diary* diary = nullptr, const TrainState* resume = nullptr,
                      const Progress& progress = {})
{
    return descend(set, start, options, 3, resume, diary ? write_to(*diary) : TrainHooks{},
                   progress, "test");
}

// The same motion with and without a device.
struct TwoSets {
    TrainOptions options = quick_options(6, 6, {});
    TrajectoryTraffic traffic;
    TrainingSet plain, device;

    explicit TwoSets(const Motion& motion, int rows = 6)
        : options(quick_options(rows, rows, {})), plain(motion, options), device(motion, options)
    {
        device.backends = stand_ins(device.map, traffic);
    }
};

TEST(DescentOnADevice, IsThatOfTapesToTheLastBit)
{
    for (const auto& [law, rows] : {std::pair{"published", 6}, {"full", 6}, {"full", 8}}) {
        TwoSets sets(patchwork_motion(), rows);
        DescentOptions options = short_descent(9);
        options.masses = true;
        Cloth start = even_patchwork(law);
        if (rows != 6) {
            start = make_surrogate(sets.plain.motion.header, sets.options.grid, 40, 0.8,
                                   law_named(law));
        }
        Diary ours, theirs;
        const TrainResult expected = descended(sets.plain, start, options, &theirs);
        expect_same_bits(descended(sets.device, start, options, &ours), expected);
        for (std::size_t i = 0; i < theirs.logs.size(); ++i) {
            EXPECT_EQ(ours.logs[i].loss.trajectory, theirs.logs[i].loss.trajectory);
            EXPECT_EQ(ours.logs[i].gradient_norm, theirs.logs[i].gradient_norm);
            EXPECT_EQ(ours.logs[i].validation_rmse, theirs.logs[i].validation_rmse);
        }
    }
}

TEST(DescentOnADevice, SendsLandmarksOnce)
{
    TwoSets sets(patchwork_motion());
    descended(sets.device, even_patchwork("published"), short_descent(9));
    EXPECT_EQ(sets.traffic.kept, patchwork_motion().rollout_count());
    EXPECT_GT(sets.traffic.followed, 9 * 8);
    EXPECT_EQ(sets.traffic.with_landmarks, 0);
}

TEST(DescentOnADevice, SendsLandmarksWithTheClipsWhereThereIsNoRoom)
{
    TwoSets sets(patchwork_motion());
    const Cloth start = even_patchwork("full");
    const TrainResult expected = descended(sets.plain, start, short_descent(9));
    for (const std::size_t room : {0, 1, 5}) {
        sets.traffic = {.room = room};
        expect_same_bits(descended(sets.device, start, short_descent(9)), expected);
        EXPECT_EQ(sets.traffic.kept, room);
        EXPECT_GT(sets.traffic.with_landmarks, 0);
    }
}

TEST(DescentOnADevice, GoesOnAfterAnyIterationWithTheSameBits)
{
    TwoSets sets(patchwork_motion());
    const DescentOptions options = short_descent(6);
    const Cloth start = even_patchwork("full");
    Diary diary;
    const TrainResult whole = descended(sets.device, start, options, &diary);
    ASSERT_EQ(diary.states.size(), 6u);
    for (const TrainState& state : diary.states) {
        expect_same_bits(descended(sets.device, start, options, nullptr, &state), whole);
    }
}

// Captured motion: starts are estimated from frames around them, and frames have gaps.
TEST(DescentOnADevice, IsTheSameOnMotionThatACameraSaw)
{
    const Motion& all = patchwork_motion();
    MotionHeader header = all.header;
    const ObserveOptions camera{
        .noise = 1e-4, .gaps = 0.02, .gap_seconds = 0.05, .positions_only = true};
    observe_header(header, camera);
    header.captured = true;
    std::vector<Rollout> rollouts;
    for (std::size_t r = 0; r < all.rollout_count(); ++r) {
        rollouts.push_back(observe(all.read(r, 0, all.frame_counts[r]), all.header, camera, 5, r));
    }
    const Motion motion = Motion::from_rollouts(header, std::move(rollouts));
    TwoSets sets(motion);
    DescentOptions options = short_descent(6);
    options.width = 0.05;
    const Cloth start = even_patchwork("published");
    const TrainResult expected = descended(sets.plain, start, options);
    expect_same_bits(descended(sets.device, start, options), expected);
    EXPECT_EQ(sets.traffic.with_landmarks, 0);
}

TEST(DescentOnADevice, StopsWithinABatchWhenAsked)
{
    TwoSets sets(patchwork_motion());
    int beats = 0;
    sets.device.heartbeat = [&] {
        if (++beats == 20) throw Cancelled("test: cancelled");
    };
    EXPECT_THROW(descended(sets.device, even_patchwork("full"), short_descent(6)), Cancelled);
    EXPECT_EQ(beats, 20);
    sets.device.heartbeat = {};
    EXPECT_THROW(descended(sets.device, even_patchwork("full"), short_descent(6), nullptr, nullptr,
                           cancelled_after(2)),
                 Cancelled);
}

TEST(DescentOnADevice, SaysWhichClipBlewUp)
{
    TwoSets sets(patchwork_motion());
    DescentOptions options = short_descent(4);
    options.rate = 1000;
    Cloth start = even_patchwork("published");
    for (double& k : start.springs.stiffness) k = 1e6;
    const auto message = [&](const TrainingSet& set) -> std::string {
        BatchGradient gradient = set.gradient_of(start);
        const auto clips = set.trajectories.read(std::vector<Clip>{{0, 0}, {1, 0}}, 40);
        const ParameterValues wild = parameters_of(start);
        const auto mean = gradient.limited_mean(clips, set.map, wild, {}, wild, 2);
        EXPECT_FALSE(mean.gradient);
        return std::isnan(mean.trajectories[0].loss) ? "blown up" : "sound";
    };
    EXPECT_EQ(message(sets.device), "blown up");
    EXPECT_EQ(message(sets.plain), "blown up");
}

TEST(BatchOnADevice, DoesNotDependOnTheOrderOfItsTrajectories)
{
    TwoSets sets(patchwork_motion());
    const Cloth cloth = even_patchwork("full");
    const ParameterValues values = parameters_of(cloth);
    std::vector<Trajectory> clips =
        sets.device.trajectories.read(std::vector<Clip>{{0, 0}, {3, 7}, {5, 100}, {2, 0}}, 30);
    BatchGradient device = sets.device.gradient_of(cloth);
    const auto forward = device.follow(clips, sets.device.map, values, {.floor = 1e-3}, true);
    std::reverse(clips.begin(), clips.end());
    const auto backward = device.follow(clips, sets.device.map, values, {.floor = 1e-3}, true);
    for (std::size_t i = 0; i < clips.size(); ++i) {
        const auto& twin = backward[clips.size() - 1 - i];
        EXPECT_EQ(forward[i].result.loss, twin.result.loss);
        EXPECT_EQ(forward[i].result.frames, twin.result.frames);
        EXPECT_EQ(forward[i].gradient, twin.gradient);
    }
}

// ---- Fits and the published recipe ----

TEST(HomogeneousFitOnADevice, IsThatOfTapes)
{
    TwoSets sets(patchwork_motion());
    DescentOptions options = homogeneous_descent(sets.plain.motion.header, 1);
    options.horizons = {{6, 0.2}};
    options.batch = 8;
    const Progress none;
    EXPECT_EQ(parameters_of(fit_homogeneous(sets.device, options, none)),
              parameters_of(fit_homogeneous(sets.plain, options, none)));
}

TEST(PublishedRecipeOnADevice, IsThatOfTapesWithSubstepsToo)
{
    for (const Substeps& substeps : {Substeps{1}, Substeps{2}, Substeps{}}) {
        TrainOptions options = quick_options(
            6, 6, dual_pass(4, 3, {.force = 1, .impulse = 10, .negative_stiffness = 1}));
        options.substeps = substeps;
        options.stiffness_start = 40;
        options.damping_start = 0.8;
        const Progress none;
        const TrainingSet plain(patchwork_motion(), options);
        TrainingSet device(patchwork_motion(), options);
        TrajectoryTraffic traffic;
        device.backends = stand_ins(device.map, traffic);
        Diary ours, theirs;
        const TrainResult expected = train(plain, options, nullptr, write_to(theirs), none);
        const TrainResult found = train(device, options, nullptr, write_to(ours), none);
        // Means over clips of sums instead of sums of means: one rounding apart.
        EXPECT_NEAR(found.validation_rmse, expected.validation_rmse,
                    1e-6 * expected.validation_rmse);
        ASSERT_EQ(ours.logs.size(), theirs.logs.size());
        for (std::size_t i = 0; i < ours.logs.size(); ++i) {
            EXPECT_NEAR(ours.logs[i].loss.total, theirs.logs[i].loss.total,
                        1e-6 * theirs.logs[i].loss.total);
        }
        EXPECT_GT(traffic.batches, 0);
        for (const TrainState& state : ours.states) {
            expect_same_bits(train(device, options, &state, {}, none), found);
        }
    }
}

// ---- Reading ----

TEST(MotionCache, ReadsEveryRolloutOnceAsFarAsThereIsRoom)
{
    const Motion& all = patchwork_motion();
    std::vector<int> reads(all.rollout_count());
    Motion counted = all;
    counted.read = [&](std::size_t rollout, std::size_t first, std::size_t count) {
        ++reads[rollout];
        return all.read(rollout, first, count);
    };
    const auto cache = std::make_shared<MotionCache>(counted);
    const Motion motion = through_cache(counted, cache);
    const auto expect_same = [&](std::size_t rollout) {
        const Rollout a = motion.read(rollout, 5, 7), b = all.read(rollout, 5, 7);
        EXPECT_EQ(a.position, b.position);
        EXPECT_EQ(a.velocity, b.velocity);
        EXPECT_EQ(a.acceleration, b.acceleration);
        EXPECT_EQ(a.handles.particles, b.handles.particles);
    };
    for (int i = 0; i < 3; ++i) expect_same(0);
    EXPECT_EQ(reads[0], 3);  // nobody asked to keep anything
    const std::size_t bytes = all.frame_counts[0] * all.header.landmark_count() * 9 * sizeof(float);
    cache->keep_rollouts(2 * bytes);
    for (int i = 0; i < 3; ++i) {
        for (const std::size_t rollout : {0, 1, 2}) expect_same(rollout);
    }
    EXPECT_EQ(reads[0], 4);
    EXPECT_EQ(reads[1], 1);
    EXPECT_EQ(reads[2], 3);  // no room
}

}  // namespace

}  // namespace springtime
