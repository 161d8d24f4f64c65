#pragma once

#include <array>
#include <optional>
#include <vector>

#include "backends/cuda/grid_view.h"
#include "springtime/cloth.h"

namespace springtime::cuda {

// How many particles a thread holds, and how bands share out among blocks.
struct GridCut {
    int rows, cols;  // of the patch of a thread
    int bands;       // of a block
    int blocks;      // of a cluster

    int threads() const { return bands * kWarp; }
};
// Nothing for grids that are too large for a cluster, or too narrow to be worth it.
std::optional<GridCut> cut_grid(const Grid& grid);

// A cloth whose elements are springs and bends between near neighbours of a grid.
struct GridLayout {
    Grid grid;
    bool full;  // needs FullGridLaw
    bool compression, isotropic;
    std::array<float, kGridSprings> rest_length;
    // [spring or bend][particle]: its index in the cloth, or -1 where there is none.
    std::vector<int> element;

    int particles() const { return grid.rows * grid.cols; }
    const int* elements(int kind) const { return element.data() + kind * particles(); }
};

// Nothing if the cloth is not like that.
std::optional<GridLayout> grid_layout(const Cloth& cloth);

// The first number of every slot in the gradient, -1 where nothing is learned. Without a stiffness
// of its own in compression, that is the one stiffness.
std::array<int, kGridSlots> first_numbers(const Cloth& cloth, const GridLayout& layout,
                                          bool masses);

// Parameters as kernels read them: [block][pack][particle of the patch][thread][4].
std::vector<float> packed_parameters(const Cloth& cloth, const GridLayout& layout,
                                     const GridCut& cut, const ParameterValues& values);

}  // namespace springtime::cuda
