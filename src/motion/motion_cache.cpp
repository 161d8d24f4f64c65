#include "motion/motion_cache.h"

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

#include <algorithm>
#include <fstream>
#include <string>

#include "motion/rollouts_in_memory.h"

namespace springtime {

namespace {

std::size_t bytes_of(const Rollout& rollout)
{
    return sizeof(float) *
           (rollout.position.size() + rollout.velocity.size() + rollout.acceleration.size());
}

// Containers, and jobs of a scheduler, may have less than their machine: the least that the groups
// of this process say, each within the one before it.
std::size_t memory_of_container()
{
    std::size_t least = std::size_t(-1);
    const auto take = [&](const std::string& path) {
        std::ifstream file(path);
        std::size_t bytes = 0;
        if (file >> bytes) least = std::min(least, bytes);  // otherwise "max", or no such file
    };
    take("/sys/fs/cgroup/memory/memory.limit_in_bytes");  // of version 1
    std::ifstream groups("/proc/self/cgroup");
    std::string group;
    for (std::string line; std::getline(groups, line);) {
        if (line.starts_with("0::")) group = line.substr(3);
    }
    for (;; group.erase(group.find_last_of('/'))) {
        take("/sys/fs/cgroup" + group + "/memory.max");
        if (group.find_last_of('/') == std::string::npos) return least;
    }
}

}  // namespace

std::size_t memory_to_spare()
{
    constexpr std::size_t kUnknown = std::size_t(4) << 30;
    std::size_t bytes = kUnknown;
#if defined(_SC_PHYS_PAGES) && defined(_SC_PAGESIZE)
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (pages > 0 && size > 0) bytes = std::size_t(pages) * std::size_t(size);
#endif
    return std::min(bytes, memory_of_container()) / 4;
}

void MotionCache::keep_rollouts(std::size_t most_bytes)
{
    const std::lock_guard lock(mutex_);
    std::size_t used = 0;
    for (const auto& [number, rollout] : kept_) used += bytes_of(*rollout);
    room_ = most_bytes > used ? most_bytes - used : 0;
}

// Null where there is no room for it. The source is read by one thread at a time.
std::shared_ptr<const Rollout> MotionCache::whole(std::size_t rollout)
{
    const auto found = kept_.find(rollout);
    if (found != kept_.end()) return found->second;
    const std::size_t frames = source_->frame_counts[rollout];
    const std::size_t least = sizeof(float) * 3 * frames * source_->header.landmark_count();
    if (least > room_) return nullptr;
    auto read = std::make_shared<const Rollout>(source_->read(rollout, 0, frames));
    const std::size_t bytes = bytes_of(*read);
    if (bytes > room_) {
        room_ = 0;
        return nullptr;
    }
    room_ -= bytes;
    kept_[rollout] = read;
    return read;
}

std::shared_ptr<const Rollout> MotionCache::kept(std::size_t rollout)
{
    if (const auto* memory = source_->read.target<RolloutsInMemory>())
        return memory->whole(rollout);
    const std::lock_guard lock(mutex_);
    return whole(rollout);
}

Rollout MotionCache::read(std::size_t rollout, std::size_t first, std::size_t count)
{
    if (const auto* memory = source_->read.target<RolloutsInMemory>()) {
        return (*memory)(rollout, first, count);
    }
    std::unique_lock lock(mutex_);
    const std::shared_ptr<const Rollout> kept = whole(rollout);
    if (!kept) return source_->read(rollout, first, count);
    lock.unlock();
    return kept->frames(first, count, source_->header.frame_interval());
}

Motion through_cache(const Motion& source, const std::shared_ptr<MotionCache>& cache)
{
    Motion motion = source;
    motion.read = [cache](std::size_t rollout, std::size_t first, std::size_t count) {
        return cache->read(rollout, first, count);
    };
    return motion;
}

}  // namespace springtime
