#pragma once

// The part of CUDA that our kernels use, on the CPU. The sources of the backend are compiled as C++
// with this file in place of CUDA's, so that their tests run on machines without a device. Every
// thread of a block is a coroutine that runs up to its next barrier. It is slow: for small cloths.

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <tuple>
#include <utility>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)

// ---- Errors, memory, streams

enum cudaError_t { cudaSuccess = 0, cudaErrorMemoryAllocation = 2, cudaErrorInvalidValue = 1 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
using cudaStream_t = struct CudaOnCpuStream*;
using cudaEvent_t = struct CudaOnCpuEvent*;
inline constexpr unsigned cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2;

struct cudaDeviceProp {
    char name[64];
    int major, minor, multiProcessorCount;
    std::size_t totalGlobalMem, sharedMemPerBlockOptin;
};
enum cudaDeviceAttr {
    cudaDevAttrMultiProcessorCount,
    cudaDevAttrMaxSharedMemoryPerBlockOptin,
    cudaDevAttrComputeCapabilityMajor
};

namespace cuda_on_cpu {

// What a test may change: how much memory there seems to be, and how many multiprocessors.
struct Machine {
    std::size_t memory = std::size_t(1) << 30, used = 0;
    int multiprocessors = 4;
    long launches = 0;
};
Machine& machine();

}  // namespace cuda_on_cpu

inline const char* cudaGetErrorName(cudaError_t e)
{
    return e == cudaSuccess                 ? "cudaSuccess"
           : e == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation"
                                            : "cudaErrorInvalidValue";
}
inline const char* cudaGetErrorString(cudaError_t e)
{
    return e == cudaErrorMemoryAllocation ? "out of memory" : cudaGetErrorName(e);
}
cudaError_t cudaMalloc(void** to, std::size_t bytes);
cudaError_t cudaFree(void* memory);
template <class T>
cudaError_t cudaMalloc(T** to, std::size_t bytes)
{
    return cudaMalloc(reinterpret_cast<void**>(to), bytes);
}
template <class T>
cudaError_t cudaMallocHost(T** to, std::size_t bytes)
{
    *to = static_cast<T*>(std::malloc(bytes));
    return *to ? cudaSuccess : cudaErrorMemoryAllocation;
}
inline cudaError_t cudaFreeHost(void* memory)
{
    std::free(memory);
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind)
{
    if (!to || !from) return cudaErrorInvalidValue;
    std::memmove(to, from, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                   cudaMemcpyKind kind, cudaStream_t = nullptr)
{
    return cudaMemcpy(to, from, bytes, kind);
}
inline cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                                     std::size_t from_pitch, std::size_t width, std::size_t height,
                                     cudaMemcpyKind, cudaStream_t = nullptr)
{
    for (std::size_t row = 0; row < height; ++row) {
        std::memmove(static_cast<char*>(to) + row * to_pitch,
                     static_cast<const char*>(from) + row * from_pitch, width);
    }
    return cudaSuccess;
}
inline cudaError_t cudaMemset(void* to, int value, std::size_t bytes)
{
    std::memset(to, value, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t = nullptr)
{
    return cudaMemset(to, value, bytes);
}
inline cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total)
{
    *total = cuda_on_cpu::machine().memory;
    *free = *total - cuda_on_cpu::machine().used;
    return cudaSuccess;
}
inline cudaError_t cudaGetLastError()
{
    return cudaSuccess;
}
inline cudaError_t cudaPeekAtLastError()
{
    return cudaSuccess;
}
inline cudaError_t cudaDeviceSynchronize()
{
    return cudaSuccess;
}
inline cudaError_t cudaGetDeviceCount(int* count)
{
    *count = 1;
    return cudaSuccess;
}
inline cudaError_t cudaGetDevice(int* device)
{
    *device = 0;
    return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int)
{
    return cudaSuccess;
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int)
{
    *p = {
        "CUDA on CPU", 9, 0, cuda_on_cpu::machine().multiprocessors, cuda_on_cpu::machine().memory,
        232448};
    return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int)
{
    *value = which == cudaDevAttrMultiProcessorCount      ? cuda_on_cpu::machine().multiprocessors
             : which == cudaDevAttrComputeCapabilityMajor ? 9
                                                          : 232448;
    return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned)
{
    *stream = nullptr;
    return cudaSuccess;
}
inline cudaError_t cudaStreamCreate(cudaStream_t* stream)
{
    *stream = nullptr;
    return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t)
{
    return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    return cudaSuccess;
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0)
{
    return cudaSuccess;
}
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned)
{
    *event = nullptr;
    return cudaSuccess;
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event)
{
    *event = nullptr;
    return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t)
{
    return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = nullptr)
{
    return cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t)
{
    return cudaSuccess;
}
inline cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t, cudaEvent_t)
{
    *ms = 0;
    return cudaSuccess;
}

// ---- Kernels

