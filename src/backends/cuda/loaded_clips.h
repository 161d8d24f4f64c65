#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "backends/cuda/device_array.h"
#include "backends/cuda/lane_set.h"
#include "backends/cuda/stream.h"
#include "sim/clip_gradient.h"

namespace springtime::cuda {

// What clips are compared with, on its way to the device: some frames of each, one clip after the
// other.
class Targets {
  public:
    // None, the first frame and the last, or all.
    void pack(std::span<const ClipView> clips, std::span<const float> ClipView::*which,
              std::size_t frames_kept);
    // What was packed stays as it is until the stream has sent it.
    void send(cudaStream_t stream);
    const float* data() const { return device_.data(); }

  private:
    PinnedArray<float> host_;
    DeviceArray<float> device_;
};

// How many kinds of targets a loss reads.
int target_arrays(const ClipTerms& weights);

// Clips that are ready for kernels: the lanes that they run in, and what they are compared with.
class LoadedClips {
  public:
    // Nothing here waits for kernels, so that it can be done while others run; the targets are on
    // the device at the end.
    void load(std::span<const ClipView> clips, const ClipTerms& weights, std::size_t particles,
              double dt, int steps, Stream& sending);

    LaneSet& lanes() { return *lanes_; }
    const float* position() const { return position_.data(); }
    const float* velocity() const { return velocity_.data(); }
    const float* acceleration() const { return acceleration_.data(); }

  private:
    std::optional<LaneSet> lanes_;
    Targets position_, velocity_, acceleration_;
};

// Those that nobody needs any more. Their memory, which is slow to come by, is for the next batch.
class LoadedPool {
  public:
    // With whatever they held.
    std::unique_ptr<LoadedClips> take();
    void give_back(std::unique_ptr<LoadedClips> loaded);
    void release();

  private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<LoadedClips>> idle_;
};

}  // namespace springtime::cuda
