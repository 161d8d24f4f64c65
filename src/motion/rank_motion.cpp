#include "motion/rank_motion.h"

#include "springtime/error.h"

namespace springtime {

std::optional<SharedMotion> shared(const Motion& motion)
{
    if (!motion.source) return std::nullopt;
    return SharedMotion{*motion.source, motion.frame_counts};
}

std::optional<Motion> open_shared(const std::optional<SharedMotion>& motion, const RankTools& tools)
{
    if (!motion || !tools.open) return std::nullopt;
    try {
        Motion opened = select_rollouts(tools.open(motion->source.path), motion->source.rollouts);
        if (opened.frame_counts != motion->frame_counts) return std::nullopt;
        return opened;
    } catch (const std::runtime_error&) {  // then the first rank sends what is needed
        return std::nullopt;
    }
}

}  // namespace springtime
