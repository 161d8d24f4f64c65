#include <string>

#include "backends/cuda/cuda.h"
#include "backends/cuda/device_array.h"
#include "springtime/error.h"

namespace springtime {

namespace cuda {

namespace {

// A device can run the kernels if it can run this one.
__global__ void probe() {}

// Nothing where they can run; else what is missing.
std::string what_is_missing()
{
    int count = 0;
    const cudaError_t counted = cudaGetDeviceCount(&count);
    cudaGetLastError();  // an error here is an answer, no failure of the next call
    if (counted != cudaSuccess || count == 0) {
        return "built with CUDA, but this machine has no device (" +
               std::string(cudaGetErrorString(counted)) + ")";
    }
    cudaFuncAttributes attributes;
    const cudaError_t known = cudaFuncGetAttributes(&attributes, probe);
    cudaGetLastError();
    if (known == cudaSuccess) return "";
    return "built with CUDA, but not for the device of this machine (" +
           std::string(cudaGetErrorString(known)) + "); build with CMAKE_CUDA_ARCHITECTURES=native";
}

}  // namespace

void check(cudaError_t result, const char* call, const char* file, int line)
{
    if (result == cudaSuccess) return;
    const std::string name = file;
    const std::string at = name.substr(name.find_last_of('/') + 1);
    if (result == cudaErrorMemoryAllocation) {
        cudaGetLastError();  // the device goes on
        throw OutOfMemory("{}:{}: {}: the memory of the device is full", at, line, call);
    }
    throw Failure("{}:{}: {}: {} ({})", at, line, call, cudaGetErrorString(result),
                  cudaGetErrorName(result));
}

std::size_t free_memory()
{
    std::size_t free = 0, total = 0;
    SPRINGTIME_CUDA(cudaMemGetInfo(&free, &total));
    return free;
}

int multiprocessor_count()
{
    int device = 0, count = 0;
    SPRINGTIME_CUDA(cudaGetDevice(&device));
    SPRINGTIME_CUDA(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
    return count;
}

}  // namespace cuda

bool cuda_device_present()
{
    // Drivers take a second to say that there is none.
    static const bool present = cuda::what_is_missing().empty();
    return present;
}

void check_cuda_device()
{
    if (cuda_device_present()) return;
    throw Error(Field{"device"}, "device 'cuda': {}; use cpu", cuda::what_is_missing());
}

std::string cuda_device_name()
{
    int device = 0;
    SPRINGTIME_CUDA(cudaGetDevice(&device));
    cudaDeviceProp properties;
    SPRINGTIME_CUDA(cudaGetDeviceProperties(&properties, device));
    return "cuda/" + std::string(properties.name);
}

bool cuda_can_run(const Cloth& cloth, const SimulationOptions& options)
{
    return !cloth.rod && options.self_distance == 0;
}

}  // namespace springtime
