#include "motion/rank_motion.h"

#include <algorithm>

#include "crew/wire_cloth.h"
#include "springtime/error.h"

namespace springtime {

namespace {

// FNV-1a, 64 bits: nobody forges a file here, and any other frame gives another number.
std::uint64_t hash_of(const std::vector<std::byte>& bytes)
{
    std::uint64_t hash = 14695981039346656037U;
    for (const std::byte byte : bytes) hash = (hash ^ std::uint64_t(byte)) * 1099511628211U;
    return hash;
}

void add_frame(const Motion& motion, std::size_t rollout, std::size_t frame, WireWriter& bytes)
{
    const Rollout one = motion.read(rollout, frame, 1);
    bytes(one.position, one.velocity, one.acceleration, one.handles);
}

// The rollouts that are looked at are the first, the last and two between.
std::uint64_t fingerprint_of(const Motion& motion)
{
    const MotionHeader& header = motion.header;
    WireWriter bytes;
    bytes(header.sheet, header.rest, header.dt, header.stride, header.environment, header.seed,
          header.contact, header.velocities, header.gaps, header.captured, header.config);
    constexpr std::size_t kLooks = 4;
    const std::size_t count = motion.rollout_count(), looks = std::min(count, kLooks);
    for (std::size_t i = 0; i < looks; ++i) {
        const std::size_t rollout = looks < 2 ? 0 : i * (count - 1) / (looks - 1);
        const std::size_t frames = motion.frame_counts[rollout];
        if (frames == 0) continue;
        add_frame(motion, rollout, 0, bytes);
        add_frame(motion, rollout, frames - 1, bytes);
    }
    return hash_of(bytes.bytes());
}

}  // namespace

std::optional<SharedMotion> shared(const Motion& motion)
{
    if (!motion.source) return std::nullopt;
    return SharedMotion{*motion.source, motion.frame_counts, fingerprint_of(motion)};
}

std::optional<Motion> open_shared(const std::optional<SharedMotion>& motion, const RankTools& tools)
{
    if (!motion || !tools.open) return std::nullopt;
    try {
        Motion opened = select_rollouts(tools.open(motion->source.path), motion->source.rollouts);
        if (opened.frame_counts != motion->frame_counts) return std::nullopt;
        if (fingerprint_of(opened) != motion->fingerprint) return std::nullopt;
        return opened;
    } catch (const std::runtime_error&) {  // then the first rank sends what is needed
        return std::nullopt;
    }
}

}  // namespace springtime
