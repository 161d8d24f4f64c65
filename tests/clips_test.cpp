#include "motion/clips.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "springtime/error.h"

namespace springtime {

namespace {

// Frames 40 ms apart.
Motion motion_of(std::vector<std::size_t> frame_counts)
{
    Motion motion;
    motion.header.dt = 1e-3;
    motion.header.stride = 40;
    motion.frame_counts = std::move(frame_counts);
    return motion;
}

std::vector<std::size_t> all_of(const Motion& motion)
{
    std::vector<std::size_t> rollouts(motion.frame_counts.size());
    std::iota(rollouts.begin(), rollouts.end(), std::size_t(0));
    return rollouts;
}

template <class Action>
std::string message(Action&& action)
{
    try {
        action();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(Split, EveryRolloutIsOnOneSideAndOnlyThere)
{
    for (const std::size_t count : {2u, 3u, 17u, 512u}) {
        for (const double share : {1e-6, 0.1, 0.5, 0.999999}) {
            const RolloutSplit split = split_rollouts(count, share, 5);
            std::vector<std::size_t> both = split.training;
            both.insert(both.end(), split.validation.begin(), split.validation.end());
            std::sort(both.begin(), both.end());
            std::vector<std::size_t> expected(count);
            std::iota(expected.begin(), expected.end(), std::size_t(0));
            EXPECT_EQ(both, expected);
            EXPECT_TRUE(std::is_sorted(split.training.begin(), split.training.end()));
            EXPECT_TRUE(std::is_sorted(split.validation.begin(), split.validation.end()));
            EXPECT_GE(split.validation.size(), 1u);
            EXPECT_GE(split.training.size(), 1u);
        }
    }
}

TEST(Split, TheShareIsRounded)
{
    EXPECT_EQ(split_rollouts(512, 0.0625, 1).validation.size(), 32u);
    EXPECT_EQ(split_rollouts(17, 0.25, 1).validation.size(), 4u);  // 4.25
    EXPECT_EQ(split_rollouts(19, 0.25, 1).validation.size(), 5u);  // 4.75
    EXPECT_EQ(split_rollouts(10, 0.01, 1).validation.size(), 1u);
    EXPECT_EQ(split_rollouts(10, 0.99, 1).validation.size(), 9u);
}

TEST(Split, TheSeedDecides)
{
    EXPECT_EQ(split_rollouts(100, 0.2, 3).validation, split_rollouts(100, 0.2, 3).validation);
    EXPECT_NE(split_rollouts(100, 0.2, 3).validation, split_rollouts(100, 0.2, 4).validation);
    // Every rollout is drawn equally often: 4000 draws of 1 in 5, with a deviation of
    // sqrt(4000 * 0.2 * 0.8) = 25; five of them.
    std::vector<int> drawn(5, 0);
    for (std::uint64_t seed = 0; seed < 4000; ++seed)
        ++drawn[split_rollouts(5, 0.2, seed).validation.at(0)];
    for (const int count : drawn) EXPECT_NEAR(count, 800, 125);
}

TEST(Split, ErrorsSayWhatToDo)
{
    for (const std::size_t count : {0u, 1u}) {
        EXPECT_EQ(message([&] { split_rollouts(count, 0.1, 0); }),
                  fmt::format("clips: {} rollout{}, but 2 are needed, one to train on and one to "
                              "validate; make more",
                              count, count == 1 ? "" : "s"));
    }
    EXPECT_EQ(message([] { split_rollouts(10, 0, 0); }),
              "clips: a validation share of 0; it must lie between 0 and 1");
    EXPECT_EQ(message([] { split_rollouts(10, 1, 0); }),
              "clips: a validation share of 1; it must lie between 0 and 1");
    EXPECT_EQ(message([] { split_rollouts(10, std::numeric_limits<double>::quiet_NaN(), 0); }),
              "clips: a validation share of nan; it must lie between 0 and 1");
}

TEST(Clips, CoverTheRolloutsWithoutOverlap)
{
    // F frames are F - 1 intervals, so floor((F - 1) / T) clips of T intervals.
    const Motion motion = motion_of({201, 0, 1, 12, 13, 14, 25, 26});
    const std::vector<Clip> clips = cut_clips(motion, all_of(motion), 12, 0, 0);
    std::vector<Clip> expected;
    for (std::size_t i = 0; i < 16; ++i) expected.push_back({0, 12 * i});  // 200 / 12 = 16.7
    for (const Clip& clip : {Clip{4, 0}, Clip{5, 0}, Clip{6, 0}, Clip{6, 12}, Clip{7, 0}})
        expected.push_back(clip);
    expected.push_back({7, 12});
    EXPECT_EQ(clips, expected);
}

TEST(Clips, NoIntervalIsInTwo)
{
    const Motion motion = motion_of({100, 57, 203});
    for (const std::size_t intervals : {1u, 2u, 7u, 56u}) {
        std::set<std::pair<std::size_t, std::size_t>> seen;
        std::size_t count = 0;
        for (const Clip& clip : cut_clips(motion, all_of(motion), intervals, 0, 0)) {
            for (std::size_t i = 0; i < intervals; ++i, ++count)
                seen.insert({clip.rollout, clip.first_frame + i});
            EXPECT_LT(clip.first_frame + intervals, motion.frame_counts[clip.rollout]);
        }
        EXPECT_EQ(seen.size(), count);
        const std::size_t fit = 99 / intervals + 56 / intervals + 202 / intervals;
        EXPECT_EQ(count, fit * intervals);
    }
}

TEST(Clips, HopSetsTheirDistance)
{
    // floor((F - 1 - T) / hop) + 1
    const Motion motion = motion_of({31});
    EXPECT_EQ(cut_clips(motion, {0}, 10, 4, 0),
              (std::vector<Clip>{{0, 0}, {0, 4}, {0, 8}, {0, 12}, {0, 16}, {0, 20}}));
    EXPECT_EQ(cut_clips(motion, {0}, 10, 15, 0), (std::vector<Clip>{{0, 0}, {0, 15}}));
    EXPECT_EQ(cut_clips(motion, {0}, 10, std::numeric_limits<std::size_t>::max(), 0),
              (std::vector<Clip>{{0, 0}}));
}

TEST(Clips, OnlyTheRolloutsAskedForInThatOrder)
{
    const Motion motion = motion_of({11, 11, 11});
    EXPECT_EQ(cut_clips(motion, {2, 0}, 10, 0, 0), (std::vector<Clip>{{2, 0}, {0, 0}}));
}

TEST(Clips, TheTailIsMeasuredInTime)
{
    // 8 s are 200 intervals of 40 ms, the last second is 25 of them: frames 175 to 200.
    const Motion motion = motion_of({201});
    EXPECT_EQ(cut_clips(motion, {0}, 25, 0, 1), (std::vector<Clip>{{0, 175}}));
    EXPECT_EQ(cut_clips(motion, {0}, 12, 0, 1), (std::vector<Clip>{{0, 175}, {0, 187}}));
    EXPECT_EQ(cut_clips(motion, {0}, 24, 0, 1), (std::vector<Clip>{{0, 175}}));
    EXPECT_EQ(cut_clips(motion, {0}, 24, 1, 1), (std::vector<Clip>{{0, 175}, {0, 176}}));
    EXPECT_EQ(cut_clips(motion, {0}, 24, 0, 0.99), (std::vector<Clip>{{0, 176}}));
    // 1.16 s are 29 intervals, though the quotient of doubles is below.
    EXPECT_EQ(cut_clips(motion, {0}, 29, 0, 1.16), (std::vector<Clip>{{0, 171}}));
    EXPECT_EQ(cut_clips(motion, {0}, 200, 0, 1e300), (std::vector<Clip>{{0, 0}}));
    EXPECT_EQ(cut_clips(motion, {0}, 200, 0, -1), (std::vector<Clip>{{0, 0}}));
}

TEST(Clips, EveryRolloutHasItsOwnTail)
{
    // The second is shorter than the tail, the third too short for a clip.
    const Motion motion = motion_of({201, 21, 10, 101});
    EXPECT_EQ(cut_clips(motion, all_of(motion), 12, 0, 1),
              (std::vector<Clip>{{0, 175}, {0, 187}, {1, 0}, {3, 75}, {3, 87}}));
}

TEST(Clips, ErrorsSayWhatToDo)
{
    const Motion motion = motion_of({201, 21});
    EXPECT_EQ(message([&] {
                  cut_clips(motion, {0, 1}, 201, 0, 0);
              }),
              "clips: the longest of 2 rollouts has 200 usable intervals, but a clip needs 201; "
              "ask for shorter clips");
    EXPECT_EQ(message([&] {
                  cut_clips(motion, {0, 1}, 26, 0, 1);
              }),
              "clips: the longest of 2 rollouts has 25 usable intervals, but a clip needs 26; "
              "ask for shorter clips or a longer tail");
    EXPECT_EQ(message([&] { cut_clips(motion, {}, 1, 0, 0); }),
              "clips: the longest of 0 rollouts has 0 usable intervals, but a clip needs 1; ask "
              "for shorter clips");
    EXPECT_EQ(message([&] { cut_clips(motion, {0}, 0, 0, 0); }),
              "clips: 0 intervals long; at least 1 is needed");
    EXPECT_EQ(message([&] {
                  cut_clips(motion, {0, 2}, 5, 0, 0);
              }),
              "clips: rollout 2 asked for, but the motion has 2; count from 0");
    EXPECT_EQ(
        message([&] { cut_clips(motion, {0}, 5, 0, std::numeric_limits<double>::quiet_NaN()); }),
        "clips: a tail of nan s; give its seconds, or 0 for the whole rollout");
    Motion timeless = motion;
    timeless.header.dt = 0;
    EXPECT_EQ(message([&] { cut_clips(timeless, {0}, 5, 0, 1); }),
              "clips: frames 0 s apart; a tail needs a positive interval, so mend the time step or "
              "the stride of the motion");
}

TEST(ClipShuffle, VisitsEveryClipOnceARound)
{
    for (const std::size_t count : {1u, 2u, 37u}) {
        ClipShuffle shuffle(count, 9);
        for (int round = 0; round < 5; ++round) {
            std::vector<int> visits(count, 0);
            for (std::size_t i = 0; i < count; ++i) ++visits.at(shuffle.next());
            EXPECT_EQ(visits, std::vector<int>(count, 1)) << "round " << round;
        }
        EXPECT_EQ(shuffle.position(), 5 * count);
    }
}

TEST(ClipShuffle, RoundsAndSeedsDiffer)
{
    const auto order = [](std::uint64_t seed, std::uint64_t round) {
        ClipShuffle shuffle(50, seed, 50 * round);
        std::vector<std::size_t> clips;
        for (int i = 0; i < 50; ++i) clips.push_back(shuffle.next());
        return clips;
    };
    std::set<std::vector<std::size_t>> orders;
    for (std::uint64_t seed = 0; seed < 4; ++seed)
        for (std::uint64_t round = 0; round < 4; ++round) orders.insert(order(seed, round));
    EXPECT_EQ(orders.size(), 16u);
}

TEST(ClipShuffle, IsTakenUpAtAnyPosition)
{
    ClipShuffle whole(13, 4);
    for (std::uint64_t position = 0; position < 40; ++position) {
        ClipShuffle rest = whole;
        ClipShuffle resumed(13, 4, position);
        EXPECT_EQ(resumed.position(), position);
        for (int i = 0; i < 30; ++i) ASSERT_EQ(resumed.next(), rest.next()) << position;
        whole.next();
    }
}

TEST(ClipShuffle, EveryOrderIsEquallyLikely)
{
    // Six orders of three clips, 6000 rounds: 1000 each, deviation sqrt(6000 / 6 * 5 / 6) = 29.
    std::map<std::vector<std::size_t>, int> seen;
    ClipShuffle shuffle(3, 77);
    for (int round = 0; round < 6000; ++round) {
        std::vector<std::size_t> order;
        for (int i = 0; i < 3; ++i) order.push_back(shuffle.next());
        ++seen[order];
    }
    EXPECT_EQ(seen.size(), 6u);
    for (const auto& [order, count] : seen) EXPECT_NEAR(count, 1000, 145);
}

TEST(ClipShuffle, NeedsClips)
{
    EXPECT_EQ(message([] { ClipShuffle(0, 1); }),
              "clips: none to shuffle, but 1 is needed; cut some first");
}

}  // namespace

}  // namespace springtime
