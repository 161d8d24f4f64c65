#pragma once

#include <memory>
#include <vector>

#include "springtime/motion.h"

namespace springtime {

// What Motion::read is where all rollouts are in memory. Several threads may call it. A motion that
// was wrapped in something else is no longer of this kind.
struct RolloutsInMemory {
    std::shared_ptr<const std::vector<Rollout>> rollouts;
    double frame_interval;  // [s]

    Rollout operator()(std::size_t rollout, std::size_t first, std::size_t count) const
    {
        return (*rollouts)[rollout].frames(first, count, frame_interval);
    }
    // Without a copy.
    std::shared_ptr<const Rollout> whole(std::size_t rollout) const
    {
        return {rollouts, &(*rollouts)[rollout]};
    }
};

}  // namespace springtime
