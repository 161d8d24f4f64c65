#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

#include "springtime/motion.h"

namespace springtime {

// Rollouts of a motion that stay in memory once they have been read, as many as there is room for.
// Several threads may read it. What it is the cache of must outlive it.
class MotionCache {
  public:
    explicit MotionCache(const Motion& source) : source_(&source) {}

    // Until then everything is read from the source.
    void keep_rollouts(std::size_t most_bytes);
    Rollout read(std::size_t rollout, std::size_t first, std::size_t count);
    // The whole of a rollout, which is kept from then on; null where there is no room for it.
    std::shared_ptr<const Rollout> kept(std::size_t rollout);

  private:
    std::shared_ptr<const Rollout> whole(std::size_t rollout);

    const Motion* source_;
    std::mutex mutex_;
    std::size_t room_ = 0;  // [bytes]
    std::map<std::size_t, std::shared_ptr<const Rollout>> kept_;
};

// The motion, read through a cache of it.
Motion through_cache(const Motion& source, const std::shared_ptr<MotionCache>& cache);

// What a process may keep in memory for speed alone: a quarter of what the machine has. [bytes]
std::size_t memory_to_spare();

}  // namespace springtime
