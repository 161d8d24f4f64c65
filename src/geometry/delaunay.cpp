#include "geometry/delaunay.h"
#include "geometry/polygon.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace springtime {

namespace {

using Triangle = std::array<int, 3>;

// Points on a lattice, where nothing is rounded. 2^28 steps over the sheet lie far below the
// rounding of any measurement, and the largest product, that of the circle test, below 2^120.
class Lattice {
  public:
    explicit Lattice(const std::vector<SheetPoint>& points)
    {
        SheetPoint low = points.front(), high = low;
        for (const SheetPoint& p : points) {
            low = {std::min(low.u, p.u), std::min(low.v, p.v)};
            high = {std::max(high.u, p.u), std::max(high.v, p.v)};
        }
        const double steps = 0x1p28 / std::max({high.u - low.u, high.v - low.v, 1e-300});
        for (const SheetPoint& p : points) {
            points_.push_back(
                {std::llround((p.u - low.u) * steps), std::llround((p.v - low.v) * steps)});
        }
    }

    // One point for each place, by u, then v. Of several at a place it is the first.
    std::vector<int> ascending() const
    {
        std::vector<int> order(points_.size());
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(),
                         [&](int a, int b) { return points_[a] < points_[b]; });
        const auto same = [&](int a, int b) { return points_[a] == points_[b]; };
        order.erase(std::unique(order.begin(), order.end(), same), order.end());
        return order;
    }

    // Positive where a, b, c turn from u towards v, zero where they lie on a line.
    std::int64_t turn(int a, int b, int c) const
    {
        const auto [bu, bv] = from(a, b);
        const auto [cu, cv] = from(a, c);
        return bu * cv - cu * bv;
    }

    // Whether the edge from a to b should give way to one from c to d, its triangles being a, b, c
    // and b, a, d: whether d is inside the circle through a, b, c. Of four on a circle the first
    // point and its opposite share the edge. That is what happens when the points are moved inward,
    // each by far less than those before it, so it goes together for any number on a circle.
    bool should_flip(int a, int b, int c, int d) const
    {
        const Wide inside =
            lift(d, a) * turn(d, b, c) + lift(d, b) * turn(d, c, a) + lift(d, c) * turn(d, a, b);
        return inside != 0 ? inside > 0 : std::min(c, d) < std::min(a, b);
    }

  private:
    __extension__ using Wide = __int128;
    using Place = std::array<std::int64_t, 2>;

    Place from(int origin, int p) const
    {
        return {points_[p][0] - points_[origin][0], points_[p][1] - points_[origin][1]};
    }
    Wide lift(int origin, int p) const
    {
        const auto [u, v] = from(origin, p);
        return u * u + v * v;
    }

    std::vector<Place> points_;
};

// Triangulates points in ascending order: each one lies beyond all before it, and is joined to what
// it sees of the rim. Edges are flipped until no circle holds another corner (Lawson 1977).
class Triangulation {
  public:
    explicit Triangulation(const std::vector<SheetPoint>& points)
        : lattice_(points), after_(points.size()), before_(points.size())
    {
        const std::vector<int> order = lattice_.ascending();
        std::size_t next = 2;  // the first that does not lie on a line with those before it
        while (next < order.size() && lattice_.turn(order[0], order[1], order[next]) == 0) ++next;
        if (next >= order.size()) return;
        start({order.begin(), order.begin() + next}, order[next]);
        for (++next; next < order.size(); ++next) add(order[next - 1], order[next]);
    }

    // Each begins at its lowest corner and turns from v towards u, so that its front looks up.
    std::vector<Triangle> triangles() const
    {
        std::vector<Triangle> result;
        for (const auto& [edge, c] : third_) {
            const auto [a, b] = edge;
            if (a < b && a < c) result.push_back({a, c, b});
        }
        std::sort(result.begin(), result.end());
        return result;
    }

  private:
    using Edge = std::pair<int, int>;
    struct Hash {
        std::size_t operator()(const Edge& edge) const
        {
            return (std::uint64_t(edge.first) << 32 | std::uint32_t(edge.second)) *
                       0x9E3779B97F4A7C15ull >>
                   16;
        }
    };

    // A fan from a point to a line of others.
    void start(std::vector<int> line, int point)
    {
        if (lattice_.turn(line[0], line[1], point) < 0) std::reverse(line.begin(), line.end());
        for (std::size_t i = 0; i + 1 < line.size(); ++i) {
            link(line[i], line[i + 1]);
            insert(line[i], line[i + 1], point);
        }
        link(line.back(), point);
        link(point, line.front());
        for (const int end : line) mend({end, point});
    }

    // Joins a point to all that it sees of the rim, from the point before it to both sides.
    void add(int last, int point)
    {
        int from = last, to = last;
        while (lattice_.turn(before_[from], from, point) < 0) from = before_[from];
        while (lattice_.turn(to, after_[to], point) < 0) to = after_[to];
        std::vector<Edge> seen;
        for (int a = from; a != to; a = after_[a]) seen.push_back({a, after_[a]});
        for (const auto& [a, b] : seen) insert(b, a, point);
        link(from, point);
        link(point, to);
        for (const Edge& edge : seen) mend(edge);
    }

    // Along the rim, with the triangles on the left.
    void link(int a, int b)
    {
        after_[a] = b;
        before_[b] = a;
    }

    void insert(int a, int b, int c)
    {
        third_[{a, b}] = c;
        third_[{b, c}] = a;
        third_[{c, a}] = b;
    }

    // Flips an edge if need be, and those that this makes wrong.
    void mend(const Edge& first)
    {
        std::vector<Edge> wrong{first};
        while (!wrong.empty()) {
            const auto [a, b] = wrong.back();
            wrong.pop_back();
            const auto left = third_.find({a, b}), right = third_.find({b, a});
            if (left == third_.end() || right == third_.end()) continue;
            const int c = left->second, d = right->second;
            if (!lattice_.should_flip(a, b, c, d)) continue;
            third_.erase(left);
            third_.erase(right);
            insert(a, d, c);
            insert(d, b, c);
            wrong.insert(wrong.end(), {{a, d}, {d, b}, {b, c}, {c, a}});
        }
    }

    Lattice lattice_;
    std::vector<int> after_, before_;            // along the rim
    std::unordered_map<Edge, int, Hash> third_;  // corner, by the edge that it turns left of
};

double angle_at(const std::vector<SheetPoint>& points, int apex, int a, int b)
{
    const SheetPoint x = points[apex], p = points[a], q = points[b];
    const double dot = (p.u - x.u) * (q.u - x.u) + (p.v - x.v) * (q.v - x.v);
    return std::abs(std::atan2(turn(x, p, q), dot));
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
    std::vector<Triangle> triangles = Triangulation(points).triangles();
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
