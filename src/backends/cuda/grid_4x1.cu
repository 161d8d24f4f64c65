#include "backends/cuda/grid_launch.h"

namespace springtime::cuda {

GridPrograms grid_programs_4x1()
{
    return programs_of_shape<PatchShape<4, 1, 8>, true>();
}

}  // namespace springtime::cuda
