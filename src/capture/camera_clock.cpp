#include "capture/camera_clock.h"

#include <algorithm>
#include <cmath>

namespace springtime {

std::optional<double> step_by_velocities(const PointFrame& before, const PointFrame& now,
                                         const PointFrame& velocity)
{
    constexpr double kExact = 1e-3;  // of the way; other estimates of velocities are off by tenths
    if (velocity.size() != now.size() || before.size() != now.size()) return std::nullopt;
    double product = 0, square = 0, way = 0, off = 0;
    const auto for_known = [&](auto use) {
        for (std::size_t p = 0; p < now.size(); ++p) {
            if (!is_seen(before[p]) || !is_seen(now[p]) || !is_seen(velocity[p])) continue;
            use(now[p] - before[p], velocity[p]);
        }
    };
    for_known([&](const Vec3d& moved, const Vec3d& v) {
        product += dot(moved, v);
        square += dot(v, v);
        way += length(moved);
    });
    if (!(product > 0)) return std::nullopt;
    const double step = product / square;
    for_known([&](const Vec3d& moved, const Vec3d& v) { off += length(moved - step * v); });
    return off < kExact * way ? std::optional(step) : std::nullopt;
}

std::optional<double> correct_stamps(FrameStamps& stamps,
                                     const std::vector<std::optional<double>>& steps)
{
    constexpr double kOften = 0.8;    // of all frames that differ
    constexpr double kFar = 1.5;      // mean intervals
    std::vector<std::size_t> frames;  // that differ
    std::size_t known = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (stamps.repeated[i] || stamps.empty[i]) continue;
        known += !frames.empty() && steps[i].has_value();
        frames.push_back(i);
    }
    if (frames.size() < 3 || double(known) < kOften * double(frames.size() - 1)) {
        return std::nullopt;
    }
    std::vector<double> time = stamps.time;
    double squares = 0, most = 0;
    for (std::size_t first = 0; first < frames.size();) {
        std::size_t end = first + 1;
        double clock = 0, ahead = stamps.time[frames[first]];
        std::vector<double> own = {0};
        for (; end < frames.size() && steps[frames[end]]; ++end) {
            clock += *steps[frames[end]];
            own.push_back(clock);
            ahead += stamps.time[frames[end]] - clock;
        }
        ahead /= double(own.size());
        for (std::size_t k = first; k < end; ++k) {
            const double change = ahead + own[k - first] - stamps.time[frames[k]];
            time[frames[k]] += change;
            squares += change * change;
            most = std::max(most, std::abs(change));
        }
        first = end;
    }
    // What repeats a frame comes as long after it as the stamps say.
    std::size_t last = frames.front();
    for (std::size_t i = 0; i < time.size(); ++i) {
        if (std::binary_search(frames.begin(), frames.end(), i)) last = i;
        if (i > last) time[i] = time[last] + (stamps.time[i] - stamps.time[last]);
    }
    const double interval =
        (stamps.time[frames.back()] - stamps.time[frames.front()]) / double(frames.size() - 1);
    for (std::size_t k = 1; k < frames.size(); ++k) {
        if (!(time[frames[k]] > time[frames[k - 1]])) return std::nullopt;
    }
    if (most > kFar * interval) return std::nullopt;
    stamps.time = std::move(time);
    return std::sqrt(squares / double(frames.size()));
}

}  // namespace springtime
