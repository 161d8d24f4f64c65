#include "backends/cuda/grid_launch.h"

namespace springtime::cuda {

GridPrograms grid_programs_1x4()
{
    return programs_of_shape<PatchShape<1, 4, 8>, false>();
}

}  // namespace springtime::cuda
