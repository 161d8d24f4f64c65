#include "gpu_ceilings.h"

#include <algorithm>
#include <functional>

#include "backends/cuda/device_array.h"
#include "gpu_timing.h"

namespace springtime::bench {

namespace {

constexpr int kThreads = 512, kBlocksPerProcessor = 4;

// Chains of multiply-adds that do not depend on each other; `never` keeps the compiler from leaving
// them out.
constexpr int kChains = 8, kLoops = 4096;
__global__ void __launch_bounds__(kThreads) multiply_add(float a, float b, float* never)
{
    float chain[kChains];
    for (int c = 0; c < kChains; ++c) chain[c] = float(threadIdx.x + unsigned(c));
    for (int i = 0; i < kLoops; ++i) {
#pragma unroll
        for (float& x : chain) x = fmaf(x, a, b);
    }
    float sum = 0;
    for (const float x : chain) sum += x;
    if (sum == 12345.678f) *never = sum;
}

// Each thread reads sixteen bytes at a time, a warp all banks; where it reads next hangs on the
// loop alone.
constexpr int kShared = 2048;  // float4
__global__ void __launch_bounds__(kThreads) read_shared(float* never)
{
    __shared__ float4 shared[kShared];
    for (int i = int(threadIdx.x); i < kShared; i += kThreads) shared[i] = {1, 2, 3, float(i)};
    __syncthreads();
    float sum[4] = {};
    for (int i = 0; i < kLoops; ++i) {
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            const float4 read = shared[(int(threadIdx.x) + (4 * i + c) * 32) % kShared];
            sum[c] += read.x + read.y + read.z + read.w;
        }
    }
    if (sum[0] + sum[1] + sum[2] + sum[3] == 12345.678f) *never = sum[0];
}

}  // namespace

GpuCeilings measure_gpu_ceilings()
{
    using cuda::DeviceArray;
    constexpr int kRounds = 7;
    GpuCeilings ceilings;
    DeviceArray<float> never(1);
    const int blocks = kBlocksPerProcessor * cuda::multiprocessor_count();
    const double threads = double(blocks) * kThreads;

    const std::size_t bytes = std::min(cuda::free_memory() / 4, std::size_t(4) << 30);
    DeviceArray<char> from(bytes), to(bytes);
    from.clear();
    const double copy = best_gpu_seconds(kRounds, [&] {
        SPRINGTIME_CUDA(
            cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, nullptr));
    });
    ceilings.copy_bytes_per_second = 2 * double(bytes) / copy;

    const double multiplied = best_gpu_seconds(
        kRounds, [&] { multiply_add<<<blocks, kThreads>>>(0.999f, 0.001f, never.data()); });
    ceilings.flops_per_second = threads * kChains * kLoops * 2 / multiplied;

    const double read =
        best_gpu_seconds(kRounds, [&] { read_shared<<<blocks, kThreads>>>(never.data()); });
    ceilings.shared_bytes_per_second = threads * 4 * kLoops * sizeof(float4) / read;
    return ceilings;
}

}  // namespace springtime::bench
