#include "motion/clips.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/random.h"
#include "springtime/error.h"

namespace springtime {

namespace {

// A stream that no lap of a shuffle reaches, so that one seed can serve both.
constexpr std::uint64_t kSplitStream = ~std::uint64_t(0);

// Fisher and Yates: 0 to count - 1 in random order.
void draw_order(std::vector<std::size_t>& order, Random random)
{
    std::iota(order.begin(), order.end(), std::size_t(0));
    for (std::size_t left = order.size(); left > 1; --left) {
        const auto drawn = static_cast<std::size_t>(random.uniform() * double(left));
        std::swap(order[left - 1], order[drawn]);
    }
}

void check_cut(const Motion& motion, const std::vector<std::size_t>& rollouts,
               std::size_t intervals, double tail_seconds)
{
    if (intervals < 1) throw Error("clips: {} intervals long; at least 1 is needed", intervals);
    if (std::isnan(tail_seconds)) {
        throw Error("clips: a tail of {} s; give its seconds, or 0 for the whole rollout",
                    tail_seconds);
    }
    if (tail_seconds > 0 && !(motion.header.frame_interval() > 0)) {
        throw Error(
            "clips: frames {} s apart; a tail needs a positive interval, so mend the time step or "
            "the stride of the motion",
            motion.header.frame_interval());
    }
    for (const std::size_t rollout : rollouts) {
        if (rollout < motion.frame_counts.size()) continue;
        throw Error("clips: rollout {} asked for, but the motion has {}; count from 0", rollout,
                    motion.frame_counts.size());
    }
}

// Frame intervals of a rollout that clips may use: all, or those in its last seconds.
std::size_t usable_intervals(const Motion& motion, std::size_t rollout, double tail_seconds)
{
    const std::size_t frames = motion.frame_counts[rollout], all = frames > 0 ? frames - 1 : 0;
    if (!(tail_seconds > 0)) return all;
    // 1 s is 25 intervals of 0.04 s, whatever the division rounds to.
    const double tail = std::floor(tail_seconds / motion.header.frame_interval() + 1e-6);
    return tail < double(all) ? static_cast<std::size_t>(tail) : all;
}

}  // namespace

RolloutSplit split_rollouts(std::size_t rollout_count, double validation_share, std::uint64_t seed)
{
    if (rollout_count < 2) {
        throw Error("clips: {}, but 2 are needed, one to train on and one to validate; make more",
                    counted(rollout_count, "rollout"));
    }
    if (!(validation_share > 0 && validation_share < 1)) {
        throw Error("clips: a validation share of {}; it must lie between 0 and 1",
                    validation_share);
    }
    const auto share = static_cast<std::size_t>(std::llround(validation_share * rollout_count));
    const std::size_t validation = std::clamp(share, std::size_t(1), rollout_count - 1);
    std::vector<std::size_t> order(rollout_count);
    draw_order(order, Random::stream(seed, kSplitStream));
    const auto middle = order.begin() + static_cast<std::ptrdiff_t>(validation);
    std::sort(order.begin(), middle);
    std::sort(middle, order.end());
    return {{middle, order.end()}, {order.begin(), middle}};
}

std::vector<Clip> cut_clips(const Motion& motion, const std::vector<std::size_t>& rollouts,
                            std::size_t intervals, std::size_t hop, double tail_seconds)
{
    check_cut(motion, rollouts, intervals, tail_seconds);
    if (hop == 0) hop = intervals;
    std::vector<Clip> clips;
    std::size_t longest = 0;
    for (const std::size_t rollout : rollouts) {
        const std::size_t usable = usable_intervals(motion, rollout, tail_seconds);
        longest = std::max(longest, usable);
        if (usable < intervals) continue;
        const std::size_t start = motion.frame_counts[rollout] - 1 - usable;
        const std::size_t count = (usable - intervals) / hop + 1;
        for (std::size_t i = 0; i < count; ++i) clips.push_back({rollout, start + i * hop});
    }
    if (clips.empty()) {
        throw Error(
            "clips: the longest of {} rollouts has {} usable intervals, but a clip needs {}; ask "
            "for shorter clips{}",
            rollouts.size(), longest, intervals, tail_seconds > 0 ? " or a longer tail" : "");
    }
    return clips;
}

ClipShuffle::ClipShuffle(std::size_t clip_count, std::uint64_t seed, std::uint64_t position)
    : seed_(seed), position_(position), order_(clip_count)
{
    if (clip_count == 0) throw Error("clips: none to shuffle, but 1 is needed; cut some first");
    shuffle();
}

std::size_t ClipShuffle::next()
{
    if (position_ % order_.size() == 0) shuffle();
    return order_[position_++ % order_.size()];
}

void ClipShuffle::shuffle()
{
    draw_order(order_, Random::stream(seed_, position_ / order_.size()));
}

}  // namespace springtime
