#include <algorithm>
#include <boost/polygon/voronoi.hpp>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>

#include "geometry/delaunay.h"

namespace springtime {

namespace {

using Triangle = std::array<int, 3>;
using Lattice = boost::polygon::point_data<std::int32_t>;

// Boost's Voronoi diagram is exact, on integers. 2^28 steps over the sheet lie far below the
// rounding of any measurement.
std::vector<Lattice> on_lattice(const std::vector<SheetPoint>& points)
{
    SheetPoint low = points.front(), high = low;
    for (const SheetPoint& p : points) {
        low = {std::min(low.u, p.u), std::min(low.v, p.v)};
        high = {std::max(high.u, p.u), std::max(high.v, p.v)};
    }
    const double extent = std::max({high.u - low.u, high.v - low.v, 1e-300});
    const double steps = 0x1p28 / extent;
    std::vector<Lattice> lattice;
    for (const SheetPoint& p : points) {
        lattice.emplace_back(static_cast<std::int32_t>(std::lround((p.u - low.u) * steps)),
                             static_cast<std::int32_t>(std::lround((p.v - low.v) * steps)));
    }
    return lattice;
}

// Positive when the corners turn from u towards v. [m^2]
double double_area(const std::vector<SheetPoint>& points, const Triangle& t)
{
    const SheetPoint a = points[t[0]], b = points[t[1]], c = points[t[2]];
    return (b.u - a.u) * (c.v - a.v) - (c.u - a.u) * (b.v - a.v);
}

// One triangle for each corner of the diagram, a fan where more than three cells meet.
std::vector<Triangle> dual_triangles(const std::vector<SheetPoint>& points)
{
    const std::vector<Lattice> lattice = on_lattice(points);
    boost::polygon::voronoi_diagram<double> diagram;
    boost::polygon::construct_voronoi(lattice.begin(), lattice.end(), &diagram);
    std::vector<Triangle> triangles;
    for (const auto& vertex : diagram.vertices()) {
        std::vector<int> cells;
        const auto* edge = vertex.incident_edge();
        do {
            cells.push_back(static_cast<int>(edge->cell()->source_index()));
            edge = edge->rot_next();
        } while (edge != vertex.incident_edge());
        for (std::size_t i = 1; i + 1 < cells.size(); ++i) {
            Triangle t{cells[0], cells[i], cells[i + 1]};
            const double area = double_area(points, t);
            if (area == 0) continue;
            if (area > 0) std::swap(t[1], t[2]);  // fronts up: from v towards u
            triangles.push_back(t);
        }
    }
    // The order of the diagram is a matter of its sweep; this one can be relied on.
    for (Triangle& t : triangles)
        std::rotate(t.begin(), std::min_element(t.begin(), t.end()), t.end());
    std::sort(triangles.begin(), triangles.end());
    return triangles;
}

double angle_at(const std::vector<SheetPoint>& points, int apex, int a, int b)
{
    const SheetPoint x = points[apex], p = points[a], q = points[b];
    const double cross = (p.u - x.u) * (q.v - x.v) - (q.u - x.u) * (p.v - x.v);
    const double dot = (p.u - x.u) * (q.u - x.u) + (p.v - x.v) * (q.v - x.v);
    return std::abs(std::atan2(cross, dot));
}

using Edge = std::pair<int, int>;

Edge edge_of(const Triangle& t, int corner)
{
    return std::minmax(t[corner], t[(corner + 1) % 3]);
}

std::map<Edge, int> edge_uses(const std::vector<Triangle>& triangles)
{
    std::map<Edge, int> uses;
    for (const Triangle& t : triangles) {
        for (int i = 0; i < 3; ++i) ++uses[edge_of(t, i)];
    }
    return uses;
}

// A sliver has one edge on the rim, faced by an angle of nearly 180 degrees.
bool is_sliver(const std::vector<SheetPoint>& points, const Triangle& t,
               const std::map<Edge, int>& uses)
{
    constexpr double kFlat = 170 * std::numbers::pi / 180;
    int on_rim = 0, rim_corner = 0;
    for (int i = 0; i < 3; ++i) {
        if (uses.at(edge_of(t, i)) > 1) continue;
        ++on_rim;
        rim_corner = i;
    }
    if (on_rim != 1) return false;
    return angle_at(points, t[(rim_corner + 2) % 3], t[rim_corner], t[(rim_corner + 1) % 3]) >
           kFlat;
}

}  // namespace

std::vector<Triangle> delaunay_triangles(const std::vector<SheetPoint>& points)
{
    if (points.size() < 3) return {};
    std::vector<Triangle> triangles = dual_triangles(points);
    for (bool again = true; again;) {
        std::map<Edge, int> uses = edge_uses(triangles);
        const std::size_t before = triangles.size();
        std::erase_if(triangles, [&](const Triangle& t) {
            if (!is_sliver(points, t, uses)) return false;
            for (int i = 0; i < 3; ++i) --uses.at(edge_of(t, i));
            return true;
        });
        again = triangles.size() < before;
    }
    return triangles;
}

}  // namespace springtime
