#include "capture/clean_frames.h"

#include <algorithm>
#include <cmath>

#include "springtime/error.h"

namespace springtime {

CleanFrames::CleanFrames(const RecordingScan& scan, const FramePlan& plan,
                         const PointLayout& layout, const ImportOptions& options,
                         double most_residual)
    : plan_(plan),
      layout_(layout),
      options_(options),
      reader_(open_recording(scan.recording, options, scan.info.names)),
      clock_(reader_->info(), options),
      time_(scan.stamps.time),
      finder_(layout.shape.rest, most_residual)
{
}

std::optional<CleanFrames::Timed> CleanFrames::read()
{
    TrackFrame frame;
    while (reader_->next(frame)) {
        Timed timed;
        timed.time = clock_(frame);
        if (!clock_.wanted(timed.time)) continue;
        if (in_file_ == plan_.kept.size()) break;
        timed.time = time_[in_file_];
        if (!plan_.kept[in_file_++]) continue;
        const auto recording = [&](const std::vector<double>& numbers, PointFrame& to) {
            to = points_of(numbers, layout_.points);
            for (Vec3d& a : to) a = layout_.placing(a);
        };
        recording(frame.position, timed.position);
        if (options_.file_velocities && !frame.velocity.empty()) {
            recording(frame.velocity, timed.velocity);
        }
        for (std::size_t l = 0; l < timed.velocity.size(); ++l) {  // both are there or none is
            if (!is_seen(timed.velocity[l])) timed.position[l] = kMissingPoint;
            if (!is_seen(timed.position[l])) timed.velocity[l] = kMissingPoint;
        }
        return timed;
    }
    if (in_file_ != plan_.kept.size()) {
        throw Error("{}: has changed while it was read; import it again", reader_->info().source);
    }
    return std::nullopt;
}

// Outliers are found in the frames as they were read: a point that is removed still shows how its
// neighbours moved.
void CleanFrames::remove_outliers(Timed& now, const Timed* after)
{
    constexpr std::size_t kMostNamed = 100;
    const auto found = finder_.find(before_ ? &before_->position : nullptr, now.position,
                                    after ? &after->position : nullptr);
    outlier_count_ += found.size();
    for (const auto& [landmark, off] : found) {
        const double frame = std::round((now.time - plan_.start) / plan_.interval);
        if (outliers_.size() < kMostNamed) {
            outliers_.push_back({std::size_t(std::max(0.0, frame)), landmark, off});
        }
        if (options_.keep_outliers || options_.trust) continue;
        now.position[std::size_t(landmark)] = kMissingPoint;
        ++now.removed;
        if (!now.velocity.empty()) now.velocity[std::size_t(landmark)] = kMissingPoint;
    }
}

std::optional<CleanFrames::Timed> CleanFrames::read_sound()
{
    if (!begun_) {
        waiting_ = read();
        begun_ = true;
    }
    if (!waiting_) return std::nullopt;
    std::optional<Timed> after = read();
    Timed now = *waiting_;
    remove_outliers(now, after ? &*after : nullptr);
    before_ = std::move(waiting_);
    waiting_ = std::move(after);
    return now;
}

// Reads until two frames lie after the time, and lets go of all but two before.
void CleanFrames::look_ahead(double time)
{
    const auto after = [&] {
        return std::count_if(near_.begin(), near_.end(),
                             [&](const Timed& frame) { return frame.time > time; });
    };
    while (after() < 2) {
        std::optional<Timed> frame = read_sound();
        if (!frame) break;
        near_.push_back(std::move(*frame));
        while (near_.size() > 2 && near_[2].time <= time) near_.pop_front();
    }
    while (near_.size() > 2 && near_[2].time <= time) near_.pop_front();
}

// The value of a field between frames: the cubic through two on each side where all four show the
// landmark, else the line through one on each side. Missing where frames were lost between these.
Vec3d CleanFrames::between(PointFrame Frame::*field, std::size_t landmark, double time) const
{
    std::ptrdiff_t after = 0;
    while (after < std::ssize(near_) && near_[after].time <= time) ++after;
    const auto value = [&](std::ptrdiff_t i) {
        return i < 0 || i >= std::ssize(near_) ? kMissingPoint : (near_[i].*field)[landmark];
    };
    const Vec3d left = value(after - 1), right = value(after);
    const double slack = kOnTime * plan_.file_interval;
    if (after > 0 && near_[after - 1].time >= time - slack) return left;
    if (after < std::ssize(near_) && near_[after].time <= time + slack) return right;
    if (!is_seen(left) || !is_seen(right)) return kMissingPoint;
    if (near_[after].time - near_[after - 1].time > plan_.longest_step) return kMissingPoint;
    const bool four = is_seen(value(after - 2)) && is_seen(value(after + 1));
    const std::ptrdiff_t first = four ? after - 2 : after - 1, count = four ? 4 : 2;
    Vec3d sum{};  // Lagrange's form
    for (std::ptrdiff_t i = first; i < first + count; ++i) {
        double weight = 1;
        for (std::ptrdiff_t j = first; j < first + count; ++j) {
            if (j == i) continue;
            weight *= (time - near_[j].time) / (near_[i].time - near_[j].time);
        }
        sum += weight * value(i);
    }
    return sum;
}

CleanFrames::Frame CleanFrames::resampled(double time)
{
    const std::size_t landmarks = layout_.points.size();
    Frame frame;
    frame.position.assign(landmarks, kMissingPoint);
    look_ahead(time);
    const bool velocities = !near_.empty() && !near_.front().velocity.empty();
    if (velocities) frame.velocity.assign(landmarks, kMissingPoint);
    for (std::size_t l = 0; l < landmarks; ++l) {
        frame.position[l] = between(&Frame::position, l, time);
        if (velocities && is_seen(frame.position[l])) {
            frame.velocity[l] = between(&Frame::velocity, l, time);
        }
    }
    return frame;
}

// The frame that waits if it is the one for this time; otherwise the file has none for it.
CleanFrames::Frame CleanFrames::as_read(double time)
{
    if (near_.empty()) {
        if (auto read_now = read_sound()) near_.push_back(std::move(*read_now));
    }
    Frame frame;
    if (!near_.empty() && near_.front().time < time + 0.5 * plan_.interval) {
        frame = std::move(near_.front());
        near_.pop_front();
        return frame;
    }
    frame.position.assign(layout_.points.size(), kMissingPoint);
    if (options_.file_velocities && reader_->info().velocities) frame.velocity = frame.position;
    return frame;
}

void CleanFrames::count_gaps(const Frame& frame)
{
    const auto seen = std::count_if(frame.position.begin(), frame.position.end(), is_seen);
    if (seen == 0 && frame.removed == 0) {
        ++blank_;
    } else {
        missing_ += frame.position.size() - std::size_t(seen) - frame.removed;
    }
}

CleanFrames::Frame CleanFrames::next()
{
    const double time = plan_.start + double(made_++) * plan_.interval;
    Frame frame = plan_.resampled ? resampled(time) : as_read(time);
    count_gaps(frame);
    return frame;
}

void CleanFrames::report(RecordingReport& report) const
{
    report.missing = missing_;
    report.lost = plan_.lost;
    report.empty = blank_ - plan_.lost;
    report.outlier_count = outlier_count_;
    report.outliers = outliers_;
}

}  // namespace springtime
