#include "geometry/flatten.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <utility>

#include "geometry/linear_algebra.h"
#include "geometry/polygon.h"
#include "springtime/error.h"

namespace springtime {

namespace {

constexpr double kFlat = 1e-5;  // off the plane, of the extent: files keep six digits

using Places = std::vector<SheetPoint>;

double distance_of(const SheetPoint& a, const SheetPoint& b)
{
    return std::hypot(b.u - a.u, b.v - a.v);
}

// ---- Distances along the sheet ----

struct Ways {
    std::vector<std::vector<std::pair<int, double>>> next;  // of every point

    Ways(const std::vector<Vec3d>& points, const std::vector<Link>& links) : next(points.size())
    {
        for (const auto& [a, b] : links) {
            const double way = length(points[b] - points[a]);
            next[a].emplace_back(b, way);
            next[b].emplace_back(a, way);
        }
    }

    // Dijkstra's.
    std::vector<double> from(int start) const
    {
        std::vector<double> distance(next.size(), HUGE_VAL);
        using Entry = std::pair<double, int>;
        std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
        distance[start] = 0;
        open.emplace(0, start);
        while (!open.empty()) {
            const auto [here, point] = open.top();
            open.pop();
            if (here > distance[point]) continue;
            for (const auto& [other, way] : next[point]) {
                if (!(here + way < distance[other])) continue;
                distance[other] = here + way;
                open.emplace(here + way, other);
            }
        }
        return distance;
    }
};

// Points far from each other, and the distances of all points to each of them.
struct Beacons {
    std::vector<int> points;
    std::vector<std::vector<double>> distance;  // of each beacon to all points
};

Beacons spread_beacons(const Ways& ways, std::string_view source)
{
    constexpr std::size_t kMost = 128;  // a plane needs three; more average out the detours
    const std::size_t n = ways.next.size(), count = std::min(kMost, n);
    Beacons beacons;
    std::vector<double> nearest(n, HUGE_VAL);
    int beacon = 0;
    for (std::size_t i = 0; i < count; ++i) {
        beacons.points.push_back(beacon);
        beacons.distance.push_back(ways.from(beacon));
        const std::vector<double>& distance = beacons.distance.back();
        for (std::size_t p = 0; p < n; ++p) {
            if (!std::isfinite(distance[p])) {
                throw Error(
                    "{}: point {} hangs together with no others near point {}; the rest shape must "
                    "be one piece, so give it as a grid or as a mesh",
                    source, p, beacon);
            }
            nearest[p] = std::min(nearest[p], distance[p]);
        }
        beacon = int(std::max_element(nearest.begin(), nearest.end()) - nearest.begin());
    }
    return beacons;
}

// Classical scaling of the beacons, and every point where its distances to them put it (de Silva
// and Tenenbaum's landmark scaling): with D the squared distances and J the centring, the two
// leading eigenvectors of -J D J / 2.
Places scaled_layout(const Beacons& beacons)
{
    const std::size_t m = beacons.points.size(), n = beacons.distance.front().size();
    const auto squared = [&](std::size_t beacon, std::size_t point) {
        return beacons.distance[beacon][point] * beacons.distance[beacon][point];
    };
    std::vector<double> mean(m);
    double whole = 0;
    for (std::size_t i = 0; i < m; ++i) {
        for (const int p : beacons.points) mean[i] += squared(i, std::size_t(p)) / double(m);
        whole += mean[i] / double(m);
    }
    std::vector<double> centred;
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < m; ++j) {
            const double d = squared(i, std::size_t(beacons.points[j]));
            centred.push_back(-0.5 * (d - mean[i] - mean[j] + whole));
        }
    }
    const Eigenpairs pairs = symmetric_eigenpairs(centred);
    Places layout(n);
    for (int axis = 0; axis < 2; ++axis) {
        const double root = std::sqrt(std::max(pairs.value[axis], 1e-300));
        for (std::size_t p = 0; p < n; ++p) {
            double sum = 0;
            for (std::size_t i = 0; i < m; ++i) {
                sum += (squared(i, p) - mean[i]) * pairs.vector[axis][i];
            }
            (axis == 0 ? layout[p].u : layout[p].v) = -0.5 / root * sum;
        }
    }
    return layout;
}

