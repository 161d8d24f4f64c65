// Trajectories and clips that the device follows, there and back, against the reference in double.
#include <gtest/gtest.h>

#include <cmath>
#include <future>

#include "backends/cuda/cuda.h"
#include "learn/descent.h"
#include "training.h"

namespace springtime {

namespace {

// ---- Motions

// Falls of different lengths.
Motion uneven_falls()
{
    const Motion& all = patchwork_motion();
    std::vector<Rollout> rollouts;
    for (std::size_t r = 0; r < 6; ++r) rollouts.push_back(all.read(r, 0, 60 - 9 * (r % 3)));
    return Motion::from_rollouts(all.header, std::move(rollouts));
}

// The same as a camera sees it: noise, gaps, positions alone.
Motion seen_falls()
{
    const Motion all = uneven_falls();
    MotionHeader header = all.header;
    const ObserveOptions camera{
        .noise = 1e-3, .gaps = 0.05, .gap_seconds = 0.03, .positions_only = true};
    observe_header(header, camera);
    header.captured = true;
    std::vector<Rollout> rollouts;
    for (std::size_t r = 0; r < all.rollout_count(); ++r) {
        rollouts.push_back(observe(all.read(r, 0, all.frame_counts[r]), all.header, camera, 5, r));
    }
    return Motion::from_rollouts(header, std::move(rollouts));
}

// A set whose batches run on the device, with so much of its memory.
struct DeviceSet {
    Motion motion;
    TrainOptions options;
    TrainingSet set;

    DeviceSet(const Motion& of, int size, Device device, const CudaMemory& memory = {})
        : motion(of), options(options_for(size, device)), set(motion, options)
    {
        if (device != Device::cuda) return;
        set.backends.clips = [memory](const Cloth& cloth, const SimulationOptions& step,
                                      int stride) {
            return make_cuda_clip_gradient(cloth, step, stride, memory);
        };
        set.backends.trajectories = [memory](const Cloth& cloth, const SimulationOptions& step,
                                             int stride, const LandmarkShares& landmarks,
                                             std::function<void()> heartbeat) {
            return make_cuda_trajectory_gradient(cloth, step, stride, landmarks,
                                                 std::move(heartbeat), memory);
        };
    }

