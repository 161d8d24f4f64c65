#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "springtime/motion.h"

namespace springtime {

// How rollouts are shared out: validation rollouts are never trained on.
struct RolloutSplit {
    std::vector<std::size_t> training, validation;
};

// Draws a share of the rollouts, at least one, for validation. With a single rollout there is none
// to spare: throws Error.
RolloutSplit split_rollouts(std::size_t rollout_count, double validation_share, std::uint64_t seed);

// Cuts the given rollouts into clips of `intervals` frame intervals (intervals + 1 frames) that do
// not overlap but for the frame they share, or `hop` intervals apart when that is not zero. Of
// every rollout only clips that lie within its last `tail_seconds` count when that is positive:
// those are the slow ones. Throws Error when no rollout is long enough.
std::vector<Clip> cut_clips(const Motion& motion, const std::vector<std::size_t>& rollouts,
                            std::size_t intervals, std::size_t hop, double tail_seconds);

// An endless shuffled walk through clips: each lap visits every clip once, in an order that
// depends on the seed and the lap alone. The position can be stored and taken up again.
class ClipShuffle {
  public:
    ClipShuffle(std::size_t clip_count, std::uint64_t seed, std::uint64_t position = 0);

    std::size_t next();  // index of a clip
    std::uint64_t position() const { return position_; }

  private:
    void shuffle();

    std::uint64_t seed_, position_;
    std::vector<std::size_t> order_;
};

}  // namespace springtime