// ---- Least strain ----

// Lowers the sum of ((l - L)/L)^2 over the links. With the directions of the links held, that is a
// linear system whose matrix never changes; directions and points take turns (stress majorisation).
void relax(Places& layout, const std::vector<Vec3d>& points, const std::vector<Link>& links)
{
    constexpr int kMostTurns = 1000;
    const std::size_t n = layout.size();
    std::vector<SparseFactors::Entry> entries;
    std::vector<double> rest;
    for (const auto& [a, b] : links) {
        rest.push_back(length(points[b] - points[a]));
        const double weight = 1 / (rest.back() * rest.back());
        entries.insert(entries.end(), {{a, a, weight}, {b, b, weight}, {a, b, -weight}});
    }
    entries.push_back({0, 0, entries.front().value});  // ties it to a place
    const SparseFactors factors(entries, dissection_order(layout, links));
    for (int turn = 0; turn < kMostTurns; ++turn) {
        std::vector<double> pull_u(n), pull_v(n);
        for (std::size_t i = 0; i < links.size(); ++i) {
            const auto [a, b] = links[i];
            const double scale =
                1 / (std::max(distance_of(layout[a], layout[b]), 1e-9 * rest[i]) * rest[i]);
            const double du = scale * (layout[b].u - layout[a].u);
            const double dv = scale * (layout[b].v - layout[a].v);
            pull_u[b] += du, pull_v[b] += dv;
            pull_u[a] -= du, pull_v[a] -= dv;
        }
        const std::vector<double> u = factors.solve(pull_u), v = factors.solve(pull_v);
        const SheetPoint shift{u[0] - layout[0].u, v[0] - layout[0].v};
        double squares = 0;
        for (std::size_t p = 0; p < n; ++p) {
            const SheetPoint change{u[p] - layout[p].u - shift.u, v[p] - layout[p].v - shift.v};
            squares += change.u * change.u + change.v * change.v;
            layout[p] = {u[p], v[p]};
        }
        if (std::sqrt(squares / double(n)) < 1e-9 * rest.front()) break;
    }
}

double strain_of(const Places& layout, const std::vector<Vec3d>& points,
                 const std::vector<Link>& links)
{
    double sum = 0;
    for (const auto& [a, b] : links) {
        const double rest = length(points[b] - points[a]);
        const double strain = distance_of(layout[a], layout[b]) / rest - 1;
        sum += strain * strain;
    }
    return std::sqrt(sum / double(links.size()));
}

// ---- The plane ----

struct Plane {
    std::array<Vec3d, 3> axes;  // the last is across it
    double off = 0;             // root mean square distance from it, of that along it
};

Plane plane_of(const std::vector<Vec3d>& points)
{
    Vec3d mean;
    for (const Vec3d& p : points) mean += (1 / double(points.size())) * p;
    std::vector<double> spread(9);
    for (const Vec3d& p : points) {
        for (int i = 0; i < 9; ++i) spread[i] += (p - mean)[i / 3] * (p - mean)[i % 3];
    }
    const Eigenpairs pairs = symmetric_eigenpairs(spread);
    Plane plane;
    for (int i = 0; i < 3; ++i) {
        plane.axes[i] = {pairs.vector[i][0], pairs.vector[i][1], pairs.vector[i][2]};
    }
    plane.off = std::sqrt(std::max(pairs.value[2], 0.0) / std::max(pairs.value[0], 0.0));
    return plane;
}

Places projected(const std::vector<Vec3d>& points, const Vec3d& u, const Vec3d& v)
{
    Places layout;
    for (const Vec3d& p : points) layout.push_back({dot(p, u), dot(p, v)});
    return layout;
}

