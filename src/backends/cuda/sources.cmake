# Sources of the CUDA backend, from src. The tests compile them for the CPU too.
set(springtime_cuda_sources
    backends/cuda/contacts.cpp
    backends/cuda/device.cu
    backends/cuda/grid_1x4.cu
    backends/cuda/grid_2x2.cu
    backends/cuda/grid_4x1.cu
    backends/cuda/grid_kernels.cu
    backends/cuda/grid_layout.cpp
    backends/cuda/lane_set.cu
    backends/cuda/list_accelerations.cu
    backends/cuda/list_advance.cu
    backends/cuda/list_cut.cpp
    backends/cuda/list_kernels.cu
    backends/cuda/list_layout.cpp
    backends/cuda/list_numbers.cpp
    backends/cuda/list_retreat.cu
)
