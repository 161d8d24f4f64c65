// A device that this build does not have is refused wherever it is asked for.
#include <gtest/gtest.h>

#include "cloths.h"
#include "learn/gradient.h"
#include "sim/stepper.h"
#include "sim/tape.h"
#include "springtime/error.h"
#include "springtime/generate.h"
#include "springtime/simulation.h"

namespace springtime {

namespace {

template <class Act>
std::string refused_field(Act act)
{
    try {
        act();
    } catch (const Error& error) {
        return error.field();
    }
    return "(not refused)";
}

TEST(Device, CudaIsRefusedByEveryFactory)
{
    const Cloth cloth = uneven_grid({3, 4});
    const SimulationOptions cuda{.device = Device::cuda};
    EXPECT_EQ(refused_field([&] { make_single_stepper(cloth, cuda); }), "device");
    EXPECT_EQ(refused_field([&] { make_batch_stepper(cloth, cuda); }), "device");
    EXPECT_EQ(refused_field([&] { make_fast_tape(cloth, cuda); }), "device");
    EXPECT_EQ(refused_field([&] { make_reference_tape(cloth, cuda); }), "device");
}

TEST(Device, CudaIsRefusedBySimulationGenerateAndGradients)
{
    const Cloth cloth = uneven_grid({8, 8});
    const SimulationOptions cuda{.device = Device::cuda};
    EXPECT_EQ(refused_field([&] { Simulation(cloth, cuda); }), "device");
    GenerateOptions options;
    options.rollouts = 1;
    options.device = Device::cuda;
    EXPECT_EQ(refused_field([&] { generate(cloth, options, 0, {}, {}); }), "device");
    EXPECT_EQ(refused_field([&] { BatchGradient(cloth, cuda, 1, 1); }), "device");
}

TEST(Device, NamesAreThoseOfTheCommandLine)
{
    EXPECT_EQ(device_named("auto"), Device::automatic);
    EXPECT_EQ(device_named("reference"), Device::reference);
    EXPECT_EQ(device_named("cpu"), Device::cpu);
    EXPECT_EQ(refused_field([] { device_named("cuda"); }), "device");
    EXPECT_EQ(refused_field([] { device_named("gpu"); }), "device");
}

}  // namespace

}  // namespace springtime
