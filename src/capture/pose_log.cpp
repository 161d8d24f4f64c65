#include "capture/pose_log.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/quantile.h"
#include "springtime/error.h"

namespace springtime {

// ---- Rotations ----

Vec3d Turn::operator()(const Vec3d& a) const
{
    const Vec3d axis{x, y, z}, t = 2.0 * cross(axis, a);
    return a + w * t + cross(axis, t);
}

Turn operator*(const Turn& p, const Turn& q)
{
    return {p.w * q.x + p.x * q.w + p.y * q.z - p.z * q.y,
            p.w * q.y - p.x * q.z + p.y * q.w + p.z * q.x,
            p.w * q.z + p.x * q.y - p.y * q.x + p.z * q.w,
            p.w * q.w - p.x * q.x - p.y * q.y - p.z * q.z};
}

Turn turn_by(const Vec3d& vector)
{
    const double angle = length(vector);
    const double share = angle > 1e-12 ? std::sin(0.5 * angle) / angle : 0.5;
    return {share * vector.x, share * vector.y, share * vector.z, std::cos(0.5 * angle)};
}

Turn inverse(const Turn& turn)
{
    return {-turn.x, -turn.y, -turn.z, turn.w};
}

double angle_of(const Turn& turn)
{
    return 2 * std::atan2(length(Vec3d{turn.x, turn.y, turn.z}), std::abs(turn.w));
}

// ---- The log ----

PoseLog::PoseLog(const std::filesystem::path& file, const Placing& placing, std::size_t held,
                 double zero, double from, double until)
    : source_(file.string()), placing_(placing)
{
    constexpr double kEpoch = 1e8;  // [s], clocks beyond it count from 1970
    Poses poses = read(file, held);
    const double begin = zero_ + poses.time.front(), end = zero_ + poses.time.back();
    shared_clock_ =
        (begin > kEpoch && zero > kEpoch) || (end > zero + from && begin < zero + until);
    const double shift = shared_clock_ ? zero_ - zero : from - poses.time.front();
    for (double& time : poses.time) time += shift;
    poses = without_bursts(without_repeats(poses));
    if (poses.time.size() < 4) {
        throw Error(Field{"handle_path"},
                    "{}: {} poses that differ; the path of what holds the cloth needs more",
                    source_, poses.time.size());
    }
    path_ = Spline(std::move(poses.time), std::move(poses.numbers));
}

PoseLog::Poses PoseLog::read(const std::filesystem::path& file, std::size_t held)
{
    TrackHints hints;
    hints.poses = true;
    const auto reader = open_tracks({file}, hints);
    const TrackInfo& info = reader->info();
    remarks_ = info.remarks;
    states_unit_ = info.unit.has_value();
    placing_.unit = info.unit.value_or(placing_.unit);
    if (!info.times) {
        throw Error(Field{"handle_path"},
                    "{}: it has no times, so it cannot be set beside the recording; add a column "
                    "of times",
                    source_);
    }
    tools_ = info.point_count;
    if (tools_ != 1 && tools_ != held) {
        throw Error(Field{"handle_path"},
                    "{}: {} points, but {} are named with `driven`; it must have the pose of one "
                    "tool, or a path for each of them",
                    source_, tools_, held);
    }
    oriented_ = info.orientations && tools_ == 1;
    zero_ = info.clock_zero;
    Poses listed;
    for (TrackFrame frame; reader->next(frame);) {
        std::vector<double> numbers;
        for (std::size_t t = 0; t < tools_; ++t) {
            const double* x = &frame.position[3 * t];
            const Vec3d place = placing_({x[0], x[1], x[2]});
            numbers.insert(numbers.end(), {place.x, place.y, place.z});
        }
        if (oriented_) {
            numbers.insert(numbers.end(), frame.orientation.begin(), frame.orientation.end());
        }
        if (!std::isfinite(std::accumulate(numbers.begin(), numbers.end(), frame.time))) continue;
        listed.time.push_back(frame.time);
        listed.numbers.push_back(std::move(numbers));
    }
    if (listed.time.empty()) throw Error(Field{"handle_path"}, "{}: no row has a pose", source_);
    // Messages of several senders may come in another order than they were sent.
    std::vector<std::size_t> order(listed.time.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return listed.time[a] < listed.time[b]; });
    Poses poses;
    for (const std::size_t i : order) {
        poses.time.push_back(listed.time[i]);
        poses.numbers.push_back(std::move(listed.numbers[i]));
    }
    return poses;
}

