#pragma once

#include "backends/cuda/launch.h"

namespace springtime::cuda {

// Threads of a block that sums.
inline constexpr int kSumThreads = 256;

// The sum of what all threads of a block bring, in one fixed order; all of them get it. T needs
// operator+. The block has room for kSumThreads of them in its shared memory.
template <class T>
__device__ T block_sum(const T& value)
{
    T* room = reinterpret_cast<T*>(block_memory());
    const int thread = int(threadIdx.x);
    __syncthreads();  // the room may still be read
    room[thread] = value;
    for (int half = kSumThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half) room[thread] = room[thread] + room[thread + half];
    }
    __syncthreads();
    return room[0];
}

// A launch of blocks that sum T.
template <class T>
LaunchShape summing(int blocks)
{
    return {blocks, kSumThreads, kSumThreads * sizeof(T)};
}

}  // namespace springtime::cuda
