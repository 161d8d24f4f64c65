#include "geometry/triangle_search.h"

#include <algorithm>
#include <numeric>

// Which three points? For a field whose second derivatives are at most M, weights w that reproduce
// affine fields miss the value at a place by at most
//     M/2 sum |w_i| d_i^2,  d_i the distance of point i,
// and we take the triangle where this sum is least. It is near, because d counts, and well shaped,
// because thin triangles have large weights. Among the triangles around the place it is the one of
// the Delaunay triangulation (the sum is then the height over the place of the lower hull of the
// points lifted to a paraboloid), so no mesh has to be built to find it.
//
// Inside the hull of the points negative weights are made so dear that they do not occur, but for
// one case: where the edge of the sheet is straight up to noise, the triangle around a place can be
// a sliver from corner to corner. There a trace of extrapolation is the better choice. Outside the
// hull, and in slivers, the bound itself decides.
//
// The sum is linear in the positive and negative parts of w, so this is a linear program with three
// constraints (affine fields in the plane), and the simplex method walks to its solution. Every
// triangle is a valid start, since any weights can be split into parts.

namespace springtime {

namespace {

constexpr double kDear = 1e6;        // price of negative weights inside the hull
constexpr double kNoise = 1e-6;      // of coordinates that were floats or were measured
constexpr double kRounding = 1e-11;  // of sums of a few products, with room for thin triangles
// The two ways to cut a cell of a grid are equally good. Distances are taken a trifle shorter along
// one of the diagonals, so that all cells are cut alike and not as rounding has it.
constexpr double kSlant = 1e-7;
// Places on the line of two points and on the edge of the hull are common, and there the simplex
// method could stand still or go round in circles. So we search for a place a little farther in, by
// this part of the way to the middle, and beside, in a direction in which no grid has a line. That
// is well above rounding, and it moves a weight by less than 1e-9 unless points are packed 100
// times closer than the sheet is wide; even then not on the lines themselves.
constexpr double kInward = 1e-11;
constexpr SheetPoint kBeside{0.755e-12, 0.570e-12};
// The search goes through the nearest points first, then makes sure that no other is better.
constexpr std::size_t kNearCount = 32;

double dot(const SheetPoint& a, const SheetPoint& b)
{
    return a.u * b.u + a.v * b.v;
}

double cross(const SheetPoint& a, const SheetPoint& b)
{
    return a.u * b.v - a.v * b.u;
}

// d^2 of the sum above.
double price(const SheetPoint& to)
{
    return dot(to, to) + kSlant * to.u * to.v;
}

}  // namespace

std::array<double, 3> barycentric(const std::vector<SheetPoint>& points, const Corners& corner,
                                  const SheetPoint& x)
{
    const SheetPoint a = points[corner[0]];
    const SheetPoint to_b = points[corner[1]] - a, to_c = points[corner[2]] - a;
    const double area = cross(to_b, to_c);  // of the parallelogram
    const double b = cross(x - a, to_c) / area, c = cross(to_b, x - a) / area;
    return {1 - b - c, b, c};
}

// A triangle with the affine function g that has the price of each corner there: negative and times
// a factor where the weight is negative. At the place g is the sum to be made small. The triangle
// is the best when no point has a price below |g|, that is, when none lies in its circumcircle.
struct TriangleSearch::Vertex {
    Corners corner;
    std::array<double, 3> weight{};
    double sum = 0;
    SheetPoint slope;
};

TriangleSearch::TriangleSearch(const std::vector<SheetPoint>& points)
    : point_(points), distance2_(points.size()), order_(points.size())
{
    if (points.size() >= 3) find_start();
}

void TriangleSearch::find_start()
{
    const auto farthest = [&](auto&& measure) {
        std::size_t best = 0;
        for (std::size_t i = 1; i < point_.size(); ++i)
            if (measure(point_[i]) > measure(point_[best])) best = i;
        return best;
    };
    const SheetPoint a = point_[0];
    const std::size_t b = farthest([&](const SheetPoint& x) { return length(x - a); });
    const SheetPoint side = point_[b] - a;
    const auto area = [&](const SheetPoint& x) { return std::abs(cross(side, x - a)); };
    const std::size_t c = farthest(area);
    start_ = {0, static_cast<int>(b), static_cast<int>(c)};
    middle_ = {(a.u + point_[b].u + point_[c].u) / 3, (a.v + point_[b].v + point_[c].v) / 3};
    spans_plane_ = !flat(start_);
}

int TriangleSearch::point_at(const SheetPoint& place)
{
    for (std::size_t i = 0; i < point_.size(); ++i)
        distance2_[i] = dot(point_[i] - place, point_[i] - place);
    const auto nearest = std::min_element(distance2_.begin(), distance2_.end());
    if (nearest == distance2_.end() || *nearest > kSamePlace * kSamePlace) return -1;
    return static_cast<int>(nearest - distance2_.begin());
}

Corners TriangleSearch::corners_for(const SheetPoint& place)
{
    const auto nearer = [&](int a, int b) {
        return distance2_[a] != distance2_[b] ? distance2_[a] < distance2_[b] : a < b;
    };
    std::iota(order_.begin(), order_.end(), 0);
    near_count_ = std::min(kNearCount, order_.size());
    const auto near_end = order_.begin() + static_cast<std::ptrdiff_t>(near_count_);
    std::partial_sort(order_.begin(), near_end, order_.end(), nearer);
    const SheetPoint inward = middle_ - place;
    place_ = {place.u + kInward * inward.u + kBeside.u, place.v + kInward * inward.v + kBeside.v};
    Vertex vertex = solved(start_, kDear);
    double negative = 0;
    for (const double w : vertex.weight) negative += std::max(0.0, -w);
    if (negative > kNoise || flat(vertex.corner)) vertex = solved(start_, 1);
    std::sort(vertex.corner.begin(), vertex.corner.end(), nearer);
    return vertex.corner;
}

TriangleSearch::Vertex TriangleSearch::vertex_of(const Corners& corner, double factor) const
{
    Vertex result{corner, barycentric(point_, corner, place_), 0, {}};
    std::array<double, 3> g{};
    for (int j = 0; j < 3; ++j) {
        g[j] = price(point_[corner[j]] - place_) * (result.weight[j] < 0 ? -factor : 1);
        result.sum += result.weight[j] * g[j];
    }
    const SheetPoint a = point_[corner[0]];
    const SheetPoint to_b = point_[corner[1]] - a, to_c = point_[corner[2]] - a;
    const double area = cross(to_b, to_c), up_b = g[1] - g[0], up_c = g[2] - g[0];
    result.slope = {(up_b * to_c.v - up_c * to_b.v) / area, (up_c * to_b.u - up_b * to_c.u) / area};
    return result;
}

TriangleSearch::Vertex TriangleSearch::solved(const Corners& start, double factor) const
{
    Vertex vertex = vertex_of(start, factor);
    while (improve(vertex, near_count_, factor)) continue;
    while (improve(vertex, order_.size(), factor)) continue;
    return vertex;
}

// One pivot: takes in the point that makes the sum fall most, among the first `count`. The sum
// falls every time, so this ends.
bool TriangleSearch::improve(Vertex& vertex, std::size_t count, double factor) const
{
    Corners corner{};
    double most = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const SheetPoint to = point_[order_[i]] - place_;
        const double g = vertex.sum + dot(vertex.slope, to), cost = price(to);
        const double gain = std::max(g - cost, -g - factor * cost);  // per weight
        if (gain <= kRounding * (std::abs(g) + cost)) continue;
        const Exchange exchange = exchange_for(vertex, point_[order_[i]], g > 0 ? 1 : -1);
        if (gain * exchange.weight <= most) continue;
        most = gain * exchange.weight;
        corner = vertex.corner;
        corner[exchange.leaving] = order_[i];
    }
    if (!(most > 0)) return false;
    const Vertex next = vertex_of(corner, factor);
    if (!(next.sum < vertex.sum)) return false;
    vertex = next;
    return true;
}

// Three points in a line up to noise: whether a place lies in such a triangle is noise as well.
bool TriangleSearch::flat(const Corners& corner) const
{
    const SheetPoint a = point_[corner[0]], b = point_[corner[1]], c = point_[corner[2]];
    const double longest = std::max({length(b - a), length(c - b), length(a - c)});
    return std::abs(cross(b - a, c - a)) <= kNoise * longest * longest;
}

// While the weight t of the entering point x = sum m_j x_j grows, w_j goes as w_j - t m_j. The
// first to reach zero leaves.
TriangleSearch::Exchange TriangleSearch::exchange_for(const Vertex& vertex, const SheetPoint& x,
                                                      double sign) const
{
    const std::array<double, 3> m = barycentric(point_, vertex.corner, x);
    Exchange exchange;
    for (int j = 0; j < 3; ++j) {
        const double fall = vertex.weight[j] < 0 ? -sign * m[j] : sign * m[j];
        if (fall <= kRounding) continue;  // x is on the line of the other two
        const double weight = std::abs(vertex.weight[j]) / fall;
        if (exchange.leaving < 0 || weight < exchange.weight) exchange = {j, weight};
    }
    return exchange;
}

}  // namespace springtime
