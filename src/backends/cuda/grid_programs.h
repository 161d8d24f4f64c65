#pragma once

#include <optional>

#include "backends/cuda/engine.h"
#include "backends/cuda/grid_view.h"

namespace springtime::cuda {

// The kernels for patches of one shape: they are compiled in files of their own.
struct GridPrograms {
    // With contact unless it is null.
    void (*advance)(const GridView& grid, bool full, const LaneView& lanes, int first, int count,
                    const Records& records, const ContactView* contact);
    void (*retreat)(const GridView& grid, bool full, const LaneView& lanes, int first, int count,
                    const float* tape, std::size_t lane_stride, const FrameAdjoints& frames,
                    const GridBackView& back);
};

// By rows and columns of the patch. Nothing for other shapes.
std::optional<GridPrograms> grid_programs(int rows, int cols);

GridPrograms grid_programs_4x1();
GridPrograms grid_programs_2x2();
GridPrograms grid_programs_1x4();

}  // namespace springtime::cuda
