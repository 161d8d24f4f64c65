#include "geometry/rectangle.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace springtime {

namespace {

double turn(SheetPoint a, SheetPoint b, SheetPoint c)
{
    return (b.u - a.u) * (c.v - a.v) - (b.v - a.v) * (c.u - a.u);
}

// Corners of the convex hull in order (Andrew's monotone chain).
std::vector<SheetPoint> hull_of(std::vector<SheetPoint> points)
{
    const auto by_place = [](SheetPoint a, SheetPoint b) {
        return std::pair(a.u, a.v) < std::pair(b.u, b.v);
    };
    std::sort(points.begin(), points.end(), by_place);
    std::vector<SheetPoint> hull;
    const auto go = [&](auto first, auto last) {
        const std::size_t start = hull.size();
        for (; first != last; ++first) {
            while (hull.size() >= start + 2 &&
                   turn(hull[hull.size() - 2], hull.back(), *first) <= 0) {
                hull.pop_back();
            }
            hull.push_back(*first);
        }
        hull.pop_back();  // the other way begins with it
    };
    go(points.begin(), points.end());
    go(points.rbegin(), points.rend());
    return hull;
}

// Of the points, along a direction of the plane.
double extent(const std::vector<SheetPoint>& points, SheetPoint direction)
{
    const auto place = [&](SheetPoint p) { return p.u * direction.u + p.v * direction.v; };
    const auto [low, high] =
        std::minmax_element(points.begin(), points.end(),
                            [&](SheetPoint p, SheetPoint q) { return place(p) < place(q); });
    return place(*high) - place(*low);
}

}  // namespace

// It shares a side with the convex hull.
Rectangle smallest_rectangle(std::vector<SheetPoint> points)
{
    const std::vector<SheetPoint> hull = hull_of(std::move(points));
    Rectangle best;
    for (std::size_t i = 0; i < hull.size(); ++i) {
        const SheetPoint from = hull[i], to = hull[(i + 1) % hull.size()];
        const double size = std::hypot(to.u - from.u, to.v - from.v);
        const SheetPoint side{(to.u - from.u) / size, (to.v - from.v) / size};
        const Rectangle found{side, extent(hull, side), extent(hull, {-side.v, side.u})};
        if (i == 0 || found.length * found.across < best.length * best.across) best = found;
    }
    return best;
}

}  // namespace springtime
