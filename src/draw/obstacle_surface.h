#pragma once

#include "springtime/geometry.h"
#include "springtime/report.h"

namespace springtime {

// The surface of all shapes but the planes, in the obstacle's own frame; empty when there are none.
TriangleMesh solid_surface(const Obstacle& obstacle);

// The same at a time, in the world.
TriangleMesh posed(TriangleMesh own, const Obstacle& obstacle, double time);

// The planes of the obstacle at a time.
TriangleMesh plane_surfaces(const Obstacle& obstacle, double time, const PlaneCut& cut);

}  // namespace springtime
