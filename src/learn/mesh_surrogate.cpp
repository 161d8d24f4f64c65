#include "learn/mesh_surrogate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/quantile.h"
#include "geometry/delaunay.h"
#include "learn/least_unexplained.h"
#include "springtime/error.h"

namespace springtime {

namespace {

double longest_edge(const std::vector<SheetPoint>& points, const std::array<int, 3>& corners)
{
    double longest = 0;
    for (int i = 0; i < 3; ++i) {
        const SheetPoint p = points[corners[i]], q = points[corners[(i + 1) % 3]];
        longest = std::max(longest, std::hypot(p.u - q.u, p.v - q.v));
    }
    return longest;
}

// Triangles twice as long as usual span a bay of the outline, unless a point has no other.
SheetMesh mesh_of_points(const std::vector<SheetPoint>& points)
{
    constexpr double kLong = 2;
    SheetMesh mesh{points, delaunay_triangles(points), std::nullopt};
    std::vector<double> lengths;
    for (const auto& corners : mesh.triangles) lengths.push_back(longest_edge(points, corners));
    if (lengths.empty()) {
        throw Error(
            "learn: the landmarks have no triangles between them; triangles need landmarks that "
            "cover an area, springs can be learned from a line");
    }
    const double most = kLong * quantile(lengths, 0.5);
    std::vector<int> uses(points.size(), 0);
    for (std::size_t t = 0; t < lengths.size(); ++t) {
        for (const int p : mesh.triangles[t]) uses[p] += lengths[t] <= most;
    }
    std::vector<std::array<int, 3>> kept;
    for (std::size_t t = 0; t < lengths.size(); ++t) {
        const auto& corners = mesh.triangles[t];
        const bool needed =
            std::any_of(corners.begin(), corners.end(), [&](int p) { return uses[p] == 0; });
        if (lengths[t] <= most || needed) kept.push_back(corners);
    }
    mesh.triangles = std::move(kept);
    check_mesh(mesh, "the triangles between the landmarks");
    return mesh;
}

// A few rollouts show how cells are cut, if they show it at all.
Motion first_rollouts(const Motion& motion)
{
    constexpr std::size_t kFew = 4;
    std::vector<std::size_t> first(std::min(kFew, motion.rollout_count()));
    std::iota(first.begin(), first.end(), std::size_t(0));
    return select_rollouts(motion, first);
}

ChosenMesh best_cut(const LearnOptions& options, const Motion& motion, const Grid& grid,
                    const Progress& progress)
{
    const Motion few = first_rollouts(motion);
    ChosenMesh best;
    double least = HUGE_VAL;
    std::string shares;
    for (const MeshCut cut : {MeshCut::diagonal, MeshCut::antidiagonal, MeshCut::alternating}) {
        const SheetMesh mesh = make_grid_mesh(motion.header.sheet, grid, cut);
        IdentifyOptions solve;
        solve.cloth = mesh_surrogate(options, motion.header, mesh);
        solve.validation_share = options.validation_share;
        solve.seed = options.seed;
        solve.threads = options.threads;
        Work work(progress, fmt::format("cut {}", name_of(cut)));
        std::optional<double> left = least_unexplained(few, solve, work);
        if (!left) {
            solve.form = BalanceForm::weak;
            left = least_unexplained(few, solve, work);
        }
        const double unexplained = left.value_or(HUGE_VAL);
        shares += fmt::format("{}{} {:.2g} %", shares.empty() ? "" : ", ", name_of(cut),
                              100 * unexplained);
        if (best.mesh.triangles.empty() || unexplained < least) {
            best = {mesh, std::string(name_of(cut))};
            least = std::min(least, unexplained);
        }
    }
    if (!(least < 1)) {
        best.reason =
            "the motion is too short to tell how the cells are cut; they are cut diagonal";
        return best;
    }
    best.reason =
        fmt::format("the cells are cut {}, which leaves the least of the forces unexplained: {}",
                    best.reason, shares);
    return best;
}

// One-dimensional or plane points in `count` clusters, from quantiles of the first coordinate.
std::vector<int> k_means(const std::vector<std::array<double, 2>>& points, int count)
{
    std::vector<std::size_t> order(points.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return points[a][0] < points[b][0]; });
    std::vector<std::array<double, 2>> centers;
    for (int c = 0; c < count; ++c) {
        centers.push_back(points[order[(2 * std::size_t(c) + 1) * points.size() / (2 * count)]]);
    }
    std::vector<int> of(points.size(), 0);
    constexpr int kRounds = 100;
    for (int round = 0; round < kRounds; ++round) {
        bool moved = false;
        for (std::size_t i = 0; i < points.size(); ++i) {
            const auto distance = [&](const std::array<double, 2>& c) {
                return std::hypot(points[i][0] - c[0], points[i][1] - c[1]);
            };
            const auto nearest = std::min_element(
                centers.begin(), centers.end(),
                [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
            const int cluster = static_cast<int>(nearest - centers.begin());
            moved = moved || cluster != of[i];
            of[i] = cluster;
        }
        if (!moved && round > 0) break;
        for (int c = 0; c < count; ++c) {
            std::array<double, 2> sum{};
            double members = 0;
            for (std::size_t i = 0; i < points.size(); ++i) {
                if (of[i] != c) continue;
                sum = {sum[0] + points[i][0], sum[1] + points[i][1]};
                ++members;
            }
            if (members > 0) centers[c] = {sum[0] / members, sum[1] / members};
        }
    }
    return of;
}

// Logarithms, which keep what is zero at a thousandth of the usual.
std::vector<double> logarithms(const std::vector<double>& values)
{
    const double floor = 1e-3 * std::max(quantile(values, 0.5), 1e-300);
    std::vector<double> logs;
    for (const double value : values) logs.push_back(std::log(std::max(value, floor)));
    return logs;
}

SheetPoint middle_of(const Cloth& cloth, const int* corners, int count)
{
    SheetPoint sum{};
    for (int i = 0; i < count; ++i) {
        sum.u += cloth.rest[corners[i]].u / count;
        sum.v += cloth.rest[corners[i]].v / count;
    }
    return sum;
}

}  // namespace

ChosenMesh choose_mesh(const LearnOptions& options, const Motion& motion, const Progress& progress)
{
    if (options.mesh) {
        check_mesh(*options.mesh, "mesh");
        return {*options.mesh, ""};
    }
    const std::optional<Grid> own = regular_grid(motion.header.rest);
    const std::optional<Grid> grid = options.grid ? options.grid : own;
    if (!grid) {
        if (options.cut) {
            throw Error(Field{"cut"},
                        "learn: the landmarks are not a grid, so there are no cells to cut; leave "
                        "the cut out, or give a grid");
        }
        return {mesh_of_points(motion.header.rest),
                fmt::format("the mesh has the Delaunay triangles of the {} landmarks",
                            motion.header.landmark_count())};
    }
    if (grid->rows < 2 || grid->cols < 2) {
        throw Error(Field{"elements"},
                    "learn: triangles need an area, and {} x {} particles are a line; learn "
                    "springs instead",
                    grid->rows, grid->cols);
    }
    if (options.cut) {
        return {make_grid_mesh(motion.header.sheet, *grid, *options.cut), ""};
    }
    return best_cut(options, motion, *grid, progress);
}

Cloth mesh_surrogate(const LearnOptions& options, const MotionHeader& header, const SheetMesh& mesh)
{
    Cloth cloth;
    const MaterialField one = MaterialField::uniform(1);
    if (options.elements == LearnElements::triangles) {
        MeshMaterial material{one, one, one, {}, {}, one, 1, options.damping_kind};
        if (options.orthotropic) material.warp_stiffness = material.weft_stiffness = one;
        cloth = make_mesh_cloth(header.sheet, mesh, material);
    } else {
        cloth = make_mesh_network(header.sheet, mesh, one, one);
        if (options.law) set_law(cloth, *options.law);
    }
    cloth.globals = header.globals;
    return cloth;
}

Regions one_region(const Cloth& cloth)
{
    Regions regions{1, {}};
    for (const Element element : kElements) {
        regions.of[std::size_t(element)].assign(element_count(cloth, element), 0);
    }
    return regions;
}

Regions regions_of_map(const Cloth& cloth, const ValueMap& map)
{
    std::map<double, int> number;
    Regions regions;
    const auto region_at = [&](const SheetPoint& point) {
        const auto pixel = [](double share, int count) {
            return std::clamp(static_cast<int>(share * count), 0, count - 1);
        };
        const int row = pixel(point.v / cloth.sheet.width, map.rows);
        const int col = pixel(point.u / cloth.sheet.length, map.cols);
        const double value = map.values[std::size_t(row) * map.cols + col];
        return number.emplace(value, static_cast<int>(number.size())).first->second;
    };
    for (const auto& corners : cloth.triangles.corners) {
        regions.of[std::size_t(Element::triangle)].push_back(
            region_at(middle_of(cloth, corners.data(), 3)));
    }
    for (const auto& corners : cloth.hinges.corners) {
        regions.of[std::size_t(Element::hinge)].push_back(
            region_at(middle_of(cloth, corners.data(), 2)));
    }
    regions.count = static_cast<int>(number.size());
    return regions;
}

Regions regions_of_values(const Cloth& cloth)
{
    Regions regions = one_region(cloth);
    const auto number_all = [&](Element element, const std::vector<double>& values) {
        std::map<double, int> number;
        for (std::size_t e = 0; e < values.size(); ++e) {
            regions.of[std::size_t(element)][e] =
                number.emplace(values[e], static_cast<int>(number.size())).first->second;
        }
        regions.count = std::max(regions.count, static_cast<int>(number.size()));
    };
    number_all(Element::triangle, cloth.triangles.shear_stiffness);
    std::vector<double> bending = cloth.hinges.stiffness;
    const std::vector<double> shapes = hinge_shapes(cloth);
    // Rounded, because the stiffness is a product.
    for (std::size_t h = 0; h < bending.size(); ++h) bending[h] = float(bending[h] / shapes[h]);
    number_all(Element::hinge, bending);
    return regions;
}

Regions clustered_regions(const Cloth& identified, int count)
{
    Regions regions = one_region(identified);
    if (count == 1) return regions;
    regions.count = count;
    const auto cluster = [&](Element element, const std::vector<double>& x,
                             const std::vector<double>& y) {
        if (x.size() < std::size_t(count)) return;
        std::vector<std::array<double, 2>> points;
        for (std::size_t i = 0; i < x.size(); ++i) points.push_back({x[i], y[i]});
        regions.of[std::size_t(element)] = k_means(points, count);
    };
    cluster(Element::triangle, logarithms(identified.triangles.shear_stiffness),
            logarithms(identified.triangles.area_stiffness));
    std::vector<double> bending = identified.hinges.stiffness;
    const std::vector<double> shapes = hinge_shapes(identified);
    for (std::size_t h = 0; h < bending.size(); ++h) bending[h] /= shapes[h];
    if (!bending.empty()) {
        cluster(Element::hinge, logarithms(bending), std::vector<double>(bending.size(), 0));
    }
    return regions;
}

}  // namespace springtime