struct dim3 {
    unsigned x = 1, y = 1, z = 1;
};
struct float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct int2 {
    int x, y;
};
struct alignas(16) int4 {
    int x, y, z, w;
};
inline float2 make_float2(float x, float y)
{
    return {x, y};
}
inline float4 make_float4(float x, float y, float z, float w)
{
    return {x, y, z, w};
}
inline int2 make_int2(int x, int y)
{
    return {x, y};
}
inline int4 make_int4(int x, int y, int z, int w)
{
    return {x, y, z, w};
}

namespace cuda_on_cpu {

struct Here {
    dim3 thread, block, block_size, grid_size;
    int cluster_rank = 0, cluster_size = 1;
    char* shared = nullptr;
    std::size_t shared_bytes = 0;
};
// Of the thread that runs.
const Here& here();

void block_barrier();
void warp_barrier();
void cluster_barrier();
// Memory of the same place in another block of the cluster.
char* in_block(char* memory, int rank);
// Room of four numbers for every lane of the warp that runs.
double* warp_room();
int lane();

void run(dim3 grid, dim3 block, std::size_t shared, int cluster, const std::function<void()>& body);

// All threads of a warp that are still there take part.
template <class T>
T shuffle(T value, int from)
{
    static_assert(sizeof(T) <= sizeof(double));
    std::memcpy(warp_room() + lane(), &value, sizeof(T));
    warp_barrier();
    T taken;
    std::memcpy(&taken, warp_room() + (from & 31), sizeof(T));
    warp_barrier();
    return taken;
}

}  // namespace cuda_on_cpu

namespace cuda_on_cpu {

struct Coordinate {
    dim3 Here::*which;
    unsigned dim3::*axis;
    operator unsigned() const { return here().*which.*axis; }
};
struct Coordinates {
    Coordinate x, y, z;
};
constexpr Coordinates coordinates(dim3 Here::*which)
{
    return {{which, &dim3::x}, {which, &dim3::y}, {which, &dim3::z}};
}

}  // namespace cuda_on_cpu

inline constexpr auto threadIdx = cuda_on_cpu::coordinates(&cuda_on_cpu::Here::thread);
inline constexpr auto blockIdx = cuda_on_cpu::coordinates(&cuda_on_cpu::Here::block);
inline constexpr auto blockDim = cuda_on_cpu::coordinates(&cuda_on_cpu::Here::block_size);
inline constexpr auto gridDim = cuda_on_cpu::coordinates(&cuda_on_cpu::Here::grid_size);

inline void __syncthreads()
{
    cuda_on_cpu::block_barrier();
}
inline void __syncwarp(unsigned = ~0u)
{
    cuda_on_cpu::warp_barrier();
}
inline void __threadfence() {}
inline void __threadfence_block() {}
template <class T>
T __shfl_sync(unsigned, T value, int from)
{
    return cuda_on_cpu::shuffle(value, from);
}
template <class T>
T __shfl_up_sync(unsigned, T value, int by)
{
    const int lane = cuda_on_cpu::lane();
    return cuda_on_cpu::shuffle(value, lane >= by ? lane - by : lane);
}
template <class T>
T __shfl_down_sync(unsigned, T value, int by)
{
    const int lane = cuda_on_cpu::lane();
    return cuda_on_cpu::shuffle(value, lane + by < 32 ? lane + by : lane);
}
template <class T>
T __shfl_xor_sync(unsigned, T value, int mask)
{
    return cuda_on_cpu::shuffle(value, cuda_on_cpu::lane() ^ mask);
}
template <class T>
T __ldg(const T* from)
{
    return *from;
}
template <class T>
T __ldcs(const T* from)
{
    return *from;
}
template <class T>
void __stcs(T* to, T value)
{
    *to = value;
}
inline float rsqrtf(float x)
{
    return 1 / std::sqrt(x);
}
inline double rsqrt(double x)
{
    return 1 / std::sqrt(x);
}

enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize,
    cudaFuncAttributeNonPortableClusterSizeAllowed,
    cudaFuncAttributePreferredSharedMemoryCarveout
};
struct cudaFuncAttributes {
    int maxThreadsPerBlock, numRegs;
};
template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel*)
{
    *attributes = {1024, 32};
    return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel*, cudaFuncAttribute, int)
{
    return cudaSuccess;
}

enum cudaLaunchAttributeID { cudaLaunchAttributeClusterDimension };
struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    struct {
        dim3 clusterDim;
    } val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    std::size_t dynamicSmemBytes = 0;
    cudaStream_t stream = nullptr;
    cudaLaunchAttribute* attrs = nullptr;
    unsigned numAttrs = 0;
};
template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments)
{
    const std::tuple<Parameters...> given(std::forward<Arguments>(arguments)...);
    int cluster = 1;
    for (unsigned i = 0; i < config->numAttrs; ++i) {
        cluster = int(config->attrs[i].val.clusterDim.x);
    }
    cuda_on_cpu::run(config->gridDim, config->blockDim, config->dynamicSmemBytes, cluster,
                     [&] { std::apply(kernel, given); });
    return cudaSuccess;
}
