#pragma once

#include <memory>
#include <vector>

#include "backends/simd/kernels.h"
#include "sim/stepper.h"
#include "sim/tape.h"

namespace springtime {

// Instruction sets that this build has and this machine can run, narrowest first.
std::vector<KernelSet> instruction_sets();
KernelSet best_instruction_set();

// One group of lanes.
std::unique_ptr<Stepper> make_simd_batch(const Cloth& cloth, const SimulationOptions& options,
                                         const KernelSet& kernels);
// One cloth: along the rows of a grid of springs, over the elements of a mesh, otherwise one lane
// of a group.
std::unique_ptr<Stepper> make_simd_single(const Cloth& cloth, const SimulationOptions& options,
                                          const KernelSet& kernels);

std::unique_ptr<Tape<float>> make_simd_tape(const Cloth& cloth, const SimulationOptions& options,
                                            const TapeOptions& tape, const KernelSet& kernels);

}  // namespace springtime
