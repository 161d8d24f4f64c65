# springtime_torch: LibTorch as Debian's libtorch-dev has it, or inside an installation of PyTorch,
# which SPRINGTIME_TORCH then names. CMake files of PyTorch ask for a CUDA toolkit of the same version
# as the one that it was built with; here the headers of any are enough.
set(SPRINGTIME_TORCH "" CACHE PATH "Folder of PyTorch that has include/ and lib/; empty: Debian's")
find_path(torch_include ATen/ATen.h HINTS ${SPRINGTIME_TORCH}/include NO_CACHE)
find_path(torch_api_include torch/types.h NO_CACHE
    HINTS ${SPRINGTIME_TORCH}/include/torch/csrc/api/include ${torch_include}/torch/csrc/api/include)
set(torch_libraries)
foreach(name IN ITEMS torch torch_cpu c10)
    find_library(torch_${name} ${name} HINTS ${SPRINGTIME_TORCH}/lib NO_CACHE)
    if(NOT torch_${name})
        message(FATAL_ERROR "The baselines need LibTorch: install libtorch-dev, or name the folder of PyTorch "
            "with -DSPRINGTIME_TORCH=FOLDER, or leave them out with -DSPRINGTIME_BASELINES=OFF")
    endif()
    list(APPEND torch_libraries ${torch_${name}})
endforeach()

add_library(springtime_torch INTERFACE)
target_include_directories(springtime_torch SYSTEM INTERFACE ${torch_include} ${torch_api_include})

# Steps are recorded on the GPU where LibTorch has CUDA.
find_library(torch_torch_cuda torch_cuda HINTS ${SPRINGTIME_TORCH}/lib NO_CACHE)
find_path(cuda_include cuda_runtime_api.h NO_CACHE
    HINTS /usr/local/cuda/include $ENV{CUDA_HOME}/include ${SPRINGTIME_TORCH}/../nvidia/cuda_runtime/include
        ${SPRINGTIME_TORCH}/../nvidia/cu13/include)
if(torch_torch_cuda AND cuda_include)
    find_library(torch_c10_cuda c10_cuda HINTS ${SPRINGTIME_TORCH}/lib REQUIRED NO_CACHE)
    target_include_directories(springtime_torch SYSTEM INTERFACE ${cuda_include})
    target_compile_definitions(springtime_torch INTERFACE SPRINGTIME_TORCH_CUDA)
    # What LibTorch itself needs of CUDA is found when the program starts. Nothing here names a symbol
    # of torch_cuda, but its kernels must be there.
    list(APPEND torch_libraries -Wl,--no-as-needed ${torch_torch_cuda} ${torch_c10_cuda} -Wl,--as-needed
        -Wl,--unresolved-symbols=ignore-all)
endif()
target_link_libraries(springtime_torch INTERFACE ${torch_libraries})
message(STATUS "LibTorch: ${torch_torch}, CUDA: ${torch_torch_cuda}")
