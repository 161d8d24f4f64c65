#pragma once

#include <array>
#include <vector>

#include "springtime/cloth.h"

namespace springtime {

// Pairs of neighbours on a mesh: triangles that share an edge, hinges that share a triangle.
// Springs, bends and couplings have none here.
std::vector<std::array<std::size_t, 2>> neighbouring_elements(const Cloth& cloth, Element element);

}  // namespace springtime
