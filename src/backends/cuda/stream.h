#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

#include "backends/cuda/device_array.h"

namespace springtime::cuda {

// A point in the order of a stream that the host, or another stream, can wait for.
class Event {
  public:
    Event() { SPRINGTIME_CUDA(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
    ~Event() { cudaEventDestroy(event_); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    void record(cudaStream_t stream = nullptr) { SPRINGTIME_CUDA(cudaEventRecord(event_, stream)); }
    void wait() { SPRINGTIME_CUDA(cudaEventSynchronize(event_)); }
    // What follows in the stream waits.
    void hold_up(cudaStream_t stream) { SPRINGTIME_CUDA(cudaStreamWaitEvent(stream, event_, 0)); }

  private:
    cudaEvent_t event_ = nullptr;
};

// Work beside that of the default stream: neither waits for the other.
class Stream {
  public:
    Stream() { SPRINGTIME_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
    ~Stream() { cudaStreamDestroy(stream_); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    cudaStream_t get() const { return stream_; }
    void wait() { SPRINGTIME_CUDA(cudaStreamSynchronize(stream_)); }

  private:
    cudaStream_t stream_ = nullptr;
};

// A launch takes some tenths of a second at most: between launches the caller is asked whether to
// go on. How many steps it may have, of so many particles in all lanes.
inline int steps_of_launch(std::size_t particles)
{
    constexpr std::size_t kParticleSteps = 1000000000;
    return int(
        std::clamp<std::size_t>(kParticleSteps / std::max<std::size_t>(particles, 1), 1, 1 << 30));
}

// Keeps the host no more than one launch ahead of the device, so that it can be stopped at any
// time, and the device is never idle.
class Pace {
  public:
    // After every launch.
    void launched(const std::function<void()>& heartbeat)
    {
        events_[count_ % 2].record();
        if (count_++ > 0) events_[count_ % 2].wait();
        if (heartbeat) heartbeat();
    }

  private:
    Event events_[2];
    int count_ = 0;
};

}  // namespace springtime::cuda
