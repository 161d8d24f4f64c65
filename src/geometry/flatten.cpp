#include "geometry/flatten.h"

#include <Eigen/Dense>
#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <nanoflann.hpp>
#include <queue>
#include <utility>

#include "geometry/rectangle.h"
#include "springtime/error.h"

namespace springtime {

namespace {

constexpr double kFlat = 1e-5;  // off the plane, of the extent: files keep six digits

Eigen::Vector3d eigen(const Vec3d& a)
{
    return {a.x, a.y, a.z};
}

// Sorted ends, each once.
std::vector<Link> tidied(std::vector<Link> links)
{
    for (Link& link : links) {
        if (link[0] > link[1]) std::swap(link[0], link[1]);
    }
    std::sort(links.begin(), links.end());
    links.erase(std::unique(links.begin(), links.end()), links.end());
    return links;
}

// Points as nanoflann wants to see them.
struct Cloud {
    const std::vector<Vec3d>& points;

    std::size_t kdtree_get_point_count() const { return points.size(); }
    double kdtree_get_pt(std::size_t i, std::size_t axis) const { return points[i][int(axis)]; }
    template <class Box>
    bool kdtree_get_bbox(Box&) const
    {
        return false;
    }
};

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
    Eigen::MatrixXd distance;  // beacons x points
};

Beacons spread_beacons(const Ways& ways, std::string_view source)
{
    constexpr std::size_t kMost = 128;  // a plane needs three; more average out the detours
    const std::size_t n = ways.next.size(), count = std::min(kMost, n);
    Beacons beacons;
    beacons.distance.resize(Eigen::Index(count), Eigen::Index(n));
    std::vector<double> nearest(n, HUGE_VAL);
    int beacon = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::vector<double> distance = ways.from(beacon);
        beacons.points.push_back(beacon);
        for (std::size_t p = 0; p < n; ++p) {
            if (!std::isfinite(distance[p])) {
                throw Error(
                    "{}: point {} hangs together with no others near point {}; the rest shape must "
                    "be one piece, so give it as a grid or as a mesh",
                    source, p, beacon);
            }
            beacons.distance(Eigen::Index(i), Eigen::Index(p)) = distance[p];
            nearest[p] = std::min(nearest[p], distance[p]);
        }
        beacon = int(std::max_element(nearest.begin(), nearest.end()) - nearest.begin());
    }
    return beacons;
}

// Classical scaling of the beacons, and every point where its distances to them put it (de Silva
// and Tenenbaum's landmark scaling): with D the squared distances and J the centring, the two
// leading eigenvectors of -J D J / 2.
Eigen::MatrixX2d scaled_layout(const Beacons& beacons)
{
    const Eigen::Index m = Eigen::Index(beacons.points.size());
    const Eigen::MatrixXd squared = beacons.distance.cwiseAbs2();
    Eigen::MatrixXd among(m, m);
    for (Eigen::Index i = 0; i < m; ++i) among.col(i) = squared.col(beacons.points[std::size_t(i)]);
    const Eigen::VectorXd mean = among.rowwise().mean();
    const Eigen::MatrixXd centring =
        Eigen::MatrixXd::Identity(m, m) - Eigen::MatrixXd::Constant(m, m, 1.0 / double(m));
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(-0.5 * centring * among * centring);
    Eigen::MatrixX2d layout(beacons.distance.cols(), 2);
    for (int axis = 0; axis < 2; ++axis) {
        const Eigen::Index k = m - 1 - axis;  // eigenvalues ascend
        const double root = std::sqrt(std::max(solver.eigenvalues()(k), 1e-300));
        layout.col(axis) =
            -0.5 / root * (squared.colwise() - mean).transpose() * solver.eigenvectors().col(k);
    }
    return layout;
}

// ---- Least strain ----

