#pragma once

#include <string_view>

#include "springtime/mesh.h"
#include "springtime/obstacle.h"

// What can be made of a surface in space: a solid, or a sheet when it is flat.
namespace springtime {

// Points at the same place become one, points without a triangle go. The others keep their order.
TriangleMesh welded(const TriangleMesh& mesh);

// Throws Error naming `source` unless the mesh, once welded, bounds a solid: every edge has two
// triangles, which agree on what is outside, no triangle is without area, and the volume is
// positive.
void check_closed(const TriangleMesh& mesh, std::string_view source);

// Volume inside a closed mesh [m^3]; negative when it is inside out.
double volume_of(const TriangleMesh& closed);

// The signed distance to a closed mesh, `spacing` between points, `band` [m] around its bounding
// box: the true one within five spacings of the surface, and to a tenth of a spacing elsewhere.
// Cavities count as inside; what is thinner than `spacing` may be lost.
DistanceGrid make_distance_grid(const TriangleMesh& closed, double spacing, double band);

// The part of an endless plane that a picture shows: a square of `side` around the point of the
// plane that is nearest to `middle`.
struct PlaneCut {
    Vec3d middle;
    double side = 10;  // [m]
};

// The surface of an obstacle at a time, for pictures: shapes are sampled at about a hundred points
// along the longest side, and smoothed by that.
TriangleMesh obstacle_surface(const Obstacle& obstacle, double time, const PlaneCut& cut = {});

// A flat mesh as a sheet, moved so that the smallest u and v are zero. A level mesh keeps its
// x as u and its z as v; one that stands in the xy plane keeps x as u, with -y as v, so that north
// is up. In any other plane, u runs along the longer side of the smallest rectangle around the
// mesh, in the direction that leads more towards +x, and v so that triangles turn as those of
// make_grid_mesh() do when one looks at their front. Throws Error naming `source` when the mesh is
// not flat, or no sound sheet (check_mesh).
SheetMesh sheet_mesh(const TriangleMesh& mesh, std::string_view source);

// The rectangle around a mesh that begins at zero.
Sheet sheet_around(const SheetMesh& mesh, double mass);

}  // namespace springtime
