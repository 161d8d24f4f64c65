#include "capture/held_paths.h"

#include <algorithm>
#include <cmath>

#include "capture/smooth_path.h"
#include "capture/spline.h"
#include "core/quantile.h"
#include "motion/bridge_gaps.h"
#include "springtime/error.h"
#include "springtime/motion.h"

namespace springtime {

namespace {

Vec3d median_place(const PointFrame& path)
{
    std::vector<double> along[3];
    for (const Vec3d& x : path) {
        if (!is_seen(x)) continue;
        for (int axis = 0; axis < 3; ++axis) along[axis].push_back(x[axis]);
    }
    return {quantile(along[0], 0.5), quantile(along[1], 0.5), quantile(along[2], 0.5)};
}

// The longest run of frames that do not show the point.
std::size_t longest_gap(const PointFrame& path)
{
    std::size_t longest = 0, run = 0;
    for (const Vec3d& x : path) {
        run = is_seen(x) ? 0 : run + 1;
        longest = std::max(longest, run);
    }
    return longest;
}

// The path as a rollout of one landmark, whose states are estimates.
Rollout rollout_of(const PointFrame& path)
{
    Rollout rollout;
    rollout.frame_count = path.size();
    for (const Vec3d& x : path) {
        for (int axis = 0; axis < 3; ++axis) rollout.position.push_back(float(x[axis]));
    }
    return rollout;
}

}  // namespace

HeldPaths::HeldPaths(std::vector<int> pinned, std::vector<int> driven)
    : landmarks_(std::move(pinned)), pinned_count_(landmarks_.size())
{
    landmarks_.insert(landmarks_.end(), driven.begin(), driven.end());
    paths_.resize(landmarks_.size());
}

void HeldPaths::add(const PointFrame& landmarks)
{
    for (std::size_t h = 0; h < landmarks_.size(); ++h) {
        paths_[h].push_back(landmarks[std::size_t(landmarks_[h])]);
    }
}

namespace {

// Root mean square change of a path where it is seen. [m]
double change_of(const PointFrame& before, const PointFrame& after)
{
    double squares = 0, count = 0;
    for (std::size_t f = 0; f < before.size(); ++f) {
        if (!is_seen(before[f])) continue;
        squares += dot(after[f] - before[f], after[f] - before[f]);
        ++count;
    }
    return std::sqrt(squares / std::max(count, 1.0));
}

}  // namespace

std::vector<Vec3d> HeldPaths::smoothed_path(std::size_t held, double frame_interval, double noisy,
                                            RecordingReport& report) const
{
    constexpr std::size_t kUsual = 5, kNoisy = 11;
    const PointFrame& seen = paths_[held];
    PointFrame path = seen;
    const Rollout rollout = rollout_of(path);
    for (std::size_t f = 0; f < path.size(); ++f) {
        if (is_seen(seen[f])) path[f] = rollout.state(f, frame_interval).position[0];
    }
    const bool much = change_of(seen, path) > noisy;
    if (much) path = smooth_robustly(seen, kNoisy);
    report.smoothing_frames = std::max(report.smoothing_frames, much ? kNoisy : kUsual);
    return path;
}

namespace {

// A path with some places between frames, by a cubic spline.
std::vector<Vec3d> refined(const std::vector<Vec3d>& path, std::size_t per_frame)
{
    if (per_frame == 1 || path.size() < 2) return path;
    std::vector<double> time;
    std::vector<std::vector<double>> numbers;
    for (const Vec3d& x : path) {
        time.push_back(double(time.size()));
        numbers.push_back({x.x, x.y, x.z});
    }
    const Spline spline(std::move(time), std::move(numbers));
    std::vector<Vec3d> fine;
    for (std::size_t k = 0; k < (path.size() - 1) * per_frame + 1; ++k) {
        const std::vector<double> x = spline.at(double(k) / double(per_frame));
        fine.push_back({x[0], x[1], x[2]});
    }
    return fine;
}

}  // namespace

std::vector<Vec3d> HeldPaths::followed_path(std::size_t driven, double key_interval,
                                            std::size_t keys) const
{
    std::vector<Vec3d> path;
    for (std::size_t k = 0; k < keys; ++k) path.push_back(path_(driven, double(k) * key_interval));
    return path;
}

Handles HeldPaths::handles(double frame_interval, bool smooth, double noisy,
                           const std::function<std::string(int)>& label,
                           RecordingReport& report) const
{
    Handles handles;
    handles.particles = landmarks_;
    if (landmarks_.empty()) return handles;
    const std::size_t driven = landmarks_.size() - pinned_count_;
    const std::size_t frames = paths_.front().size();
    // Handles go straight from key to key. Where frames are far apart that would jerk the cloth at
    // every one of them, so a smooth path has keys between frames.
    constexpr double kLongestKey = 0.02;  // [s]
    const std::size_t keys_per_frame =
        smooth || path_ ? std::size_t(std::ceil(frame_interval / kLongestKey - 1e-6)) : 1;
    const double key_interval = frame_interval / double(keys_per_frame);
    const std::size_t keys = driven > 0 ? (frames - 1) * keys_per_frame + 1 : 1;
    std::vector<std::vector<Vec3d>> places;
    double smoothed = 0, moved = 0;
    for (std::size_t h = 0; h < landmarks_.size(); ++h) {
        std::size_t seen = 0;
        for (const Vec3d& x : paths_[h]) seen += is_seen(x);
        if (seen == 0) {
            throw Error(
                "{}: point {} is held, but no frame shows it, or only as an outlier; hold "
                "another",
                report.source, label(landmarks_[h]));
        }
        if (h >= pinned_count_ && path_) {
            places.push_back(followed_path(h - pinned_count_, key_interval, keys));
            continue;
        }
        if (h >= pinned_count_) {
            report.bridged += frames - seen;
            report.longest_bridge = std::max(report.longest_bridge, longest_gap(paths_[h]));
            std::vector<Vec3d> path =
                smooth ? smoothed_path(h, frame_interval, noisy, report) : paths_[h];
            const double change = change_of(paths_[h], path);
            smoothed += change * change;
            bridge_gaps(path);
            places.push_back(refined(path, keys_per_frame));
            continue;
        }
        const Vec3d place = median_place(paths_[h]);
        places.emplace_back(keys, place);
        for (const Vec3d& x : paths_[h]) {
            if (is_seen(x)) moved += dot(x - place, x - place) / double(seen);
        }
    }
    if (driven > 0 && !path_) report.smoothing = std::sqrt(smoothed / double(driven));
    if (pinned_count_ > 0) report.pin_motion = std::sqrt(moved / double(pinned_count_));
    for (std::size_t k = 0; k < keys; ++k) {
        handles.key_time.push_back(double(k) * key_interval);
        for (const auto& path : places) handles.key_position.push_back(path[k]);
    }
    return handles;
}

}  // namespace springtime
