# Tests of the CUDA backend, twice: on the CPU, where CI runs them, and for a device, where there is nvcc.
include(${PROJECT_SOURCE_DIR}/src/backends/cuda/sources.cmake)
list(TRANSFORM springtime_cuda_sources PREPEND ${PROJECT_SOURCE_DIR}/src/)

set(cuda_test_sources
    cuda_contact_test.cpp
    cuda_device_test.cpp
    cuda_follow_test.cpp
    cuda_grid_test.cpp
    cuda_lane_set_test.cpp
    cuda_list_test.cpp
    cuda_recorder_test.cpp
)

# What every backend must do: the cases of these run on the device, too.
set(cuda_parity_sources
    contact_test.cpp
    counted_new.cpp
    coupling_test.cpp
    fem_test.cpp
    game_loop_test.cpp
    spring_law_test.cpp
    stability_test.cpp
    stepper_test.cpp
)

# The sources of the backend compiled as C++ with tests/cuda_on_cpu in place of CUDA, and a registry that
# knows them.
set_source_files_properties(${springtime_cuda_sources} PROPERTIES LANGUAGE CXX)
add_library(cuda_on_cpu OBJECT cuda_on_cpu/cuda_on_cpu.cpp ${springtime_cuda_sources}
    ${PROJECT_SOURCE_DIR}/src/backends/registry.cpp)
target_include_directories(cuda_on_cpu PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/cuda_on_cpu
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(cuda_on_cpu PRIVATE SPRINGTIME_WITH_CUDA)
target_link_libraries(cuda_on_cpu PRIVATE springtime_warnings fmt::fmt)
springtime_optimise(cuda_on_cpu -O1)

add_executable(springtime_cuda_tests cuda_on_cpu/falling.cpp ${cuda_test_sources} ${cuda_parity_sources}
    $<TARGET_OBJECTS:cuda_on_cpu>)
target_include_directories(springtime_cuda_tests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/cuda_on_cpu
    ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(springtime_cuda_tests PRIVATE SPRINGTIME_TEST_CUDA)
target_link_libraries(springtime_cuda_tests PRIVATE springtime_learn springtime_warnings
    GTest::gtest_main Eigen3::Eigen)
springtime_optimise(springtime_cuda_tests -O1)
springtime_test(cuda_on_cpu COMMAND springtime_cuda_tests)
set_tests_properties(cuda_on_cpu PROPERTIES COST 40)

# scripts/test-gpu runs these.
if(springtime_with_cuda)
    add_executable(springtime_cuda_device_tests cuda_device_main.cpp cuda_falling.cu
        ${cuda_test_sources} ${cuda_parity_sources})
    # fmt 9 takes nvcc for a compiler without constexpr.
    target_compile_definitions(springtime_cuda_device_tests
        PRIVATE SPRINGTIME_TEST_CUDA $<$<COMPILE_LANGUAGE:CUDA>:FMT_USE_CONSTEXPR=1>)
    target_include_directories(springtime_cuda_device_tests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}
        ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(springtime_cuda_device_tests PRIVATE springtime_learn springtime_warnings
        CUDA::cudart_static GTest::gtest Eigen3::Eigen)
    springtime_optimise(springtime_cuda_device_tests $<$<COMPILE_LANGUAGE:CXX>:-O1>)
endif()
