// Runs the tests of the CUDA backend on a device, or says that there is none.
#include <gtest/gtest.h>

#include <cstdio>

#include "backends/cuda/cuda.h"

int main(int argc, char** argv)
{
    testing::InitGoogleTest(&argc, argv);
    if (!springtime::cuda_device_present()) {
        std::printf("The tests of the CUDA backend did not run: this machine has no device\n");
        return 77;  // scripts/test-gpu knows it
    }
    return RUN_ALL_TESTS();
}
