#include "springtime/generate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/random.h"
#include "springtime/error.h"

namespace springtime {

namespace {

// Streams of their own: one seed also makes the starts of the rollouts, and noise must not change
// with the gaps.
constexpr std::uint64_t kNoiseStreams = 0x6E6F697365, kGapStreams = 0x67617073;

// Losing and finding a landmark is a chain of two states, frame by frame. The mean length of a gap
// is 1 / found frames, and the share of gaps lost / (lost + found) at every frame, the first
// included.
struct GapChain {
    double share, lost, found;  // the chances, from one frame to the next

    GapChain(const ObserveOptions& options, double frame_interval)
        : share(options.gaps), found(1 / std::max(1.0, options.gap_seconds / frame_interval))
    {
        lost = found * share / (1 - share);
    }
};

void lose(Rollout& rollout, std::size_t frame, std::size_t landmark)
{
    const std::size_t first = 3 * (frame * rollout.landmark_count() + landmark);
    for (auto* values : {&rollout.position, &rollout.velocity, &rollout.acceleration}) {
        if (values->empty()) continue;
        std::fill_n(values->begin() + std::ptrdiff_t(first), 3,
                    std::numeric_limits<float>::quiet_NaN());
    }
}

void add_noise(Rollout& rollout, double noise, Random random)
{
    for (float& x : rollout.position) x = float(double(x) + noise * random.normal());
}

void add_gaps(Rollout& rollout, const GapChain& chain, Random random)
{
    for (std::size_t landmark = 0; landmark < rollout.landmark_count(); ++landmark) {
        bool missing = random.uniform() < chain.share;
        for (std::size_t frame = 0; frame < rollout.frame_count; ++frame) {
            if (missing) lose(rollout, frame, landmark);
            const double draw = random.uniform();
            missing = missing ? draw >= chain.found : draw < chain.lost;
        }
    }
}

// Every so many rows and columns of a grid of points, in their order.
std::vector<int> seen_points(const Grid& grid, int every)
{
    std::vector<int> points;
    for (int row = 0; row < grid.rows; row += every) {
        for (int col = 0; col < grid.cols; col += every) points.push_back(row * grid.cols + col);
    }
    return points;
}

template <class T>
std::vector<T> picked(const std::vector<T>& rows, std::size_t width, std::size_t numbers,
                      const std::vector<int>& kept)
{
    std::vector<T> result;
    if (rows.empty()) return result;
    result.reserve(rows.size() / width * kept.size());
    for (std::size_t first = 0; first < rows.size(); first += width * numbers) {
        for (const int i : kept) {
            const auto at = rows.begin() + std::ptrdiff_t(first + std::size_t(i) * numbers);
            result.insert(result.end(), at, at + std::ptrdiff_t(numbers));
        }
    }
    return result;
}

// Without the handles of points that are not seen.
Handles seen_handles(const Handles& handles, const std::vector<int>& points)
{
    Handles seen;
    std::vector<int> kept;
    for (std::size_t h = 0; h < handles.particles.size(); ++h) {
        const auto at = std::lower_bound(points.begin(), points.end(), handles.particles[h]);
        if (at == points.end() || *at != handles.particles[h]) continue;
        seen.particles.push_back(int(at - points.begin()));
        kept.push_back(int(h));
    }
    if (kept.empty() && !handles.particles.empty()) {
        throw Error(Field{"every"},
                    "observe: none of the {} held landmarks is seen; see more landmarks, or hold "
                    "more of them",
                    handles.particles.size());
    }
    seen.key_time = handles.key_time;
    seen.key_position = picked(handles.key_position, handles.particles.size(), 1, kept);
    return seen;
}

// `grid` is that of the points that are seen.
void thin(Rollout& rollout, const Grid& grid, int every)
{
    const auto before = [&](int count) { return (count - 1) * every + 1; };
    const Grid all{before(grid.rows), before(grid.cols)};
    const std::vector<int> points = seen_points(all, every);
    const std::size_t landmarks = std::size_t(all.rows) * std::size_t(all.cols);
    for (auto* values : {&rollout.position, &rollout.velocity, &rollout.acceleration}) {
        *values = picked(*values, landmarks, 3, points);
    }
    rollout.handles = seen_handles(rollout.handles, points);
}

}  // namespace

void set_frame_rate(double fps, double& dt, int& stride)
{
    constexpr double kMostSteps = 1e9, kRounding = 1e-9;  // 1/50 s is 20 ms, whatever 1/fps/dt says
    if (!(fps > 0) || !std::isfinite(fps)) {
        throw Error(Field{"fps"}, "{} frames a second; the rate must be positive", fps);
    }
    const double steps = std::max(1.0, std::ceil((1 - kRounding) / (fps * dt)));
    if (!(steps <= kMostSteps)) {
        throw Error(Field{"fps"},
                    "{} frames a second: a frame would be {} steps of {} s; raise "
                    "one of them",
                    fps, steps, dt);
    }
    stride = int(steps);
    dt = 1 / (fps * steps);
}

void check_observe(const ObserveOptions& options, const MotionHeader& header)
{
    const double most = std::hypot(header.sheet.length, header.sheet.width);
    if (!(options.noise >= 0 && options.noise <= most)) {
        throw Error(Field{"noise"},
                    "observe: noise of {} m on a sheet with a diagonal of {:.4g} m; 0 to that is "
                    "needed",
                    options.noise, most);
    }
    if (!(options.gaps >= 0 && options.gaps < 1)) {
        throw Error("observe: a share of gaps of {}; it must lie between 0 and 1", options.gaps);
    }
    if (!std::isfinite(options.gap_seconds) || !(options.gap_seconds > 0)) {
        throw Error("observe: gaps of {} s; their mean length must be positive",
                    options.gap_seconds);
    }
    if (options.every < 1) {
        throw Error(Field{"every"}, "observe: every {}th row and column; 1 or more", options.every);
    }
    if (options.noise > 0 && !options.positions_only) {
        throw Error(
            "observe: noise beside velocities that have none; ask for positions only, which is "
            "all a camera sees");
    }
    if (GapChain(options, header.frame_interval()).lost > 1) {
        throw Error(
            "observe: a share of gaps of {} needs gaps of {:.3g} s at least; lower the share or "
            "make them longer",
            options.gaps, header.frame_interval() * options.gaps / (1 - options.gaps));
    }
}

void observe_header(MotionHeader& header, const ObserveOptions& options)
{
    check_observe(options, header);
    if (options.positions_only) header.velocities = false;
    if (options.gaps > 0) header.gaps = true;
    if (options.every == 1) return;
    const std::optional<Grid> grid = regular_grid(header.rest);
    if (!grid) {
        throw Error(Field{"every"},
                    "observe: the {} landmarks are not a grid, so there are no rows and columns to "
                    "choose from",
                    header.landmark_count());
    }
    if ((grid->rows - 1) % options.every != 0 || (grid->cols - 1) % options.every != 0) {
        throw Error(Field{"every"},
                    "observe: every {}th row and column of {} x {} landmarks leaves out an edge; "
                    "rows and columns less one must be multiples of it",
                    options.every, grid->rows, grid->cols);
    }
    header.rest = picked(header.rest, header.rest.size(), 1, seen_points(*grid, options.every));
}

Rollout observe(const Rollout& rollout, const MotionHeader& header, const ObserveOptions& options,
                std::uint64_t seed, std::size_t rollout_number)
{
    check_observe(options, header);
    Rollout seen = rollout;
    if (options.every > 1) thin(seen, *regular_grid(header.rest), options.every);
    if (options.positions_only) {
        seen.velocity.clear();
        seen.acceleration.clear();
    }
    if (options.noise > 0) {
        add_noise(seen, options.noise, Random::stream(seed ^ kNoiseStreams, rollout_number));
    }
    if (options.gaps > 0) {
        add_gaps(seen, GapChain(options, header.frame_interval()),
                 Random::stream(seed ^ kGapStreams, rollout_number));
    }
    return seen;
}

}  // namespace springtime
