#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "springtime/sheet.h"
#include "springtime/vec3.h"

namespace springtime {

// Two points whose distance is known, one after the other.
using Link = std::array<int, 2>;

// Every point with its nearest ones in space, `count` each.
std::vector<Link> nearest_links(const std::vector<Vec3d>& points, int count);
std::vector<Link> triangle_links(const std::vector<std::array<int, 3>>& triangles);

// A surface laid out in the plane, its smallest rectangle upright at the origin.
struct Layout {
    std::vector<SheetPoint> points;
    double length = 0, width = 0;  // of the rectangle, the longer side first [m]
    double strain =
        0;  // root mean square of (l - L)/L over the links: zero for what can be unrolled
};

// Lays a sheet that is bent, but hardly stretched or crumpled, into the plane, so that linked
// points keep their distance: distances along the sheet (shortest ways over links) give a first
// layout by classical scaling, on as many of the points as are needed; then the squared strains of
// the links are made least. What is flat keeps its shape to rounding; level, it keeps x as u and z
// as v; upright in the xy plane, x as u and -y as v. Elsewhere u leads rather towards +x and
// v rather down. Throws Error naming `source` when the links fall apart or points coincide.
Layout flatten(const std::vector<Vec3d>& points, const std::vector<Link>& links,
               std::string_view source);

}  // namespace springtime
