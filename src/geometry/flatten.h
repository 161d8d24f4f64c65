#pragma once

#include <string_view>
#include <vector>

#include "geometry/neighbours.h"
#include "springtime/vec3.h"

namespace springtime {

// A surface laid out in the plane, its smallest rectangle upright at the origin.
struct Layout {
    std::vector<SheetPoint> points;
    double length = 0, width = 0;  // of the rectangle [m]
    double strain =
        0;  // root mean square of (l - L)/L over the links: zero for what can be unrolled
    // How clearly the order of the points says which way the sheet lies, of 1/2: near zero another
    // frame of the same points may come out turned over.
    double margin = 0;
};

// Lays a sheet that is bent, but hardly stretched or crumpled, into the plane, so that linked
// points keep their distance: distances along the sheet (shortest ways over links) give a first
// layout by classical scaling, on as many of the points as are needed; then the squared strains of
// the links are made least. What is flat keeps its shape to rounding.
// The length is the longer side. The first points lie north-west: with weights 1, 1/2, 1/4, ... in
// the order of the list, the mean place is above and left of the middle. Where sides are alike
// within a tenth, it also counts that this mean is closer to the middle along the length, as for
// a grid that is listed row by row. Nothing depends on where in space the sheet is or how it is
// turned. Throws Error naming `source` when the links fall apart or points coincide.
Layout flatten(const std::vector<Vec3d>& points, const std::vector<Link>& links,
               std::string_view source);

// The same for a mesh that was drawn as a rest shape: flat in its xz plane it keeps x as u and z as
// v, in its xy plane x as u and -y as v, whichever side is longer. All others as above.
Layout flatten_mesh(const std::vector<Vec3d>& points, const std::vector<Link>& links,
                    std::string_view source);

}  // namespace springtime
