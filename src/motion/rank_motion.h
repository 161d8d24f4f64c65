#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "crew/crew.h"
#include "springtime/motion.h"

namespace springtime {

// A motion that other ranks may be able to open by themselves.
struct SharedMotion {
    MotionSource source;
    std::vector<std::size_t> frame_counts;
    std::uint64_t fingerprint = 0;  // of the header, and of some frames
};

// Nothing where the motion lies in memory, or shows a file otherwise than it is.
std::optional<SharedMotion> shared(const Motion& motion);
inline auto fields(MotionSource& source)
{
    auto& [path, rollouts] = source;
    return std::tie(path, rollouts);
}
inline auto fields(SharedMotion& motion)
{
    auto& [source, frame_counts, fingerprint] = motion;
    return std::tie(source, frame_counts, fingerprint);
}

// The same motion on another rank; nothing where its file is not there, or another: an old file of
// the same name, with as many frames, is told by its fingerprint.
std::optional<Motion> open_shared(const std::optional<SharedMotion>& motion,
                                  const RankTools& tools);

}  // namespace springtime