// Lowers the sum of ((l - L)/L)^2 over the links. With the directions of the links held, that is a
// linear system whose matrix never changes; directions and points take turns (stress majorisation).
void relax(Eigen::MatrixX2d& layout, const std::vector<Vec3d>& points,
           const std::vector<Link>& links)
{
    constexpr int kMostTurns = 1000;
    const Eigen::Index n = layout.rows();
    std::vector<Eigen::Triplet<double>> entries;
    std::vector<double> rest;
    for (const auto& [a, b] : links) {
        rest.push_back(length(points[b] - points[a]));
        const double weight = 1 / (rest.back() * rest.back());
        entries.insert(entries.end(),
                       {{a, a, weight}, {b, b, weight}, {a, b, -weight}, {b, a, -weight}});
    }
    entries.emplace_back(0, 0, entries.front().value());  // ties it to a place
    Eigen::SparseMatrix<double> matrix(n, n);
    matrix.setFromTriplets(entries.begin(), entries.end());
    const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> solver(matrix);
    for (int turn = 0; turn < kMostTurns; ++turn) {
        Eigen::MatrixX2d pull = Eigen::MatrixX2d::Zero(n, 2);
        for (std::size_t i = 0; i < links.size(); ++i) {
            const auto [a, b] = links[i];
            const Eigen::RowVector2d way = layout.row(b) - layout.row(a);
            const double l = std::max(way.norm(), 1e-9 * rest[i]);
            pull.row(b) += way / (l * rest[i]);
            pull.row(a) -= way / (l * rest[i]);
        }
        const Eigen::MatrixX2d moved = solver.solve(pull);
        const double change =
            (moved.rowwise() - moved.row(0) - (layout.rowwise() - layout.row(0)).matrix()).norm() /
            std::sqrt(double(n));
        layout = moved;
        if (change < 1e-9 * rest.front()) break;
    }
}

double strain_of(const Eigen::MatrixX2d& layout, const std::vector<Vec3d>& points,
                 const std::vector<Link>& links)
{
    double sum = 0;
    for (const auto& [a, b] : links) {
        const double rest = length(points[b] - points[a]);
        const double strain = (layout.row(b) - layout.row(a)).norm() / rest - 1;
        sum += strain * strain;
    }
    return std::sqrt(sum / double(links.size()));
}

// ---- The plane ----

struct Plane {
    Eigen::Matrix3d axes;  // the last is across it
    double off = 0;        // root mean square distance from it, of that along it
};

Plane plane_of(const std::vector<Vec3d>& points)
{
    Eigen::Vector3d mean = Eigen::Vector3d::Zero();
    for (const Vec3d& p : points) mean += eigen(p) / double(points.size());
    Eigen::Matrix3d spread = Eigen::Matrix3d::Zero();
    for (const Vec3d& p : points) spread += (eigen(p) - mean) * (eigen(p) - mean).transpose();
    const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver(spread);
    const Eigen::Vector3d values = solver.eigenvalues().cwiseMax(0);
    return {solver.eigenvectors().rowwise().reverse(), std::sqrt(values(0) / values(2))};
}

Eigen::MatrixX2d projected(const std::vector<Vec3d>& points, const Eigen::Vector3d& u,
                           const Eigen::Vector3d& v)
{
    Eigen::MatrixX2d layout(Eigen::Index(points.size()), 2);
    for (std::size_t i = 0; i < points.size(); ++i) {
        layout.row(Eigen::Index(i)) << eigen(points[i]).dot(u), eigen(points[i]).dot(v);
    }
    return layout;
}

// How far the points lie from the middle of a coordinate, of its extent: the mean with weights
// 1, 1/2, 1/4 and so on. In [-1/2, 1/2], and as steady as the places of the first few points.
double lean(const Eigen::VectorXd& coordinate)
{
    const double low = coordinate.minCoeff(), high = coordinate.maxCoeff();
    double sum = 0, weights = 0, weight = 1;
    for (const double c : coordinate) {
        sum += weight * (c - (low + high) / 2);
        weights += weight;
        weight /= 2;
    }
    if (!(high > low)) return 0;  // all on one line: refused later
    return sum / (weights * (high - low));
}

struct Oriented {
    Eigen::MatrixX2d places;
    double margin = 0;  // see Layout
};

