#include <gtest/gtest.h>

#include "backends/cuda/cuda.h"
#include "backends/cuda/device_array.h"
#include "springtime/error.h"

namespace springtime {
namespace {

TEST(CudaDevice, IsThereAndHasAName)
{
    EXPECT_TRUE(cuda_device_present());
    EXPECT_NO_THROW(check_cuda_device());
    EXPECT_EQ(cuda_device_name().substr(0, 5), "cuda/");
    EXPECT_GT(cuda_device_name().size(), 5u);
    EXPECT_GT(cuda::multiprocessor_count(), 0);
}

TEST(CudaDevice, ErrorsCarryTheCallAndItsPlace)
{
    try {
        cuda::check(cudaErrorInvalidValue, "cudaCall(1, 2)", "src/a/b.cu", 123);
        FAIL();
    } catch (const cuda::OutOfMemory&) {
        FAIL();
    } catch (const Failure& failure) {
        const std::string said = failure.what();
        EXPECT_NE(said.find("cudaCall(1, 2)"), std::string::npos) << said;
        EXPECT_NE(said.find("b.cu:123"), std::string::npos) << said;
        EXPECT_NE(said.find("cudaErrorInvalidValue"), std::string::npos) << said;
    }
}

TEST(CudaDevice, FullMemoryIsAnErrorOfItsOwn)
{
    const std::size_t free = cuda::free_memory();
    EXPECT_THROW(cuda::DeviceArray<char>(free + (std::size_t(1) << 30)), cuda::OutOfMemory);
    // It goes on afterwards.
    cuda::DeviceArray<int> few(std::vector<int>{3, 1, 4});
    EXPECT_EQ(few.fetched(), (std::vector<int>{3, 1, 4}));
}

}  // namespace
}  // namespace springtime
