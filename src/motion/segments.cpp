#include "springtime/motion.h"

#include <algorithm>
#include <cmath>

#include "geometry/point_line.h"
#include "geometry/triangle_search.h"
#include "springtime/error.h"

namespace springtime {

Motion cut_into_segments(const Motion& motion, std::size_t segments)
{
    struct Segment {
        std::size_t rollout, begin;
    };
    Motion cut;
    cut.header = motion.header;
    std::vector<Segment> table;
    for (std::size_t r = 0; r < motion.frame_counts.size(); ++r) {
        const std::size_t frames = motion.frame_counts[r];
        if (segments == 0 || frames < 2 * segments) {
            throw Error("motion: {} frames cannot be cut into {} segments; each needs 2", frames,
                        segments);
        }
        for (std::size_t i = 0; i < segments; ++i) {
            const std::size_t begin = i * frames / segments, end = (i + 1) * frames / segments;
            table.push_back({r, begin});
            cut.frame_counts.push_back(end - begin);
        }
    }
    cut.read = [read = motion.read, table](std::size_t segment, std::size_t first,
                                           std::size_t count) {
        return read(table[segment].rollout, table[segment].begin + first, count);
    };
    return cut;
}

std::size_t segment_count(const Motion& motion)
{
    constexpr double kInAll = 5;
    const std::vector<std::size_t>& frames = motion.frame_counts;
    if (frames.empty()) return 1;
    // A single rollout has to be cut; of several the windows of the linear solve need their length.
    const double seconds = frames.size() == 1 ? 0.5 : 1;
    const double each = std::ceil(seconds / motion.header.frame_interval() - 1e-6) + 1;
    const double shortest = double(*std::min_element(frames.begin(), frames.end()));
    const double most =
        std::min(std::ceil(kInAll / double(frames.size())), std::floor(shortest / each));
    return std::size_t(std::max(most, frames.size() == 1 ? 2.0 : 1.0));
}

Motion select_rollouts(const Motion& motion, const std::vector<std::size_t>& rollouts)
{
    Motion selected;
    selected.header = motion.header;
    if (motion.source) selected.source = MotionSource{motion.source->path, {}};
    for (const std::size_t r : rollouts) {
        if (r >= motion.rollout_count()) {
            throw Error("motion: rollout {} asked for, but it has {}; count from 0", r,
                        motion.rollout_count());
        }
        selected.frame_counts.push_back(motion.frame_counts[r]);
        if (motion.source) selected.source->rollouts.push_back(motion.source->rollouts[r]);
    }
    selected.read = [read = motion.read, rollouts](std::size_t rollout, std::size_t first,
                                                   std::size_t count) {
        return read(rollouts[rollout], first, count);
    };
    return selected;
}

std::optional<Grid> regular_grid(const std::vector<SheetPoint>& rest)
{
    if (rest.size() < 2) return std::nullopt;
    double extent = 0;
    for (const SheetPoint& x : rest) extent = std::max(extent, length(x - rest[0]));
    const auto near = [&](double a, double b) { return std::abs(a - b) <= 1e-3 * extent; };
    std::size_t cols = 1;
    while (cols < rest.size() && near(rest[cols].v, rest[0].v)) ++cols;
    const std::size_t rows = rest.size() / cols;
    if (rows * cols != rest.size()) return std::nullopt;
    const auto step = [](double from, double to, std::size_t count) {
        return count > 1 ? (to - from) / double(count - 1) : 0;
    };
    const double du = step(rest[0].u, rest[cols - 1].u, cols);
    const double dv = step(rest[0].v, rest[cols * (rows - 1)].v, rows);
    if (!(du > 0 || cols == 1) || !(dv > 0 || rows == 1)) return std::nullopt;
    for (std::size_t i = 0; i < rest.size(); ++i) {
        const double u = rest[0].u + du * double(i % cols), v = rest[0].v + dv * double(i / cols);
        if (!near(rest[i].u, u) || !near(rest[i].v, v)) return std::nullopt;
    }
    return Grid{int(rows), int(cols)};
}

namespace {

constexpr int kLeastOwn = 3, kMostOwn = 64;  // particles along a side of a grid of landmarks

// A row whose particles are as close to each other as the two closest landmarks, so that points
// that are held side by side have particles of their own.
Grid fitting_row(const std::vector<SheetPoint>& rest, const PointLine& line)
{
    const std::vector<int> order = order_along(line, rest);
    double closest = line.extent;
    for (std::size_t i = 1; i < order.size(); ++i) {
        const double apart = length(rest[std::size_t(order[i])] - rest[std::size_t(order[i - 1])]);
        if (apart > kSamePlace * line.extent) closest = std::min(closest, apart);
    }
    const int count =
        int(std::clamp(std::round(line.extent / closest) + 1, double(kLeastOwn), double(kMostOwn)));
    const bool along_v = std::abs(line.direction.v) > std::abs(line.direction.u);
    return along_v ? Grid{count, 1} : Grid{1, count};
}

}  // namespace

Grid fitting_grid(const MotionHeader& header)
{
    constexpr int kLeast = 4, kMost = 32;
    if (const auto grid = regular_grid(header.rest)) {
        const auto [least, most] = std::minmax(grid->rows, grid->cols);
        if ((least == 1 || least >= kLeastOwn) && most >= kLeastOwn && most <= kMostOwn) {
            return *grid;
        }
    }
    if (const auto line = line_of(header.rest)) return fitting_row(header.rest, *line);
    const double count = double(header.landmark_count());
    const double aspect = header.sheet.length / header.sheet.width;
    const auto side = [](double particles) {
        return int(std::clamp(std::round(particles), double(kLeast), double(kMost)));
    };
    return {side(std::sqrt(count / aspect)), side(std::sqrt(count * aspect))};
}

}  // namespace springtime
