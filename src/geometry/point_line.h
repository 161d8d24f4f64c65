#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "geometry/triangle_search.h"

namespace springtime {

// The line through the two points of a set that are farthest apart. It leads away from the end that
// is nearer to the first point.
struct PointLine {
    SheetPoint origin, direction;  // [m], unit vector
    double extent = 0;             // [m]

    double along(const SheetPoint& x) const
    {
        return (x.u - origin.u) * direction.u + (x.v - origin.v) * direction.v;
    }
    bool holds(const SheetPoint& x) const
    {
        constexpr double kStraight = 1e-6;  // of the extent, as TriangleSearch has it
        return std::abs((x.u - origin.u) * direction.v - (x.v - origin.v) * direction.u) <=
               kStraight * extent;
    }
};

// Nothing unless all points lie on one line, at two places at least.
inline std::optional<PointLine> line_of(const std::vector<SheetPoint>& points)
{
    if (points.empty()) return std::nullopt;
    const auto farthest_from = [&](const SheetPoint& x) {
        return *std::max_element(points.begin(), points.end(),
                                 [&](const SheetPoint& a, const SheetPoint& b) {
                                     return length(a - x) < length(b - x);
                                 });
    };
    const SheetPoint end = farthest_from(points[0]), begin = farthest_from(end);
    const SheetPoint between = end - begin;
    const double extent = length(between);
    if (!(extent > 0)) return std::nullopt;
    const PointLine line{begin, {between.u / extent, between.v / extent}, extent};
    const bool straight = std::all_of(points.begin(), points.end(),
                                      [&](const SheetPoint& x) { return line.holds(x); });
    return straight ? std::optional(line) : std::nullopt;
}

// Points in their order along a line.
inline std::vector<int> order_along(const PointLine& line, const std::vector<SheetPoint>& points)
{
    std::vector<int> order(points.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return line.along(points[std::size_t(a)]) < line.along(points[std::size_t(b)]);
    });
    return order;
}

}  // namespace springtime
