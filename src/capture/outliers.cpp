#include "capture/outliers.h"

#include <algorithm>
#include <cmath>

#include "capture/plausible.h"

namespace springtime {

namespace {

bool seen_in_all(const PointFrame& before, const PointFrame& now, const PointFrame& after,
                 std::size_t point)
{
    return is_seen(before[point]) && is_seen(now[point]) && is_seen(after[point]);
}

double residual(const Vec3d& before, const Vec3d& now, const Vec3d& after)
{
    return length(now - 0.5 * (before + after));
}

}  // namespace

void add_residuals(const PointFrame& before, const PointFrame& now, const PointFrame& after,
                   std::vector<double>& to)
{
    for (std::size_t p = 0; p < now.size(); ++p) {
        if (seen_in_all(before, now, after, p)) to.push_back(residual(before[p], now[p], after[p]));
    }
}

OutlierFinder::OutlierFinder(const std::vector<SheetPoint>& rest, double most_residual)
    : most_residual_(most_residual), neighbours_(rest.size()), spacing_(rest.size(), HUGE_VAL)
{
    for (const auto& [a, b] : neighbours_on_sheet(rest)) {
        const double distance = std::hypot(rest[b].u - rest[a].u, rest[b].v - rest[a].v);
        neighbours_[a].push_back({b, distance});
        neighbours_[b].push_back({a, distance});
        for (const int p : {a, b}) spacing_[p] = std::min(spacing_[p], distance);
    }
}

double OutlierFinder::jump(const PointFrame* before, const PointFrame& now, const PointFrame* after,
                           std::size_t point) const
{
    if (!before || !after || !seen_in_all(*before, now, *after, point)) return 0;
    const Vec3d &x0 = (*before)[point], &x2 = (*after)[point];
    const double off = residual(x0, now[point], x2);
    const double allowed =
        std::max({8 * most_residual_, 0.2 * spacing_[point], 3 * 0.5 * length(x2 - x0)});
    return off > allowed ? off : 0;
}

double OutlierFinder::tear(const PointFrame& now, std::size_t point) const
{
    std::size_t seen = 0, far = 0;
    double off = 0;
    for (const Neighbour& n : neighbours_[point]) {
        if (!is_seen(now[n.point])) continue;
        ++seen;
        const Vec3d away = now[n.point] - now[point];
        if (dot(away, away) <= 4 * n.distance * n.distance) continue;
        ++far;
        off = std::max(off, length(away) - n.distance);
    }
    return seen >= 3 && 2 * far > seen ? off : 0;
}

std::vector<OutlierFinder::Found> OutlierFinder::find(const PointFrame* before,
                                                      const PointFrame& now,
                                                      const PointFrame* after) const
{
    std::vector<Found> found;
    for (std::size_t p = 0; p < now.size(); ++p) {
        if (!is_seen(now[p])) continue;
        const double off = std::max(jump(before, now, after, p), tear(now, p));
        if (off > 0) found.push_back({int(p), off});
    }
    return found;
}

}  // namespace springtime
