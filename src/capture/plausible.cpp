#include "capture/plausible.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "core/quantile.h"

namespace springtime {

namespace {

// Of every link in every frame that shows it, its length divided by that in the flat sheet.
std::vector<double> stretches(const std::vector<PointFrame>& frames,
                              const std::vector<SheetPoint>& rest, const std::vector<Link>& links)
{
    std::vector<double> result;
    for (const auto& [a, b] : links) {
        const double flat = std::hypot(rest[b].u - rest[a].u, rest[b].v - rest[a].v);
        for (const PointFrame& frame : frames) {
            if (!is_seen(frame[a]) || !is_seen(frame[b])) continue;
            result.push_back(length(frame[b] - frame[a]) / flat);
        }
    }
    return result;
}

// The distance to the nearest other point, the median over points; NaN for fewer than two.
double usual_nearest(const std::vector<Vec3d>& points)
{
    std::vector<double> nearest(points.size(), HUGE_VAL);
    for (const auto& [a, b] : nearest_links(points, 1)) {
        const double distance = length(points[b] - points[a]);
        nearest[a] = std::min(nearest[a], distance);
        nearest[b] = std::min(nearest[b], distance);
    }
    return points.size() < 2 ? std::numeric_limits<double>::quiet_NaN() : quantile(nearest, 0.5);
}

std::vector<Vec3d> in_space(const std::vector<SheetPoint>& rest)
{
    std::vector<Vec3d> points;
    for (const SheetPoint& p : rest) points.push_back({p.u, 0, p.v});
    return points;
}

// Distances between points over those in the flat sheet, by the nearest points in each.
double scale_of(const std::vector<PointFrame>& frames, const std::vector<SheetPoint>& rest)
{
    std::vector<double> usual;
    for (const PointFrame& frame : frames) {
        std::vector<Vec3d> seen;
        std::copy_if(frame.begin(), frame.end(), std::back_inserter(seen), is_seen);
        if (2 * seen.size() > frame.size()) usual.push_back(usual_nearest(seen));
    }
    return usual.empty() ? std::numeric_limits<double>::quiet_NaN()
                         : quantile(usual, 0.5) / usual_nearest(in_space(rest));
}

}  // namespace

std::vector<Link> neighbours_on_sheet(const std::vector<SheetPoint>& rest)
{
    constexpr int kNeighbours = 4;  // those along the rows and columns of a grid
    return nearest_links(in_space(rest), kNeighbours);
}

double median_stretch(const std::vector<PointFrame>& frames, const std::vector<SheetPoint>& rest,
                      const std::vector<Link>& links)
{
    const std::vector<double> all = stretches(frames, rest, links);
    return all.empty() ? std::numeric_limits<double>::quiet_NaN() : quantile(all, 0.5);
}

double torn_share(const std::vector<PointFrame>& frames, const std::vector<SheetPoint>& rest,
                  const std::vector<Link>& links)
{
    const std::vector<double> all = stretches(frames, rest, links);
    const double usual = scale_of(frames, rest);
    if (all.empty() || std::isnan(usual)) return 0;
    std::size_t torn = 0;
    for (const double stretch : all) torn += stretch > 2 * usual;
    return double(torn) / double(all.size());
}

std::vector<SheetPoint> listed_points(const Sheet& sheet, const ListedGrid& listed)
{
    const Grid& grid = listed.grid;
    const std::vector<SheetPoint> by_rows = grid_points(sheet, grid);
    std::vector<SheetPoint> points(by_rows.size());
    for (int r = 0; r < grid.rows; ++r) {
        for (int c = 0; c < grid.cols; ++c) {
            points[listed.listed(r, c)] = by_rows[r * grid.cols + c];
        }
    }
    return points;
}

std::vector<Link> grid_links(const ListedGrid& listed, const std::vector<int>& points)
{
    const auto [rows, cols] = listed.grid;
    std::vector<int> landmark(std::size_t(rows) * std::size_t(cols), -1);
    for (std::size_t l = 0; l < points.size(); ++l) landmark[std::size_t(points[l])] = int(l);
    std::vector<Link> links;
    const auto add = [&](int a, int b) {
        const Link link{landmark[std::size_t(a)], landmark[std::size_t(b)]};
        if (link[0] >= 0 && link[1] >= 0) links.push_back(link);
    };
    for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < cols; ++c) {
            if (c + 1 < cols) add(listed.listed(r, c), listed.listed(r, c + 1));
            if (r + 1 < rows) add(listed.listed(r, c), listed.listed(r + 1, c));
        }
    }
    return links;
}

std::optional<ListedGrid> listed_grid(const std::vector<PointFrame>& frames, const Sheet& sheet,
                                      std::size_t count, const std::vector<int>& points)
{
    constexpr double kHardly = 0.03;
    std::optional<ListedGrid> best;
    double least = HUGE_VAL;
    for (std::size_t rows = 2; rows * 2 <= count; ++rows) {
        if (count % rows != 0) continue;
        for (const bool column_order : {false, true}) {
            const ListedGrid listed{{int(rows), int(count / rows)}, column_order};
            const std::vector<SheetPoint> all = listed_points(sheet, listed);
            std::vector<SheetPoint> rest;
            for (const int p : points) rest.push_back(all[std::size_t(p)]);
            const std::vector<Link> links = grid_links(listed, points);
            if (torn_share(frames, rest, links) > kHardly) continue;
            const std::vector<double> lengths = stretches(frames, rest, links);
            if (lengths.empty()) continue;
            const double unlike = quantile(lengths, 0.9) / quantile(lengths, 0.1);
            if (!(unlike < least)) continue;
            least = unlike;
            best = listed;
        }
    }
    return best;
}

Vec3d hanging(const std::vector<PointFrame>& frames, const std::vector<int>& held)
{
    Vec3d sum{};
    double count = 0;
    for (const PointFrame& frame : frames) {
        std::vector<bool> is_held(frame.size(), false);
        for (const int p : held) is_held[std::size_t(p)] = true;
        Vec3d mean[2]{};
        double seen[2]{};
        for (std::size_t p = 0; p < frame.size(); ++p) {
            if (!is_seen(frame[p])) continue;
            mean[is_held[p]] += frame[p];
            ++seen[is_held[p]];
        }
        if (seen[0] == 0 || seen[1] == 0) continue;
        sum += (1 / seen[0]) * mean[0] - (1 / seen[1]) * mean[1];
        ++count;
    }
    return count > 0 ? (1 / count) * sum : Vec3d{};
}

}  // namespace springtime
