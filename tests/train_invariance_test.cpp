// What must not change a result of training: where it was stopped, how many threads ran it, what it
// is validated on.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "motion/clips.h"
#include "springtime/error.h"
#include "training.h"

namespace springtime {

namespace {

// ---- Stopping and going on ----

Motion small_motion()
{
    return generated_motion(
        make_grid_cloth({1.5, 1.5, 1.6}, {4, 4, true, true, true, true},
                        MaterialField::uniform(30).paint({MaterialField::Checker{2}, 60}),
                        MaterialField::uniform(0.6)),
        short_falls(5, 0.4));
}

TrainOptions small_options()
{
    TrainOptions options = quick_options(4, 4, dual_pass(5, 4, {}));
    options.rounds = 2;
    options.clip_steps = 20;
    options.slow_seconds = 0.2;
    options.batch = 13;  // no divisor of the 20 or 40 clips: rounds of the shuffle straddle
    options.validate_every = 3;
    return options;
}

// Cancelled after one iteration.
TrainState one_more(const Motion& motion, const TrainOptions& options, const TrainState* resume)
{
    Diary diary;
    const Progress once([](const ProgressUpdate& update) { return update.stage != "train"; });
    EXPECT_THROW(train(motion, options, resume, write_to(diary), once), Cancelled);
    return diary.states.back();
}

TEST(Train, GoesOnAfterAnyIterationAsIfNeverStopped)
{
    const Motion motion = small_motion();
    const TrainOptions options = small_options();
    Diary whole;
    const TrainResult expected = train(motion, options, nullptr, write_to(whole));
    ASSERT_EQ(total_iterations(options), 18);
    for (int stop = 1; stop < 18; ++stop) {  // inside passes, at borders of passes and rounds
        SCOPED_TRACE(stop);
        Diary before, after;
        const Progress until([&](const ProgressUpdate& update) {
            if (update.stage != "train") return true;
            EXPECT_EQ(update.total, 18);
            return update.done < stop;
        });
        EXPECT_THROW(train(motion, options, nullptr, write_to(before), until), Cancelled);
        ASSERT_EQ(before.states.size(), std::size_t(stop));
        EXPECT_EQ(before.states.back().iteration, stop);
        const TrainResult resumed = train(motion, options, &before.states.back(), write_to(after));
        expect_same_bits(resumed, expected);
        ASSERT_EQ(before.logs.size() + after.logs.size(), whole.logs.size());
        for (std::size_t i = 0; i < after.logs.size(); ++i) {
            const TrainLog &log = after.logs[i], &same = whole.logs[stop + i];
            EXPECT_EQ(log.iteration, same.iteration);
            EXPECT_EQ(log.loss.total, same.loss.total);
            EXPECT_EQ(log.gradient_norm, same.gradient_norm);
            EXPECT_EQ(log.validation_rmse, same.validation_rmse);
        }
    }
}

TEST(Train, GoesOnWhenStoppedAfterEveryIteration)
{
    const Motion motion = small_motion();
    const TrainOptions options = small_options();
    const TrainResult expected = train(motion, options, nullptr, {});
    std::optional<TrainState> state;
    for (int iteration = 1; iteration <= 18; ++iteration) {
        state = one_more(motion, options, state ? &*state : nullptr);
        EXPECT_EQ(state->iteration, iteration);
    }
    expect_same_bits(train(motion, options, &*state, {}), expected);
}

TEST(Train, RefusesACheckpointOfAnotherGrid)
{
    const Motion motion = small_motion();
    const TrainState state = one_more(motion, small_options(), nullptr);
    TrainOptions options = small_options();
    options.grid.cols = 5;
    try {
        train(motion, options, &state, {});
        FAIL() << "no error";
    } catch (const Error& error) {
        // r (c - 1) + (r - 1) c edges, 2 (r - 1) (c - 1) diagonals, r (c - 2) + (r - 2) c over two.
        const std::string text = error.what();
        EXPECT_NE(text.find("58 springs"), std::string::npos) << text;
        EXPECT_NE(text.find("has 77"), std::string::npos) << text;
    }
}

// ---- Threads ----

TEST(Train, ResultDoesNotDependOnThreads)
{
    for (const Device device : {Device::cpu, Device::reference}) {
        TrainOptions options = quick_options(6, 6, dual_pass(3, 3, {}));
        options.device = device;
        options.batch = 40;  // several groups of lanes, the last one not full
        options.clip_steps = 50;
        options.stiffness_start = 40;
        options.threads = 1;
        const TrainResult one = train(patchwork_motion(), options, nullptr, {});
        for (const int threads : {2, 3}) {
            options.threads = threads;
            expect_same_bits(train(patchwork_motion(), options, nullptr, {}), one);
        }
    }
}

TEST(Train, ReadsTheMotionInOneOfItsThreadsAtATime)
{
    // Passes of two iterations, so that a new reader comes while the last one reads ahead.
    Motion motion = small_motion();
    std::atomic<int> readers = 0, together = 0;
    motion.read = [&, read = motion.read](std::size_t rollout, std::size_t first,
                                          std::size_t count) {
        if (++readers > 1) ++together;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        Rollout result = read(rollout, first, count);
        --readers;
        return result;
    };
    TrainOptions options = small_options();
    options.passes = dual_pass(2, 2, {});
    options.rounds = 5;
    train(motion, options, nullptr, {});
    EXPECT_EQ(together, 0);
}

// ---- Validation ----

TEST(Train, NeverTrainsOnValidationRollouts)
{
    Motion motion = patchwork_motion();
    std::vector<std::size_t> asked;
    motion.read = [&, read = motion.read](std::size_t rollout, std::size_t first,
                                          std::size_t count) {
        asked.push_back(rollout);
        return read(rollout, first, count);
    };
    TrainOptions options = quick_options(6, 6, dual_pass(6, 6, {}));
    options.validation_share = 0.25;
    const RolloutSplit split = split_rollouts(12, 0.25, options.seed);
    const std::set<std::size_t> validation(split.validation.begin(), split.validation.end());
    ASSERT_EQ(validation.size(), 3u);
    train(motion, options, nullptr, {});
    // The validation rollouts come first; afterwards, none of them.
    ASSERT_GE(asked.size(), 3u + 13 * 16);
    const std::set<std::size_t> first(asked.begin(), asked.begin() + 3),
        rest(asked.begin() + 3, asked.end());
    EXPECT_EQ(first, validation);
    EXPECT_EQ(rest, std::set<std::size_t>(split.training.begin(), split.training.end()));
}

TEST(Train, DoesNotLearnFromValidationRollouts)
{
    // Whatever they hold, every iteration does the same; only the choice of the best may differ.
    const TrainOptions options = quick_options(6, 6, dual_pass(6, 6, {}));
    const RolloutSplit split = split_rollouts(12, options.validation_share, options.seed);
    Motion other = patchwork_motion();
    other.read = [&split, read = other.read](std::size_t rollout, std::size_t first,
                                             std::size_t count) {
        const bool spare = rollout == split.validation[0];
        Rollout result = read(rollout, first, count);
        for (float& x : result.position) x *= spare ? 2 : 1;
        return result;
    };
    const TrainResult a = train(patchwork_motion(), options, nullptr, {});
    const TrainResult b = train(other, options, nullptr, {});
    EXPECT_EQ(a.state.parameters, b.state.parameters);
    EXPECT_NE(a.validation_rmse, b.validation_rmse);
}

TEST(Train, SlowPassesAskForTheEndsOfRolloutsOnly)
{
    Motion motion = patchwork_motion();  // 121 frames
    std::vector<std::size_t> asked;
    motion.read = [&, read = motion.read](std::size_t rollout, std::size_t first,
                                          std::size_t count) {
        asked.push_back(first);
        return read(rollout, first, count);
    };
    TrainOptions options = quick_options(6, 6, dual_pass(6, 1, {}));
    options.passes.pop_back();
    train(motion, options, nullptr, {});
    // One rollout validates, and 32 clips are for the start; then 0.6 s are 60 frames, or three
    // clips of 20.
    const std::set<std::size_t> slow(asked.begin() + 1 + 32, asked.end());
    EXPECT_EQ(slow, (std::set<std::size_t>{60, 80, 100}));
}

}  // namespace

}  // namespace springtime
