#include "backends/cuda/loaded_clips.h"

#include <algorithm>

#include "core/assert.h"
#include "core/parallel.h"

namespace springtime::cuda {

void Targets::pack(std::span<const ClipView> clips, std::span<const float> ClipView::*which,
                   std::size_t frames_kept)
{
    const std::size_t frames = clips[0].frame_count;
    const std::size_t row = (clips[0].*which).size() / frames;
    host_.resize(clips.size() * frames_kept * row);
    device_.resize(host_.size());
    if (frames_kept == 0) return;
    constexpr std::size_t kForOneThread = 1 << 18;  // numbers
    parallel_for(int(clips.size()), host_.size() > kForOneThread ? thread_count(0) : 1, [&](int i) {
        const std::span<const float> from = clips[std::size_t(i)].*which;
        SPRINGTIME_ASSERT(from.size() == frames * row);
        float* to = host_.data() + std::size_t(i) * frames_kept * row;
        if (frames_kept == frames) {
            std::copy(from.begin(), from.end(), to);
        } else {
            std::copy_n(from.begin(), row, to);
            std::copy_n(from.end() - std::ptrdiff_t(row), row, to + row);
        }
    });
}

void Targets::send(cudaStream_t stream)
{
    if (device_.empty()) return;
    SPRINGTIME_CUDA(cudaMemcpyAsync(device_.data(), host_.data(), device_.size_bytes(),
                                    cudaMemcpyHostToDevice, stream));
}

int target_arrays(const ClipTerms& weights)
{
    const bool forces = weights.force != 0 || weights.impulse != 0;
    return (weights.position != 0 ? 1 : 0) + (forces ? 1 : 0) + (weights.impulse != 0 ? 1 : 0);
}

// All memory is there before the first copy begins, so that none is on its way when it lacks.
void LoadedClips::load(std::span<const ClipView> clips, const ClipTerms& weights,
                       std::size_t particles, double dt, int steps, Stream& sending)
{
    if (!lanes_ || lanes_->dt() != dt) lanes_.emplace(particles, dt);
    lanes_->begin(int(clips.size()));
    constexpr std::size_t kForOneThread = 1 << 16;  // particles
    const bool many = clips.size() * particles > kForOneThread;
    parallel_for(int(clips.size()), many ? thread_count(0) : 1, [&](int i) {
        const ClipView& clip = clips[std::size_t(i)];
        lanes_->load(i, clip.start, *clip.handles, steps);
    });
    const std::size_t all = clips[0].frame_count, ends = weights.impulse != 0 ? 2 : 0;
    position_.pack(clips, &ClipView::position, weights.position != 0 ? all : 0);
    velocity_.pack(clips, &ClipView::velocity, ends);
    acceleration_.pack(clips, &ClipView::acceleration, weights.force != 0 ? all : ends);
    for (Targets* targets : {&position_, &velocity_, &acceleration_}) {
        targets->send(sending.get());
    }
    sending.wait();
}

std::unique_ptr<LoadedClips> LoadedPool::take()
{
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<LoadedClips>();
    auto loaded = std::move(idle_.back());
    idle_.pop_back();
    return loaded;
}

void LoadedPool::give_back(std::unique_ptr<LoadedClips> loaded)
{
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(loaded));
}

void LoadedPool::release()
{
    const std::lock_guard lock(mutex_);
    idle_.clear();
}

}  // namespace springtime::cuda
