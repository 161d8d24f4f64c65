# Sources of the CUDA backend, from src. The tests compile them for the CPU too.
set(springtime_cuda_sources
    backends/cuda/device.cu
    backends/cuda/lane_set.cu
)
