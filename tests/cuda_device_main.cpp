// Runs the tests of the CUDA backend on a device, or says that there is none.
#include <gtest/gtest.h>

#include <cstdio>

#include "backends/cuda/cuda.h"

int main(int argc, char** argv)
{
    // First of all: the cases of some tests are made for the device that is there.
    if (!springtime::cuda_device_present()) {
        std::printf("The tests of the CUDA backend did not run: this machine has no device\n");
        return 77;  // scripts/test-gpu knows it
    }
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
