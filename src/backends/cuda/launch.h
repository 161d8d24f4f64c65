#pragma once

#include <cuda_runtime.h>
#if defined(__CUDACC__)
#include <cooperative_groups.h>
#endif

#include <cstddef>
#include <utility>

#include "backends/cuda/device_array.h"

namespace springtime::cuda {

struct LaunchShape {
    int blocks = 1, threads = 1;
    std::size_t shared = 0;  // dynamic shared memory of a block [bytes]
    int cluster = 1;         // blocks that see each other's shared memory
};

// Starts a kernel in the order of a stream. Kernels take all shared memory from block_memory().
template <class... Parameters, class... Arguments>
void launch(const LaunchShape& shape, void (*kernel)(Parameters...), Arguments&&... arguments)
{
    constexpr std::size_t kWithoutAsking = 48 << 10;  // [bytes]
    constexpr int kPortableCluster = 8;
    if (shape.shared > kWithoutAsking) {
        SPRINGTIME_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                             int(shape.shared)));
    }
    if (shape.cluster > kPortableCluster) {
        SPRINGTIME_CUDA(
            cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    }
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = unsigned(shape.cluster);
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3{unsigned(shape.blocks), 1, 1};
    config.blockDim = dim3{unsigned(shape.threads), 1, 1};
    config.dynamicSmemBytes = shape.shared;
    config.attrs = &cluster;
    config.numAttrs = shape.cluster > 1 ? 1 : 0;
    SPRINGTIME_CUDA(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...));
}

// ---- Within kernels

#if defined(__CUDACC__)

// The dynamic shared memory of the block, aligned to 16 bytes.
__device__ inline char* block_memory()
{
    extern __shared__ __align__(16) char springtime_block_memory[];
    return springtime_block_memory;
}
__device__ inline int cluster_rank()
{
    return int(cooperative_groups::this_cluster().block_rank());
}
__device__ inline void cluster_sync()
{
    cooperative_groups::this_cluster().sync();
}
// The same place in the shared memory of another block of the cluster.
template <class T>
__device__ inline T* in_block(T* memory, int rank)
{
    return cooperative_groups::this_cluster().map_shared_rank(memory, rank);
}

#else

inline char* block_memory()
{
    return cuda_on_cpu::here().shared;
}
inline int cluster_rank()
{
    return cuda_on_cpu::here().cluster_rank;
}
inline void cluster_sync()
{
    cuda_on_cpu::cluster_barrier();
}
template <class T>
inline T* in_block(T* memory, int rank)
{
    return reinterpret_cast<T*>(cuda_on_cpu::in_block(reinterpret_cast<char*>(memory), rank));
}

#endif

}  // namespace springtime::cuda
