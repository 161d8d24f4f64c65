#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "springtime/vec3.h"

namespace springtime {

inline SheetPoint operator-(const SheetPoint& a, const SheetPoint& b)
{
    return {a.u - b.u, a.v - b.v};
}

inline double length(const SheetPoint& a)
{
    return std::hypot(a.u, a.v);
}

// Points closer than this are one. The search takes lengths in units of the extent of the points,
// so this is 20 nm on a sheet of 15.5 m: below the rounding of floats.
inline constexpr double kSamePlace = 1e-9;

using Corners = std::array<int, 3>;  // indices of points

// Weights of x in a triangle: they sum to one and the weighted corners give x.
std::array<double, 3> barycentric(const std::vector<SheetPoint>& points, const Corners& corner,
                                  const SheetPoint& x);

// Finds the triangle of points from which a field is best carried over to a place, for one place
// after the other.
class TriangleSearch {
  public:
    // Distinct points whose coordinates are of order one. They must outlive the search.
    explicit TriangleSearch(const std::vector<SheetPoint>& points);

    // False when all points lie on one line up to a millionth; then there is nothing to be found.
    bool spans_plane() const { return spans_plane_; }
    // The point at this place, or -1.
    int point_at(const SheetPoint& place);
    // The corners come in the order of their distance. Call point_at for the same place first.
    Corners corners_for(const SheetPoint& place);

  private:
    struct Vertex;
    struct Exchange {
        int leaving = -1;   // corner
        double weight = 0;  // of the point that enters
    };

    void find_start();
    Vertex vertex_of(const Corners& corner, double factor) const;
    Vertex solved(const Corners& start, double factor) const;
    bool improve(Vertex& vertex, std::size_t count, double factor) const;
    bool flat(const Corners& corner) const;
    Exchange exchange_for(const Vertex& vertex, const SheetPoint& x, double sign) const;

    const std::vector<SheetPoint>& point_;
    std::vector<double> distance2_;  // to the place
    std::vector<int> order_;         // the nearest first, the others as they come
    std::size_t near_count_ = 0;
    SheetPoint place_;   // nudged
    Corners start_{};    // a large triangle
    SheetPoint middle_;  // of that triangle
    bool spans_plane_ = false;
};

}  // namespace springtime
