#include "capture/scan.h"

#include <algorithm>
#include <cmath>

#include "capture/camera_clock.h"
#include "capture/outliers.h"
#include "core/quantile.h"
#include "formats/tracks/open_tracks.h"
#include "springtime/error.h"

namespace springtime {

bool same_points(const PointFrame& a, const PointFrame& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Vec3d& p, const Vec3d& q) {
        return is_seen(p) == is_seen(q) &&
               (!is_seen(p) || (p.x == q.x && p.y == q.y && p.z == q.z));
    });
}

namespace {

// Keeps a few of many frames, evenly spread, however many there will be.
class Sampler {
  public:
    bool wants(std::size_t number) const { return number % step_ == 0; }

    void add(std::vector<PointFrame>& samples, const PointFrame& frame)
    {
        samples.push_back(frame);
        if (samples.size() < kMost) return;
        for (std::size_t i = 1; 2 * i < samples.size(); ++i) samples[i] = std::move(samples[2 * i]);
        samples.resize(kMost / 2);
        step_ *= 2;
    }

  private:
    static constexpr std::size_t kMost = 64;
    std::size_t step_ = 1;
};

bool shows_all(const PointFrame& frame)
{
    return std::all_of(frame.begin(), frame.end(), is_seen);
}

bool shows_none(const PointFrame& frame)
{
    return std::none_of(frame.begin(), frame.end(), is_seen);
}

// Whether some point leaps between two frames, far beyond what the others move and half of the
// distance between neighbours: in one of them it is not where it was seen.
bool leaps(const PointFrame& frame, const PointFrame& next)
{
    constexpr double kBeyond = 10;
    std::vector<double> moves;
    Vec3d low = frame[0], high = low;
    for (std::size_t p = 0; p < frame.size(); ++p) {
        for (int axis = 0; axis < 3; ++axis) {
            low[axis] = std::min(low[axis], frame[p][axis]);
            high[axis] = std::max(high[axis], frame[p][axis]);
        }
        if (is_seen(next[p])) moves.push_back(length(next[p] - frame[p]));
    }
    if (moves.empty()) return false;
    const double spacing = length(high - low) / std::sqrt(double(frame.size()));
    return *std::max_element(moves.begin(), moves.end()) >
           std::max(kBeyond * quantile(moves, 0.9), 0.5 * spacing);
}

// Adds one frame after the other.
class Scanner {
  public:
    Scanner(RecordingScan& scan, const ImportOptions& options) : scan_(scan), options_(options)
    {
        scan_.seen.assign(scan_.points.size(), 0);
    }

    void add(double time, PointFrame frame, const PointFrame& velocity)
    {
        const std::size_t number = scan_.stamps.time.size();
        const bool none = shows_none(frame);
        steps_.push_back(step_by_velocities(last_, frame, velocity));
        scan_.stamps.time.push_back(time);
        // Frames without any point repeat nothing: time goes on in them.
        scan_.stamps.repeated.push_back(!none && number > 0 && same_points(frame, last_));
        scan_.stamps.empty.push_back(none);
        for (std::size_t p = 0; p < frame.size(); ++p) scan_.seen[p] += is_seen(frame[p]);
        take_rest(frame, number);
        if (!none && !scan_.stamps.repeated.back()) sample(frame);
        last_ = std::move(frame);
    }

    // Once all frames have been added.
    void finish()
    {
        // A column that was asked for is taken as it is, and so are frames that are counted.
        if (!options_.time_column.empty() || scan_.stamps.interval > 0) return;
        scan_.stamp_jitter = correct_stamps(scan_.stamps, steps_);
    }

  private:
    // The first frame that shows all, unless the next one contradicts it.
    void take_rest(const PointFrame& frame, std::size_t number)
    {
        if (rest_settled_) return;
        if (!options_.rest_frame && !scan_.rest_frame.empty()) {
            rest_settled_ = !leaps(scan_.rest_frame, frame);
            if (rest_settled_) return;
        }
        const bool chosen = options_.rest_frame ? number == *options_.rest_frame : shows_all(frame);
        if (!chosen) return;
        scan_.rest_frame = frame;
        scan_.rest_frame_number = number;
    }

    void sample(const PointFrame& frame)
    {
        if (sampler_.wants(different_++)) {
            sampler_.add(scan_.samples, frame);
            if (before_.size() == 2) add_residuals(before_[0], before_[1], frame, scan_.residuals);
        }
        if (before_.size() == 2) before_.erase(before_.begin());
        before_.push_back(frame);
    }

    RecordingScan& scan_;
    const ImportOptions& options_;
    Sampler sampler_;
    std::size_t different_ = 0;
    bool rest_settled_ = false;
    PointFrame last_;
    std::vector<std::optional<double>> steps_;  // see step_by_velocities()
    std::vector<PointFrame> before_;            // the last two that differ
};

}  // namespace

