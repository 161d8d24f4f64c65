#pragma once

#include <array>
#include <vector>

#include "springtime/vec3.h"

namespace springtime {

// Delaunay triangles of points of the sheet. Of several at one place the first counts. Triangles at
// the rim that are next to flat (an angle above 170 degrees faces the rim) are left out, one layer
// after the other, as long as that frees no point: they join what is not joined in the cloth.
std::vector<std::array<int, 3>> delaunay_triangles(const std::vector<SheetPoint>& points);

}  // namespace springtime
