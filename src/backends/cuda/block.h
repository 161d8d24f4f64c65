#pragma once

#include "backends/cuda/launch.h"

// Steps that a block takes, or the cluster of blocks that runs a lane.
namespace springtime::cuda {

template <bool kCluster>
__device__ __forceinline__ int lane_rank()
{
    if constexpr (kCluster) {
        return cluster_rank();
    } else {
        return 0;
    }
}
template <bool kCluster>
__device__ __forceinline__ void lane_sync()
{
    if constexpr (kCluster) {
        cluster_sync();
    } else {
        __syncthreads();
    }
}

// Takes pieces of the shared memory of a block, one after the other.
class BlockRoom {
  public:
    __device__ BlockRoom() : next_(block_memory()) {}
    template <class T>
    __device__ T* take(int count)
    {
        T* piece = reinterpret_cast<T*>(next_);
        next_ += std::size_t(count) * sizeof(T);
        return piece;
    }

  private:
    char* next_;
};

// Copies to shared memory without waiting: what was asked for has arrived after arrive_copies() and
// a barrier.
template <class T>
__device__ __forceinline__ void copy_later(T* to, const T* from)
{
#if defined(__CUDA_ARCH__)
    const unsigned place = unsigned(__cvta_generic_to_shared(to));
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(place), "l"(from), "n"(sizeof(T))
                 : "memory");
#else
    *to = *from;
#endif
}
__device__ __forceinline__ void arrive_copies()
{
#if defined(__CUDA_ARCH__)
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

}  // namespace springtime::cuda
