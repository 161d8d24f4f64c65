#pragma once

#include "springtime/geometry.h"

namespace springtime {

// Where the distance is zero, as triangles that face outward. The outermost points of the grid must
// lie outside.
TriangleMesh zero_surface(const DistanceGrid& grid);

}  // namespace springtime
