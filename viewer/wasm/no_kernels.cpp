// Kernels of packs that a machine has no vectors for are slower than the plain loops of the reference
// backend. This set takes their place where the browser has no vector instructions.
#include "backends/simd/kernels.h"

namespace springtime::baseline {

KernelSet kernel_set()
{
    return {};
}

}  // namespace springtime::baseline
