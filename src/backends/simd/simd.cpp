#include "backends/simd/simd.h"

#include "backends/simd/grid_stepper.h"
#include "backends/simd/lane_stepper.h"
#include "backends/simd/mesh_stepper.h"

namespace springtime {

std::vector<KernelSet> instruction_sets()
{
    std::vector<KernelSet> sets{baseline::kernel_set()};
#if defined(SPRINGTIME_X86)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        sets.push_back(avx2::kernel_set());
    }
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")) {
        sets.push_back(avx512::kernel_set());
    }
#endif
    return sets;
}

KernelSet best_instruction_set()
{
    return instruction_sets().back();
}

std::unique_ptr<Stepper> make_simd_batch(const Cloth& cloth, const SimulationOptions& options,
                                         const KernelSet& kernels)
{
    return std::make_unique<LaneStepper>(cloth, options, kernels, kernels.width);
}

std::unique_ptr<Stepper> make_simd_single(const Cloth& cloth, const SimulationOptions& options,
                                          const KernelSet& kernels)
{
    if (GridStepper::fits(cloth)) return std::make_unique<GridStepper>(cloth, options, kernels);
    if (MeshStepper::fits(cloth)) {
        return std::make_unique<MeshStepper>(cloth, options, kernels);
    }
    return std::make_unique<LaneStepper>(cloth, options, kernels, 1);
}

}  // namespace springtime
