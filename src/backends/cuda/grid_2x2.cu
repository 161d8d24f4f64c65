#include "backends/cuda/grid_launch.h"

namespace springtime::cuda {

GridPrograms grid_programs_2x2()
{
    return programs_of_shape<PatchShape<2, 2, 8>, false>();
}

}  // namespace springtime::cuda
