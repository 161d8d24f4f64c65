#pragma once

#include "springtime/cloth.h"

namespace springtime {

// Couples the edges of every triangle of springs with a stiffness of zero: three springs that join
// three particles with no other particle between them. Springs against bending do not count. So a
// mesh network gets its triangles, and a grid with both diagonals the four of every cell. Throws
// Error where there is no triangle.
void add_couplings(Cloth& cloth);

}  // namespace springtime