    static TrainOptions options_for(int size, Device device)
    {
        TrainOptions options = quick_options(size, size, {});
        options.device = device;
        options.clip_steps = 40;
        return options;
    }
};

Cloth started(const DeviceSet& on, const char* law)
{
    Cloth cloth = make_surrogate(on.set.motion.header, on.options.grid, 40, 0.8, law_named(law));
    for (double& kappa : cloth.bends.stiffness) kappa = 0.1;
    return cloth;
}

const std::vector<Clip> kClips{{0, 0}, {3, 7}, {5, 12}, {2, 0}, {1, 3}};

double relative_error(const ParameterValues& found, const ParameterValues& expected,
                      std::size_t kind)
{
    double wrong = 0, whole = 0;
    for (std::size_t e = 0; e < expected[kind].size(); ++e) {
        wrong += std::pow(found[kind][e] - expected[kind][e], 2);
        whole += std::pow(expected[kind][e], 2);
    }
    return std::sqrt(wrong / whole);
}

// Rounding states to float costs all backends in float about the same.
void expect_close(const ParameterValues& found, const ParameterValues& rounded,
                  const ParameterValues& expected)
{
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) {
        EXPECT_LT(relative_error(found, expected, k),
                  4 * relative_error(rounded, expected, k) + 1e-5)
            << "array " << k;
    }
}

// ---- Trajectories

struct Following {
    std::vector<BatchGradient::Followed> each;
    BatchGradient::Mean mean;
};

Following following(const DeviceSet& on, const Cloth& cloth, const ParameterValues& values,
                    std::size_t intervals, const FrameLoss& loss = {.floor = 1e-3})
{
    const std::vector<Trajectory> clips = on.set.trajectories.read(kClips, intervals);
    BatchGradient gradient = on.set.gradient_of(cloth);
    ParameterValues slopes = values;
    for (auto& kind : slopes) {
        for (double& slope : kind) slope = std::abs(slope);
    }
    return {gradient.follow(clips, on.set.map, values, loss, true),
            gradient.limited_mean(clips, on.set.map, values, loss, slopes, 1.5)};
}

void expect_follows_as_the_reference(const Motion& motion, int size, const char* law,
                                     const FrameLoss& loss)
{
    const DeviceSet ours(motion, size, Device::cuda), fast(motion, size, Device::cpu),
        exact(motion, size, Device::reference);
    const Cloth cloth = started(ours, law);
    ParameterValues values = parameters_of(cloth);
    values.push_back(cloth.mass);
    const Following found = following(ours, cloth, values, 20, loss);
    const Following rounded = following(fast, cloth, values, 20, loss);
    const Following expected = following(exact, cloth, values, 20, loss);
    for (std::size_t i = 0; i < kClips.size(); ++i) {
        const TrajectoryResult& result = expected.each[i].result;
        EXPECT_EQ(found.each[i].result.frames, result.frames);
        EXPECT_NEAR(found.each[i].result.loss, result.loss, 1e-5 * result.loss);
        EXPECT_NEAR(found.each[i].result.error, result.error, 1e-5 * result.error);
        expect_close(found.each[i].gradient, rounded.each[i].gradient, expected.each[i].gradient);
    }
    ASSERT_TRUE(found.mean.gradient);
    expect_close(*found.mean.gradient, *rounded.mean.gradient, *expected.mean.gradient);
}

TEST(CudaFollow, IsThatOfTheReference)
{
    expect_follows_as_the_reference(uneven_falls(), 6, "published", {.floor = 1e-3});
}

TEST(CudaFollow, TakesLandmarksBetweenParticles)
{
    expect_follows_as_the_reference(uneven_falls(), 8, "published", {.squares = true});
}

TEST(CudaFollow, LeavesOutWhatIsMissing)
{
    expect_follows_as_the_reference(seen_falls(), 5, "published", {.floor = 1e-3, .width = 0.05});
}

void expect_same(const Following& a, const Following& b)
{
    for (std::size_t i = 0; i < kClips.size(); ++i) {
        EXPECT_EQ(a.each[i].result.loss, b.each[i].result.loss) << i;
        EXPECT_TRUE(a.each[i].gradient == b.each[i].gradient) << i;
    }
    EXPECT_TRUE(a.mean.gradient == b.mean.gradient);
}

// All states of a lane, those of a stretch, lane by lane.
TEST(CudaFollow, SaysTheSameWithLittleMemory)
{
    const Motion motion = uneven_falls();
    const DeviceSet plenty(motion, 6, Device::cuda);
    const Cloth cloth = started(plenty, "full");
    const ParameterValues values = parameters_of(cloth);
    const Following expected = following(plenty, cloth, values, 40);
    const std::size_t states = 24 * cloth.particle_count() * 200;  // of a lane
    for (const std::size_t memory : {6 * states, 3 * states, states, std::size_t(1000)}) {
        const DeviceSet little(motion, 6, Device::cuda, {memory});
        expect_same(following(little, cloth, values, 40), expected);
    }
}

TEST(CudaFollow, SaysTheSameOfLandmarksThatItKeeps)
{
    const Motion motion = uneven_falls();
    const DeviceSet on(motion, 6, Device::cuda);
    const Cloth cloth = started(on, "published");
    const ParameterValues values = parameters_of(cloth);
    std::vector<Trajectory> clips = on.set.trajectories.read(kClips, 20);
    BatchGradient brings = on.set.gradient_of(cloth), keeps = on.set.gradient_of(cloth);
    for (const Clip& clip : kClips) {
        EXPECT_TRUE(
            keeps.keep(clip.rollout, on.set.whole_rollout(clip.rollout)->position, on.set.map));
    }
    const auto expected = brings.follow(clips, on.set.map, values, {}, true);
    for (Trajectory& clip : clips) clip.position.clear();
    const auto found = keeps.follow(clips, on.set.map, values, {}, true);
    for (std::size_t i = 0; i < clips.size(); ++i) {
        EXPECT_EQ(found[i].result.loss, expected[i].result.loss);
        EXPECT_EQ(found[i].gradient, expected[i].gradient);
    }
}

TEST(CudaFollow, KeepsNoMoreThanThereIsRoomFor)
{
    const Motion motion = uneven_falls();
    const std::size_t rollout = motion.frame_counts[0] * 36 * 3 * sizeof(float);
    const DeviceSet on(motion, 6, Device::cuda, {5 * rollout});
    BatchGradient gradient = on.set.gradient_of(started(on, "published"));
    std::size_t kept = 0;
    for (std::size_t r = 0; r < motion.rollout_count(); ++r) {
        kept += gradient.keep(r, on.set.whole_rollout(r)->position, on.set.map);
    }
    EXPECT_GE(kept, 2u);
    EXPECT_LT(kept, motion.rollout_count());
}

TEST(CudaFollow, TellsWhichTrajectoryBlewUp)
{
    const DeviceSet on(uneven_falls(), 6, Device::cuda);
    const Cloth cloth = started(on, "published");
    const ParameterValues values = parameters_of(cloth);
    std::vector<Trajectory> clips = on.set.trajectories.read(kClips, 10);
    clips[3].start.velocity[7] = {1e6, 0, 0};
    BatchGradient gradient = on.set.gradient_of(cloth);
    const auto mean = gradient.limited_mean(clips, on.set.map, values, {}, values, 2);
    for (std::size_t i = 0; i < clips.size(); ++i) {
        EXPECT_EQ(std::isnan(mean.trajectories[i].loss), i == 3) << i;
    }
    ASSERT_TRUE(mean.gradient);
    EXPECT_TRUE(std::isfinite((*mean.gradient)[0][0]));
    for (Trajectory& clip : clips) clip.start.velocity[7] = {1e6, 0, 0};
    EXPECT_FALSE(gradient.limited_mean(clips, on.set.map, values, {}, values, 2).gradient);
}

TEST(CudaFollow, StopsWhenItsHeartbeatThrows)
{
    DeviceSet on(uneven_falls(), 6, Device::cuda);
    const Cloth cloth = started(on, "published");
    on.set.heartbeat = [] { throw Cancelled("test: cancelled"); };
    BatchGradient gradient = on.set.gradient_of(cloth);
    const auto clips = on.set.trajectories.read(kClips, 10);
    EXPECT_THROW(gradient.follow(clips, on.set.map, parameters_of(cloth), {}, true), Cancelled);
}

TEST(CudaDescent, GoesOnAfterAnyIterationWithTheSameBits)
{
    const DeviceSet on(uneven_falls(), 6, Device::cuda);
    DescentOptions options;
    options.horizons = {{2, 0.05}, {2, 0.1}};
    options.batch = 4;
    options.validate_every = 2;
    const Cloth start = started(on, "full");
    Diary diary;
    const TrainResult whole = descend(on.set, start, options, 0, nullptr, write_to(diary), {}, "");
    ASSERT_EQ(diary.states.size(), 4u);
    for (const TrainState& state : diary.states) {
        expect_same_bits(descend(on.set, start, options, 0, &state, {}, {}, ""), whole);
    }
}

// ---- Clips of the published losses

void expect_compares_as_the_reference(const Motion& motion, const LossWeights& weights,
                                      const Substeps& substeps)
{
    DeviceSet ours(motion, 6, Device::cuda), fast(motion, 6, Device::cpu),
        exact(motion, 6, Device::reference);
    for (DeviceSet* on : {&ours, &fast, &exact}) on->set.substeps = substeps;
    const Cloth cloth = started(ours, "published");
    const ParameterValues values = parameters_of(cloth);
    const std::vector<Rollout> clips =
        ours.set.reader.read(std::vector<Clip>{{0, 0}, {1, 20}, {2, 9}});
    const auto run = [&](const DeviceSet& on) {
        return on.set.gradient_of(cloth).run(clips, values, weights, true);
    };
    const auto found = run(ours), rounded = run(fast), expected = run(exact);
    // Accelerations of states in float.
    const auto close = [](double e) { return 1e-4 * e; };
    EXPECT_NEAR(found.loss.force, expected.loss.force, close(expected.loss.force));
    EXPECT_NEAR(found.loss.impulse, expected.loss.impulse, close(expected.loss.impulse));
    EXPECT_NEAR(found.loss.position, expected.loss.position, close(expected.loss.position));
    EXPECT_NEAR(found.loss.total, expected.loss.total, close(expected.loss.total));
    expect_close(found.gradient.kinds, rounded.gradient.kinds, expected.gradient.kinds);
}

TEST(CudaClips, AreThoseOfTheReference)
{
    const LossWeights force{.force = 1, .impulse = 0, .position = 0};
    const LossWeights impulse{.force = 0, .impulse = 2, .position = 0};
    const LossWeights position{.force = 0, .impulse = 0, .position = 3};
    const LossWeights all{.force = 1, .impulse = 10, .position = 3};
    const Motion motion = uneven_falls();
    for (const LossWeights& weights : {force, impulse, position, all}) {
        expect_compares_as_the_reference(motion, weights, Substeps{1});
    }
    expect_compares_as_the_reference(motion, all, Substeps{2});
}

TEST(CudaClips, LeaveOutWhatIsMissing)
{
    expect_compares_as_the_reference(seen_falls(), {.force = 1, .impulse = 10, .position = 3},
                                     Substeps{1});
}

TEST(CudaClips, SayTheSameWithLittleMemory)
{
    const Motion motion = uneven_falls();
    const DeviceSet plenty(motion, 6, Device::cuda), little(motion, 6, Device::cuda, {30000});
    const Cloth cloth = started(plenty, "published");
    const std::vector<Rollout> clips =
        plenty.set.reader.read(std::vector<Clip>{{0, 0}, {1, 20}, {2, 9}});
    const LossWeights weights{.force = 1, .impulse = 10, .position = 3};
    const auto run = [&](const DeviceSet& on) {
        return on.set.gradient_of(cloth).run(clips, parameters_of(cloth), weights, true);
    };
    const auto found = run(little), expected = run(plenty);
    EXPECT_EQ(found.loss.total, expected.loss.total);
    EXPECT_EQ(found.gradient.kinds, expected.gradient.kinds);
}

// Of clips that another thread prepares while those before run, for all batches one after the
// other.
void expect_same_of_prepared(const DeviceSet& on, const Cloth& cloth, const LossWeights& weights,
                             const std::vector<std::vector<Rollout>>& batches,
                             const std::vector<BatchGradient::Result>& expected)
{
    const ParameterValues values = parameters_of(cloth);
    BatchGradient gradient = on.set.gradient_of(cloth);
    const auto prepare = [&](std::size_t i) {
        return std::async(std::launch::async, [&, i] {
            return gradient.prepare(batches[i % batches.size()], weights);
        });
    };
    auto coming = prepare(0);
    for (std::size_t i = 0; i < batches.size(); ++i) {
        const std::unique_ptr<PreparedClips> prepared = coming.get();
        ASSERT_TRUE(prepared);
        coming = prepare(i + 1);
        for (int again = 0; again < 2; ++again) {
            const auto found = gradient.run(batches[i], values, weights, true, prepared.get());
            EXPECT_EQ(found.loss.total, expected[i].loss.total) << i;
            EXPECT_EQ(found.gradient.kinds, expected[i].gradient.kinds) << i;
        }
    }
}

// With plenty, all is loaded ahead. With little a batch of three is, and does not fit; with less
// none is.
TEST(CudaClips, SayTheSameOfWhatWasPreparedMeanwhile)
{
    const Motion motion = uneven_falls();
    const DeviceSet plenty(motion, 6, Device::cuda);
    const Cloth cloth = started(plenty, "published");
    std::vector<std::vector<Rollout>> batches;
    for (const auto& clips : std::vector<std::vector<Clip>>{{{0, 0}, {1, 20}, {2, 9}},
                                                            {{3, 1}, {4, 2}},
                                                            {{5, 0}, {0, 11}, {1, 3}, {2, 4}},
                                                            {{2, 0}}}) {
        batches.push_back(plenty.set.reader.read(clips));
    }
    const LossWeights position{.force = 0, .impulse = 0, .position = 3};
    const LossWeights all{.force = 1, .impulse = 10, .position = 3};
    for (const auto& [weights, memory] :
         {std::pair{position, std::size_t(130000)}, std::pair{all, std::size_t(30000)}}) {
        std::vector<BatchGradient::Result> expected;
        for (const auto& clips : batches) {
            expected.push_back(
                plenty.set.gradient_of(cloth).run(clips, parameters_of(cloth), weights, true));
        }
        expect_same_of_prepared(plenty, cloth, weights, batches, expected);
        const DeviceSet little(motion, 6, Device::cuda, {memory});
        expect_same_of_prepared(little, cloth, weights, batches, expected);
    }
}

// What a backend has prepared gives its memory back whenever it goes.
TEST(CudaClips, MayOutliveTheirBackend)
{
    const DeviceSet on(uneven_falls(), 6, Device::cuda);
    const std::vector<Rollout> clips = on.set.reader.read(std::vector<Clip>{{0, 0}});
    const Cloth cloth = started(on, "published");
    const auto prepared = on.set.gradient_of(cloth).prepare(clips, {});
    EXPECT_EQ(prepared->clips.size(), 1u);
}

TEST(CudaClips, TrainTheSameWithLittleMemory)
{
    const Motion motion = uneven_falls();
    const auto trained = [&](const CudaMemory& memory, const TrainState* resume, Diary& diary) {
        const DeviceSet on(motion, 6, Device::cuda, memory);
        TrainOptions options = on.options;
        options.passes = dual_pass(2, 2, {.force = 1, .impulse = 10});
        options.batch = 3;
        options.slow_seconds = 0.25;
        options.stiffness_start = 40;
        options.damping_start = 0.8;
        return train(on.set, options, resume, write_to(diary), Progress());
    };
    Diary diary, none;
    const TrainResult whole = trained({}, nullptr, diary);
    expect_same_bits(trained({60000}, nullptr, none), whole);
    expect_same_bits(trained({}, &diary.states[1], none), whole);
}

TEST(CudaClips, HaveNoLossWhereTheyBlowUp)
{
    const DeviceSet on(uneven_falls(), 6, Device::cuda);
    Cloth cloth = started(on, "published");
    for (double& k : cloth.springs.stiffness) k = 1e9;
    const std::vector<Rollout> clips = on.set.reader.read(std::vector<Clip>{{0, 0}});
    const auto found = on.set.gradient_of(cloth).run(clips, parameters_of(cloth), {}, true);
    EXPECT_FALSE(std::isfinite(found.loss.total));
}

}  // namespace

}  // namespace springtime
