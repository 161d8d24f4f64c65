# Tests of the neural baselines, where they are built.
add_executable(springtime_baselines_tests baselines_test.cpp)
target_link_libraries(springtime_baselines_tests PRIVATE springtime_baselines springtime_warnings
    GTest::gtest_main)
target_compile_options(springtime_baselines_tests PRIVATE -O0)
# One thread: what is computed here is small, and other tests run beside it.
springtime_test(baselines COMMAND springtime_baselines_tests)
springtime_test(baselines_reproduce COMMAND ${SYSTEM_PYTHON}
    ${CMAKE_CURRENT_SOURCE_DIR}/baselines_test.py $<TARGET_FILE:springtime_app>)
set_tests_properties(baselines baselines_reproduce PROPERTIES COST 60 ENVIRONMENT "OMP_NUM_THREADS=1")
