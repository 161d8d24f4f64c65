#include "motion/tracker_bias.h"

#include <algorithm>
#include <cmath>

#include "core/quantile.h"

namespace springtime {

namespace {

// Where held landmarks are in the mean at the start, if they stay there for a while.
std::optional<Vec3d> still_middle(const Handles& handles, double size)
{
    constexpr double kSeconds = 0.4, kStill = 0.02;  // of the size
    if (!handles.moving()) return std::nullopt;
    Vec3d middle{};
    for (std::size_t h = 0; h < handles.particles.size(); ++h) {
        const Vec3d begin = handles.position(h, 0);
        middle += (1 / double(handles.particles.size())) * begin;
        for (const double share : {0.25, 0.5, 0.75, 1.0}) {
            const Vec3d moved = handles.position(h, share * kSeconds) - begin;
            if (length(moved) > kStill * size) return std::nullopt;
        }
    }
    return middle;
}

}  // namespace

std::vector<Vec3d> first_frame_beside(const Rollout& first, const Handles& handles,
                                      const TrackerBias& tracker, double size)
{
    constexpr double kCut = 3, kHangs = 0.15;  // of the median, and the median of the size
    const std::optional<Vec3d> middle = still_middle(handles, size);
    if (!middle || tracker.hanging.empty()) return {};
    std::vector<Vec3d> beside(tracker.hanging.size());
    std::vector<double> distances;
    for (std::size_t l = 0; l < beside.size(); ++l) {
        const bool held = std::find(handles.particles.begin(), handles.particles.end(), int(l)) !=
                          handles.particles.end();
        if (held || !first.seen(0, l)) continue;
        const float* x = &first.position[3 * l];
        beside[l] = Vec3d{x[0], x[1], x[2]} - tracker.common[l] - tracker.hanging[l] - *middle;
        distances.push_back(length(beside[l]));
    }
    if (distances.empty()) return {};
    const double usual = quantile(distances, 0.5);
    if (usual > kHangs * size) return {};  // held points stand still, but the cloth swings
    for (Vec3d& x : beside) x = std::min(1.0, kCut * usual / std::max(length(x), 1e-12)) * x;
    return beside;
}

std::vector<Vec3d> bias_of_recording(const Rollout& first, const Handles& handles,
                                     const TrackerBias& tracker, double size)
{
    std::vector<Vec3d> bias = tracker.common;
    const std::vector<Vec3d> beside = first_frame_beside(first, handles, tracker, size);
    for (std::size_t l = 0; l < beside.size(); ++l) bias[l] += tracker.own * beside[l];
    return bias;
}

}  // namespace springtime
