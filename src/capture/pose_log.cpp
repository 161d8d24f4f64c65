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

double angle_of(const Turn& turn)
{
    return 2 * std::atan2(length(Vec3d{turn.x, turn.y, turn.z}), std::abs(turn.w));
}

// ---- The log ----

PoseLog::PoseLog(const std::filesystem::path& file, const Placing& placing, std::size_t held,
                 double zero, double from, double until)
    : source_(file.string()), placing_(placing)
{
    constexpr double kApart = 60;  // [s], clocks of one machine differ by less
    read(file, held);
    shared_clock_ = zero_ + time_.back() - zero > from - kApart &&
                    zero_ + time_.front() - zero < until + kApart;
    const double shift = shared_clock_ ? zero_ - zero : -time_.front();
    for (double& time : time_) time += shift;
    drop_repeats();
    merge_bursts();
    if (time_.size() < 4) {
        throw Error(Field{"handle_path"},
                    "{}: {} poses that differ; the path of what holds the cloth needs more",
                    source_, time_.size());
    }
    make_spline();
}

void PoseLog::read(const std::filesystem::path& file, std::size_t held)
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
    std::vector<std::size_t> order;
    std::vector<double> time;
    std::vector<std::vector<double>> pose;
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
        const double sum = std::accumulate(numbers.begin(), numbers.end(), frame.time);
        if (!std::isfinite(sum)) continue;
        order.push_back(order.size());
        time.push_back(frame.time);
        pose.push_back(std::move(numbers));
    }
    if (order.empty()) throw Error(Field{"handle_path"}, "{}: no row has a pose", source_);
    // Messages of several senders may come in another order than they were sent.
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return time[a] < time[b]; });
    for (const std::size_t i : order) {
        time_.push_back(time[i]);
        pose_.push_back(std::move(pose[i]));
    }
}

// A log that is written faster than poses are measured repeats them. What repeats for half a second
// and more stands still.
void PoseLog::drop_repeats()
{
    constexpr double kRest = 0.5;  // [s]
    std::vector<double> time;
    std::vector<std::vector<double>> pose;
    for (std::size_t i = 0; i < time_.size();) {
        std::size_t end = i + 1;
        while (end < time_.size() && pose_[end] == pose_[i]) ++end;
        const bool rests = time_[end - 1] - time_[i] >= kRest;
        for (std::size_t k = i; k < (rests ? end : i + 1); ++k) {
            time.push_back(time_[k]);
            pose.push_back(pose_[k]);
        }
        i = end;
    }
    time_ = std::move(time);
    pose_ = std::move(pose);
}

// Poses that come much closer than usual would make the spline swing: their means take their place.
void PoseLog::merge_bursts()
{
    constexpr double kClose = 0.25;  // of the mean interval
    if (oriented_) {
        for (std::size_t i = 1; i < pose_.size(); ++i) {  // q and -q are the same rotation
            double product = 0;
            for (std::size_t c = 3; c < 7; ++c) product += pose_[i][c] * pose_[i - 1][c];
            for (std::size_t c = 3; c < 7 && product < 0; ++c) pose_[i][c] = -pose_[i][c];
        }
    }
    const double close =
        kClose * (time_.back() - time_.front()) / double(std::max<std::size_t>(1, time_.size() - 1));
    std::vector<double> time;
    std::vector<std::vector<double>> pose;
    for (std::size_t i = 0; i < time_.size();) {
        std::size_t end = i + 1;
        while (end < time_.size() && time_[end] - time_[i] <= close) ++end;
        const double share = 1 / double(end - i);
        std::vector<double> mean(pose_[i].size(), 0);
        double when = 0;
        for (std::size_t k = i; k < end; ++k) {
            when += share * (time_[k] - time_[i]);
            for (std::size_t c = 0; c < mean.size(); ++c) mean[c] += share * pose_[k][c];
        }
        time.push_back(time_[i] + when);
        pose.push_back(std::move(mean));
        i = end;
    }
    time_ = std::move(time);
    pose_ = std::move(pose);
}

// The natural cubic spline: second derivatives from a tridiagonal system, zero at both ends.
void PoseLog::make_spline()
{
    const std::size_t count = time_.size(), channels = pose_.front().size();
    bend_.assign(count, std::vector<double>(channels, 0));
    std::vector<double> diagonal(count, 1), above(count, 0);
    for (std::size_t i = 1; i + 1 < count; ++i) {
        const double left = time_[i] - time_[i - 1], right = time_[i + 1] - time_[i];
        const double factor = i > 1 ? left / diagonal[i - 1] : 0;
        diagonal[i] = 2 * (left + right) - factor * above[i - 1];
        above[i] = right;
        for (std::size_t c = 0; c < channels; ++c) {
            bend_[i][c] = 6 * ((pose_[i + 1][c] - pose_[i][c]) / right -
                               (pose_[i][c] - pose_[i - 1][c]) / left) -
                          factor * bend_[i - 1][c];
        }
    }
    for (std::size_t i = count - 2; i > 0; --i) {
        for (std::size_t c = 0; c < channels; ++c) {
            bend_[i][c] = (bend_[i][c] - above[i] * bend_[i + 1][c]) / diagonal[i];
        }
    }
}

// `after` is the first pose behind the time.
double PoseLog::value(std::size_t channel, std::size_t after, double time) const
{
    const double step = time_[after] - time_[after - 1];
    const double b = (time - time_[after - 1]) / step, a = 1 - b;
    return a * pose_[after - 1][channel] + b * pose_[after][channel] +
           step * step / 6 *
               ((a * a * a - a) * bend_[after - 1][channel] +
                (b * b * b - b) * bend_[after][channel]);
}

Vec3d PoseLog::place(std::size_t held, double time, const Vec3d& offset) const
{
    time = std::clamp(time, time_.front(), time_.back());
    const auto behind = std::upper_bound(time_.begin() + 1, time_.end() - 1, time);
    const auto after = std::size_t(behind - time_.begin());
    const std::size_t first = tools_ == 1 ? 0 : 3 * held;
    const Vec3d place{value(first, after, time), value(first + 1, after, time),
                      value(first + 2, after, time)};
    if (!oriented_) return place + offset;
    Turn turn{value(3, after, time), value(4, after, time), value(5, after, time),
              value(6, after, time)};
    const double norm = std::sqrt(turn.x * turn.x + turn.y * turn.y + turn.z * turn.z +
                                  turn.w * turn.w);
    for (double* part : {&turn.x, &turn.y, &turn.z, &turn.w}) *part /= std::max(norm, 1e-300);
    return place + placing_.direction(turn(offset));
}

double PoseLog::spread() const
{
    std::vector<double> along[3];
    for (const auto& pose : pose_) {
        for (std::size_t axis = 0; axis < 3; ++axis) along[axis].push_back(pose[axis]);
    }
    const Vec3d middle{quantile(along[0], 0.5), quantile(along[1], 0.5), quantile(along[2], 0.5)};
    std::vector<double> away;
    for (const auto& pose : pose_) away.push_back(length(Vec3d{pose[0], pose[1], pose[2]} - middle));
    return quantile(away, 0.5);
}

void PoseLog::scale_by(double factor)
{
    for (auto* numbers : {&pose_, &bend_}) {
        for (auto& pose : *numbers) {
            for (std::size_t c = 0; c < 3 * tools_; ++c) pose[c] *= factor;
        }
    }
}

}  // namespace springtime
