#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "draw/canvas.h"

namespace springtime {

// Twice the signed area of a triangle.
inline double double_area(const Point& a, const Point& b, const Point& c)
{
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

// First and last sample whose centres can lie between two coordinates.
struct SampleExtent {
    int first, last;
};

inline SampleExtent sample_extent(double a, double b, double c, int count)
{
    const double first = std::clamp(std::floor(std::min({a, b, c}) - 0.5), 0.0, count - 1.0);
    const double last = std::clamp(std::ceil(std::max({a, b, c}) + 0.5), 0.0, count - 1.0);
    return {static_cast<int>(first), static_cast<int>(last)};
}

// Calls f(x, y, weights) for each sample centre inside the triangle. Both sides of an edge claim a
// centre that lies on it; drawing it twice does no harm, leaving it out would show as a hole.
template <class F>
void for_each_sample(const Point& a, const Point& b, const Point& c, int cols, int rows, F f)
{
    const double whole = double_area(a, b, c);
    if (whole == 0) return;
    const SampleExtent across = sample_extent(a.x, b.x, c.x, cols),
                       down = sample_extent(a.y, b.y, c.y, rows);
    for (int y = down.first; y <= down.last; ++y) {
        for (int x = across.first; x <= across.last; ++x) {
            const Point p{x + 0.5, y + 0.5};
            const double wa = double_area(p, b, c) / whole, wb = double_area(a, p, c) / whole;
            const double wc = double_area(a, b, p) / whole;
            if (wa >= 0 && wb >= 0 && wc >= 0) f(x, y, std::array{wa, wb, wc});
        }
    }
}

}  // namespace springtime
