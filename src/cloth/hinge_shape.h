#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "geometry/polygon.h"
#include "springtime/cloth.h"

namespace springtime {

// What the shape of a hinge in the flat sheet makes of the bending B of the material: its stiffness
// is K = B times 3 |e|^2 / (A1 + A2), with the edge e and the areas of the triangles beside it.
inline double hinge_shape(const std::vector<SheetPoint>& points, const std::array<int, 4>& corners)
{
    const SheetPoint a = points[corners[0]], b = points[corners[1]];
    const double u = b.u - a.u, v = b.v - a.v;
    double area = 0;
    for (const int across : {corners[2], corners[3]}) {
        area += 0.5 * std::abs(turn(a, b, points[across]));
    }
    return 3 * (u * u + v * v) / area;
}

}  // namespace springtime