// A log that is written faster than poses are measured repeats them. What repeats for half a second
// and more stands still.
PoseLog::Poses PoseLog::without_repeats(const Poses& poses) const
{
    constexpr double kRest = 0.5;  // [s]
    Poses kept;
    for (std::size_t i = 0; i < poses.time.size();) {
        std::size_t end = i + 1;
        while (end < poses.time.size() && poses.numbers[end] == poses.numbers[i]) ++end;
        const bool rests = poses.time[end - 1] - poses.time[i] >= kRest;
        for (std::size_t k = i; k < (rests ? end : i + 1); ++k) {
            kept.time.push_back(poses.time[k]);
            kept.numbers.push_back(poses.numbers[k]);
        }
        i = end;
    }
    return kept;
}

// Poses that come much closer than usual would make the spline swing: their means take their place.
PoseLog::Poses PoseLog::without_bursts(Poses poses) const
{
    constexpr double kClose = 0.25;  // of the mean interval
    for (std::size_t i = 1; i < poses.time.size() && oriented_; ++i) {
        double product = 0;  // q and -q are the same rotation
        for (std::size_t c = 3; c < 7; ++c)
            product += poses.numbers[i][c] * poses.numbers[i - 1][c];
        for (std::size_t c = 3; c < 7 && product < 0; ++c) poses.numbers[i][c] *= -1;
    }
    const double close = kClose * (poses.time.back() - poses.time.front()) /
                         double(std::max<std::size_t>(1, poses.time.size() - 1));
    Poses means;
    for (std::size_t i = 0; i < poses.time.size();) {
        std::size_t end = i + 1;
        while (end < poses.time.size() && poses.time[end] - poses.time[i] <= close) ++end;
        const double share = 1 / double(end - i);
        std::vector<double> mean(poses.numbers[i].size(), 0);
        double when = 0;
        for (std::size_t k = i; k < end; ++k) {
            when += share * (poses.time[k] - poses.time[i]);
            for (std::size_t c = 0; c < mean.size(); ++c) mean[c] += share * poses.numbers[k][c];
        }
        means.time.push_back(poses.time[i] + when);
        means.numbers.push_back(std::move(mean));
        i = end;
    }
    return means;
}

Vec3d PoseLog::place(std::size_t held, double time, const Vec3d& offset) const
{
    const std::vector<double> pose = path_.at(time);
    const std::size_t first = tools_ == 1 ? 0 : 3 * held;
    const Vec3d place{pose[first], pose[first + 1], pose[first + 2]};
    if (!oriented_) return place + offset;
    Turn turn{pose[3], pose[4], pose[5], pose[6]};
    const double norm = std::hypot(std::hypot(turn.x, turn.y), std::hypot(turn.z, turn.w));
    for (double* part : {&turn.x, &turn.y, &turn.z, &turn.w}) *part /= std::max(norm, 1e-300);
    return place + placing_.direction(turn(offset));
}

double PoseLog::spread() const
{
    std::vector<double> along[3], away;
    for (const auto& pose : path_.numbers()) {
        for (std::size_t axis = 0; axis < 3; ++axis) along[axis].push_back(pose[axis]);
    }
    const Vec3d middle{quantile(along[0], 0.5), quantile(along[1], 0.5), quantile(along[2], 0.5)};
    for (const auto& pose : path_.numbers()) {
        away.push_back(length(Vec3d{pose[0], pose[1], pose[2]} - middle));
    }
    return quantile(away, 0.5);
}

void PoseLog::scale_by(double factor)
{
    std::vector<std::vector<double>> numbers = path_.numbers();
    for (auto& pose : numbers) {
        for (std::size_t c = 0; c < 3 * tools_; ++c) pose[c] *= factor;
    }
    path_ = Spline(path_.time(), std::move(numbers));
}

}  // namespace springtime