// Turns the layout so that its smallest rectangle is upright, and turns it over as the order of the
// points says. Where the cloth was and which way it faced must not matter: they differ from take to
// take, and a sheet that comes out as its own mirror image is another sheet.
Oriented oriented(const Eigen::MatrixX2d& layout)
{
    constexpr double kAlike = 0.2;  // the order counts for sides that differ by a tenth and less
    std::vector<SheetPoint> places;
    for (Eigen::Index i = 0; i < layout.rows(); ++i) places.push_back({layout(i, 0), layout(i, 1)});
    const Rectangle rectangle = smallest_rectangle(places);
    const Eigen::Vector2d side(rectangle.side.u, rectangle.side.v);
    Eigen::MatrixX2d turned(layout.rows(), 2);
    turned << layout * side, layout * Eigen::Vector2d(-side.y(), side.x());
    Eigen::RowVector2d leans(lean(turned.col(0)), lean(turned.col(1)));
    // Of a grid that is listed row by row the first points lean less along the rows.
    const double longer = std::log(rectangle.length / rectangle.across) +
                          kAlike * (std::abs(leans(1)) - std::abs(leans(0)));
    for (int axis = 0; axis < 2; ++axis) {
        if (leans(axis) > 0) turned.col(axis) *= -1;
    }
    if (longer < 0) turned.col(0).swap(turned.col(1));
    return {turned, std::min(leans.cwiseAbs().minCoeff(), std::abs(longer))};
}

Layout at_origin(Eigen::MatrixX2d places, double strain, double margin)
{
    places.rowwise() -= places.colwise().minCoeff().eval();
    Layout layout;
    layout.strain = strain;
    layout.margin = margin;
    for (Eigen::Index i = 0; i < places.rows(); ++i) {
        layout.points.push_back({places(i, 0), places(i, 1)});
    }
    layout.length = places.col(0).maxCoeff();
    layout.width = places.col(1).maxCoeff();
    return layout;
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

std::vector<Link> nearest_links(const std::vector<Vec3d>& points, int count)
{
    using Tree = nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<double, Cloud>,
                                                     Cloud, 3, std::size_t>;
    const Cloud cloud{points};
    const Tree tree(3, cloud);
    std::vector<Link> links;
    std::vector<std::size_t> found(std::size_t(count) + 1);  // the point itself is among them
    std::vector<double> squared(found.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
        const std::size_t n =
            tree.knnSearch(&points[i].x, found.size(), found.data(), squared.data());
        for (std::size_t j = 0; j < n; ++j) {
            if (found[j] != i) links.push_back({int(i), int(found[j])});
        }
    }
    return tidied(links);
}

std::vector<Link> triangle_links(const std::vector<std::array<int, 3>>& triangles)
{
    std::vector<Link> links;
    for (const auto& [a, b, c] : triangles) {
        links.insert(links.end(), {Link{a, b}, Link{b, c}, Link{c, a}});
    }
    return tidied(links);
}

Layout flatten(const std::vector<Vec3d>& points, const std::vector<Link>& links,
               std::string_view source)
{
    check_links(points, links, source);
    const Plane plane = plane_of(points);
    if (plane.off < kFlat) {
        const auto [places, margin] =
            oriented(projected(points, plane.axes.col(0), plane.axes.col(1)));
        return at_origin(places, 0, margin);
    }
    Eigen::MatrixX2d layout = scaled_layout(spread_beacons(Ways(points, links), source));
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
    const auto across = [&](const Eigen::Vector3d& axis) {
        return plane.off < kFlat && plane.axes.col(2).cross(axis).norm() < kTilt;
    };
    const auto x = Eigen::Vector3d::UnitX(), y = Eigen::Vector3d::UnitY(),
               z = Eigen::Vector3d::UnitZ();
    if (across(y)) return at_origin(projected(points, x, z), 0, kSure);
    if (across(z)) return at_origin(projected(points, x, -y), 0, kSure);
    return flatten(points, links, source);
}

}  // namespace springtime