// How far the points lie from the middle of a coordinate, of its extent: the mean with weights
// 1, 1/2, 1/4 and so on. In [-1/2, 1/2], and as steady as the places of the first few points.
double lean(const Places& places, double SheetPoint::*coordinate)
{
    const auto [first, last] = std::minmax_element(
        places.begin(), places.end(),
        [&](SheetPoint a, SheetPoint b) { return a.*coordinate < b.*coordinate; });
    const double low = *first.*coordinate, high = *last.*coordinate;
    double sum = 0, weights = 0, weight = 1;
    for (const SheetPoint& p : places) {
        sum += weight * (p.*coordinate - (low + high) / 2);
        weights += weight;
        weight /= 2;
    }
    if (!(high > low)) return 0;  // all on one line: refused later
    return sum / (weights * (high - low));
}

struct Oriented {
    Places places;
    double margin = 0;  // see Layout
};

// Turns the layout so that its smallest rectangle is upright, and turns it over as the order of the
// points says. Where the cloth was and which way it faced must not matter: they differ from take to
// take, and a sheet that comes out as its own mirror image is another sheet.
Oriented oriented(Places places)
{
    constexpr double kAlike = 0.2;  // the order counts for sides that differ by a tenth and less
    const Rectangle rectangle = smallest_rectangle(places);
    const SheetPoint side = rectangle.side;
    for (SheetPoint& p : places) p = {p.u * side.u + p.v * side.v, p.v * side.u - p.u * side.v};
    const double lean_u = lean(places, &SheetPoint::u), lean_v = lean(places, &SheetPoint::v);
    // Of a grid that is listed row by row the first points lean less along the rows.
    const double longer = std::log(rectangle.length / rectangle.across) +
                          kAlike * (std::abs(lean_v) - std::abs(lean_u));
    for (SheetPoint& p : places) {
        if (lean_u > 0) p.u = -p.u;
        if (lean_v > 0) p.v = -p.v;
        if (longer < 0) std::swap(p.u, p.v);
    }
    return {places, std::min({std::abs(lean_u), std::abs(lean_v), std::abs(longer)})};
}

Layout at_origin(Places places, double strain, double margin)
{
    SheetPoint low = places.front(), high = low;
    for (const SheetPoint& p : places) {
        low = {std::min(low.u, p.u), std::min(low.v, p.v)};
        high = {std::max(high.u, p.u), std::max(high.v, p.v)};
    }
    for (SheetPoint& p : places) p = {p.u - low.u, p.v - low.v};
    return {std::move(places), high.u - low.u, high.v - low.v, strain, margin};
}

void check_links(const std::vector<Vec3d>& points, const std::vector<Link>& links,
                 std::string_view source)
{
    if (points.size() < 3 || links.size() < 3) {
        throw Error("{}: {} points with {} links; a sheet needs three of each", source,
                    points.size(), links.size());
    }
    for (const auto& [a, b] : links) {
        if (length(points[b] - points[a]) > 0) continue;
        throw Error("{}: points {} and {} are at the same place; leave one of them out", source, a,
                    b);
    }
}

}  // namespace

Layout flatten(const std::vector<Vec3d>& points, const std::vector<Link>& links,
               std::string_view source)
{
    check_links(points, links, source);
    const Plane plane = plane_of(points);
    if (plane.off < kFlat) {
        const auto [places, margin] = oriented(projected(points, plane.axes[0], plane.axes[1]));
        return at_origin(places, 0, margin);
    }
    Places layout = scaled_layout(spread_beacons(Ways(points, links), source));
    relax(layout, points, links);
    const auto [places, margin] = oriented(layout);
    return at_origin(places, strain_of(layout, points, links), margin);
}

Layout flatten_mesh(const std::vector<Vec3d>& points, const std::vector<Link>& links,
                    std::string_view source)
{
    constexpr double kTilt = 1e-4, kSure = 0.5;
    check_links(points, links, source);
    const Plane plane = plane_of(points);
    const auto across = [&](const Vec3d& axis) {
        return plane.off < kFlat && length(cross(plane.axes[2], axis)) < kTilt;
    };
    const Vec3d x{1, 0, 0}, y{0, 1, 0}, z{0, 0, 1};
    if (across(y)) return at_origin(projected(points, x, z), 0, kSure);
    if (across(z)) return at_origin(projected(points, x, -1.0 * y), 0, kSure);
    return flatten(points, links, source);
}

}  // namespace springtime