PointFrame points_of(const std::vector<double>& numbers, const std::vector<int>& points)
{
    PointFrame frame;
    frame.reserve(points.size());
    for (const int p : points) {
        const double* x = &numbers[3 * std::size_t(p)];
        frame.push_back({x[0], x[1], x[2]});
    }
    return frame;
}

std::vector<int> numbers_named(const TrackInfo& info, const std::string& name,
                               std::string_view field)
{
    const auto found = std::find(info.names.begin(), info.names.end(), name);
    if (found != info.names.end()) return {int(found - info.names.begin())};
    std::vector<int> numbers;
    if (name.ends_with('*')) {
        const std::string_view beginning(name.data(), name.size() - 1);
        for (std::size_t p = 0; p < info.names.size(); ++p) {
            if (info.names[p].starts_with(beginning)) numbers.push_back(int(p));
        }
    } else if (name.starts_with("particle:")) {
        Cloth numbered;
        numbered.rest.resize(info.point_count);
        numbers = particles_named(numbered, name);
    }
    if (!numbers.empty()) return numbers;
    throw Error(Field{std::string(field)},
                "{} has no point named '{}'; give a name, its beginning and a star, or "
                "particle:NUMBER",
                info.source, name);
}

namespace {

std::vector<int> kept_points(const TrackInfo& info, const ImportOptions& options)
{
    std::vector<bool> dropped(info.point_count, false);
    for (const std::string& name : options.dropped) {
        for (const int number : numbers_named(info, name, "dropped")) {
            dropped[std::size_t(number)] = true;
        }
    }
    std::vector<int> kept;
    for (std::size_t p = 0; p < info.point_count; ++p) {
        if (!dropped[p]) kept.push_back(int(p));
    }
    if (kept.size() < 3) {
        throw Error("{}: {} points are left of {}; a sheet needs three", info.source, kept.size(),
                    info.point_count);
    }
    return kept;
}

}  // namespace

FrameClock::FrameClock(const TrackInfo& info, const ImportOptions& options)
    : from_(options.from), until_(options.until)
{
    if (options.frame_rate) interval_ = 1 / *options.frame_rate;
    if (info.times) return;  // stamps are finer than a nominal rate
    const double rate = options.frame_rate.value_or(info.rate.value_or(0));
    if (!(rate > 0)) {
        throw Error(
            "{}: it has no times, so the frame rate must be known; give `frame_rate`, for example "
            "`frame_rate` 60",
            info.source);
    }
    scale_ = interval_ = 1 / rate;
}

double FrameClock::operator()(const TrackFrame& frame)
{
    if (!first_) first_ = frame.time;
    return (frame.time - *first_) * scale_;
}

bool FrameClock::wanted(double time) const
{
    // Times before the first frame are left out only on request: they have to be reported.
    return !(from_ && time < *from_ - 1e-9) && !(until_ && time > *until_ + 1e-9);
}

std::unique_ptr<TrackReader> open_recording(const TrackFiles& recording,
                                            const ImportOptions& options,
                                            const std::vector<std::string>& names)
{
    TrackHints hints;
    hints.layout = options.csv_layout;
    hints.array = options.array;
    hints.time_column = options.time_column;
    hints.with_velocities = options.with_velocities;
    return order_points(open_tracks(recording, hints), names);
}

RecordingScan scan_recording(const TrackFiles& recording, const ImportOptions& options,
                             const std::vector<std::string>& names,
                             const std::function<void(double)>& progress)
{
    const auto reader = open_recording(recording, options, names);
    RecordingScan scan;
    scan.recording = recording;
    scan.info = reader->info();
    scan.points = kept_points(scan.info, options);
    FrameClock clock(scan.info, options);
    if (!scan.info.times) scan.stamps.interval = clock.interval();
    Scanner scanner(scan, options);
    TrackFrame frame;
    std::size_t read = 0;
    while (reader->next(frame)) {
        if (read++ % 16 == 0) progress(reader->share());
        const double time = clock(frame);
        if (read == 1) scan.clock_zero = scan.info.clock_zero + frame.time;
        if (!clock.wanted(time)) continue;
        if (!std::isfinite(time)) {
            throw Error("{}: frame {} has no time; give every frame one, or leave the column out",
                        scan.info.source, read - 1);
        }
        scanner.add(time, points_of(frame.position, scan.points),
                    frame.velocity.empty() ? PointFrame() : points_of(frame.velocity, scan.points));
    }
    scanner.finish();
    if (scan.stamps.time.empty()) {
        throw Error("{}: none of {} frames lies between {} s and {} s; change `from` or `until`",
                    scan.info.source, read, options.from.value_or(0),
                    options.until.value_or(HUGE_VAL));
    }
    return scan;
}

}  // namespace springtime
