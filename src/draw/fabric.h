#pragma once

#include <cstddef>
#include <vector>

#include "springtime/report.h"

namespace springtime {

// A number of a fabric, element by element: parallel arrays.
struct FabricSamples {
    std::vector<double> value;
    std::vector<double> error;  // empty where nothing is known about errors
    std::vector<double> weight;
    std::vector<int> unknown;  // elements of one region have the same
};

// All numbers of a fabric. Those of triangles have one entry per triangle, those of hinges one per
// hinge.
struct FabricElements {
    FabricSamples young_warp, young_weft, poisson_warp, poisson_weft, shear, damping;
    FabricSamples bending_warp, bending_weft, bending_time;
    int triangle_regions = 0, hinge_regions = 0;  // how many different unknowns there are
};
FabricElements fabric_elements(const Cloth& cloth);

}  // namespace springtime
