#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "backends/cuda/device_array.h"

namespace springtime::bench {

// Seconds of the device for what `work` starts, without what it does on the host.
template <class Work>
double gpu_seconds(const Work& work)
{
    cudaEvent_t begin, end;
    SPRINGTIME_CUDA(cudaEventCreate(&begin));
    SPRINGTIME_CUDA(cudaEventCreate(&end));
    SPRINGTIME_CUDA(cudaEventRecord(begin));
    work();
    SPRINGTIME_CUDA(cudaEventRecord(end));
    SPRINGTIME_CUDA(cudaEventSynchronize(end));
    float milliseconds = 0;
    SPRINGTIME_CUDA(cudaEventElapsedTime(&milliseconds, begin, end));
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return double(milliseconds) / 1000;
}

// The quickest of some rounds, after one that warms up.
template <class Work>
double best_gpu_seconds(int rounds, const Work& work)
{
    gpu_seconds(work);
    double best = 1e30;
    for (int round = 0; round < rounds; ++round) best = std::min(best, gpu_seconds(work));
    return best;
}

}  // namespace springtime::bench
