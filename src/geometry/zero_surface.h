#pragma once

#include "springtime/geometry.h"

namespace springtime {

// Where the distance is zero, as triangles that face outward. The outermost points of the grid must
// lie outside. The surface is closed; sheets less than two spacings apart may share an edge.
TriangleMesh zero_surface(const DistanceGrid& grid);

}  // namespace springtime
