#pragma once

#include "backends/cuda/kernels.h"
#include "backends/cuda/list_layout.h"

namespace springtime::cuda {

// With blocks of other sizes than those that suit the device.
std::unique_ptr<Kernels> make_list_kernels(const Cloth& cloth, const Environment& environment,
                                           const ListLimits& limits);

}  // namespace springtime::cuda
