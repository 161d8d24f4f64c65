#include <algorithm>
#include <cmath>
#include <numeric>

#include "capture/clean_frames.h"
#include "capture/held_logs.h"
#include "capture/held_paths.h"
#include "capture/import_warnings.h"
#include "capture/outliers.h"
#include "core/atomic_file.h"
#include "core/quantile.h"
#include "springtime/error.h"
#include "springtime/files.h"

namespace springtime {

namespace {

namespace fs = std::filesystem;

void check_positive(const char* field, const std::optional<double>& value)
{
    if (!value || (*value > 0 && std::isfinite(*value))) return;
    throw Error(Field{field}, "{}; it must be finite and positive", *value);
}

void check_options(const ImportOptions& options)
{
    if (!(options.mass > 0) || !std::isfinite(options.mass)) {
        throw Error(Field{"mass"},
                    "{} kg is not a mass; no file says it, so give that of the whole cloth [kg]",
                    options.mass);
    }
    check_positive("length", options.length);
    check_positive("width", options.width);
    check_positive("unit", options.unit);
    check_positive("rest_unit", options.rest_unit);
    check_positive("frame_rate", options.frame_rate);
    check_positive("longest_step", options.longest_step);
    for (const auto& [time, name] : {std::pair{options.from, "from"}, {options.until, "until"}}) {
        if (!time || (*time >= 0 && std::isfinite(*time))) continue;
        throw Error(Field{name}, "{} s; a time must be finite and not negative", *time);
    }
    const bool mesh = !options.rest.empty();
    if (options.grid && mesh) {
        throw Error(Field{"grid"},
                    "`rest`, too, says where points lie in the flat sheet; give one");
    }
    if (options.column_order && !options.grid) {
        throw Error(Field{"column_order"}, "it says how a grid is listed; give `grid` too");
    }
    if (options.rest_unit && !mesh) {
        throw Error(Field{"rest_unit"}, "it is that of a mesh; give `rest` too");
    }
    if (options.rest_frame && (mesh || options.grid)) {
        throw Error(Field{"rest_frame"}, "{}, too, says where points lie; give one",
                    mesh ? "`rest`" : "`grid`");
    }
    if (options.handle_delay &&
        (options.handle_path.empty() || !std::isfinite(*options.handle_delay))) {
        throw Error(Field{"handle_delay"},
                    "{} s; it is that of the recording behind a file of `handle_path`, finite",
                    *options.handle_delay);
    }
    if (!options.handle_path.empty() && options.driven.empty()) {
        throw Error(Field{"handle_path"},
                    "it moves held points, but none is named; name them with `driven`");
    }
    check_environment(options.environment);
}

void check_handle_paths(const ImportOptions& options, const std::vector<TrackFiles>& recordings)
{
    if (options.handle_path.empty() || options.handle_path.size() == recordings.size()) return;
    throw Error(Field{"handle_path"},
                "{} files for {} recordings; name one for each, in the same order",
                options.handle_path.size(), recordings.size());
}

// A rest shape may lie among the frames, but is none.
std::vector<TrackFiles> without(std::vector<TrackFiles> recordings, const fs::path& rest)
{
    std::error_code none;  // where one of them is not there they are not the same
    for (TrackFiles& recording : recordings) {
        std::erase_if(recording,
                      [&](const fs::path& file) { return fs::equivalent(file, rest, none); });
    }
    std::erase_if(recordings, [](const TrackFiles& recording) { return recording.empty(); });
    return recordings;
}

// ---- All recordings together ----

void check_same_points(const std::vector<RecordingScan>& scans)
{
    const TrackInfo& first = scans.front().info;
    for (const RecordingScan& scan : scans) {
        if (scan.info.point_count != first.point_count) {
            throw Error(
                "{}: {} points, but {} has {}; recordings of one motion show the same points",
                scan.info.source, scan.info.point_count, first.source, first.point_count);
        }
        if (scan.info.names != first.names) {
            throw Error(
                "{}: its points have other names than those of {}; recordings of one motion show "
                "the "
                "same points",
                scan.info.source, first.source);
        }
        if (scan.info.unit != first.unit || scan.info.up != first.up) {
            throw Error(
                "{}: it states another unit or up axis than {}; convert one, or import them "
                "separately",
                scan.info.source, first.source);
        }
    }
}

// The same recording twice would be trained on and validate at the same time.
void check_different(const std::vector<RecordingScan>& scans)
{
    for (std::size_t i = 0; i < scans.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            const auto &a = scans[i].samples, &b = scans[j].samples;
            if (scans[i].stamps.time.size() != scans[j].stamps.time.size() ||
                !std::equal(a.begin(), a.end(), b.begin(), b.end(), same_points)) {
                continue;
            }
            throw Error(
                "{} and {} are the same recording, which would be trained on and validate at the "
                "same time; name it once",
                scans[j].info.source, scans[i].info.source);
        }
    }
}

void check_all_seen(const std::vector<RecordingScan>& scans, const PointLayout& layout)
{
    for (const RecordingScan& scan : scans) {
        std::vector<int> never;
        for (std::size_t l = 0; l < scan.seen.size(); ++l) {
            if (scan.seen[l] == 0) never.push_back(int(l));
        }
        if (never.empty()) continue;
        throw Error(
            "{}: point {} is missing in all {} frames{}; leave it out with `dropped` particle:{}",
            scan.info.source, layout.label(never.front()), scan.stamps.time.size(),
            never.size() > 1 ? fmt::format(", and so are {} others", never.size() - 1) : "",
            layout.points[std::size_t(never.front())]);
    }
}

// A round number of frames per second when that is what was meant: it changes no time by more than
// a fiftieth of a frame.
double rounded_interval(const FramePlan& plan)
{
    const double rate = 1 / plan.interval;
    for (const double round : {std::round(rate), std::round(rate * 1.001) / 1.001}) {
        if (round > 0 && std::abs(rate / round - 1) * double(plan.frame_count) < 0.02) {
            return 1 / round;
        }
    }
    return plan.interval;
}

// All at the interval of the first.
std::vector<FramePlan> plan_recordings(const std::vector<RecordingScan>& scans,
                                       const ImportOptions& options)
{
    double interval = options.frame_rate ? 1 / *options.frame_rate : 0;
    if (!(interval > 0) && !scans.front().info.times) {
        interval = 1 / scans.front().info.rate.value_or(1);
    }
    std::vector<FramePlan> plans;
    for (const RecordingScan& scan : scans) {
        FramePlan plan = plan_frames(scan.stamps, interval, scan.info.source);
        if (!(interval > 0)) {
            interval = rounded_interval(plan);
            FramePlan rounded = plan_frames(scan.stamps, interval, scan.info.source);
            if (rounded.another_rate) {
                interval = plan.interval;
            } else {
                plan = std::move(rounded);
            }
        }
        plans.push_back(std::move(plan));
    }
    return plans;
}

bool any_gaps(const std::vector<RecordingScan>& scans, const std::vector<FramePlan>& plans)
{
    for (std::size_t t = 0; t < scans.size(); ++t) {
        if (plans[t].lost > 0 || plans[t].resampled) return true;
        for (const std::size_t seen : scans[t].seen) {
            if (seen < scans[t].stamps.time.size()) return true;
        }
    }
    return false;
}

double most_residual(const std::vector<RecordingScan>& scans, const PointLayout& layout)
{
    std::vector<double> all;
    for (const RecordingScan& scan : scans) {
        all.insert(all.end(), scan.residuals.begin(), scan.residuals.end());
    }
    return all.empty() ? 0 : layout.placing.unit * quantile(all, 0.9);
}

// Of independent Gaussian noise, a point is off the middle of its neighbours in time by sqrt(3/2)
// of it along every axis, and the median of the length is 1.5382 of that.
void set_noise(const std::vector<double>& residuals, double unit, RecordingReport& recording)
{
    if (residuals.empty()) return;
    const double share = std::sqrt(1.5);
    double squares = 0;
    for (const double r : residuals) squares += r * r / double(residuals.size());
    recording.noise = unit * quantile(residuals, 0.5) / (1.5382 * share);
    recording.noise_rms = unit * std::sqrt(squares / 3) / share;
}

MotionHeader header_of(const std::vector<RecordingScan>& scans, const std::vector<FramePlan>& plans,
                       const PointLayout& layout, const ImportOptions& options)
{
    constexpr double kMostSteps = 1e6;
    MotionHeader header;
    header.sheet = layout.shape.sheet;
    header.rest = layout.shape.rest;
    const double interval = plans.front().interval;
    const double steps = std::max(1.0, std::ceil(interval / options.longest_step - 1e-9));
    if (!(steps < kMostSteps)) {
        throw Error(Field{"longest_step"}, "{} s; a frame of {} s would be {} steps, so raise it",
                    options.longest_step, interval, steps);
    }
    header.stride = int(steps);
    header.dt = interval / steps;
    header.environment = options.environment;
    header.rollouts_planned = int(scans.size());
    header.captured = true;
    header.config = options.config;
    header.velocities = options.file_velocities &&
                        std::all_of(scans.begin(), scans.end(),
                                    [](const RecordingScan& s) { return s.info.velocities; });
    // Outliers are found while frames are written, and become gaps, as points without a velocity
    // do.
    header.gaps = any_gaps(scans, plans) || !options.keep_outliers || header.velocities;
    return header;
}

// Where rows repeat the frame before, a frame was seen at some time between two rows: the stamps
// are off by as much as a number that is uniform over that interval.
std::optional<double> logging_jitter(const FrameStamps& stamps, const FramePlan& plan)
{
    constexpr double kOften = 0.1;  // of all rows
    if (double(plan.duplicates) < kOften * double(stamps.time.size())) return std::nullopt;
    std::vector<double> steps;
    for (std::size_t i = 1; i < stamps.time.size(); ++i) {
        steps.push_back(stamps.time[i] - stamps.time[i - 1]);
    }
    return quantile(steps, 0.5) / std::sqrt(12.0);
}

// ---- Writing ----

void append(std::vector<float>& to, const PointFrame& from)
{
    for (const Vec3d& a : from) {
        for (int axis = 0; axis < 3; ++axis) to.push_back(float(a[axis]));
    }
}

struct Writing {
    const std::vector<RecordingScan>& scans;
    const std::vector<FramePlan>& plans;
    const PointLayout& layout;
    const ImportOptions& options;
    ImportReport& report;
    double residual;
    std::optional<HeldLogs> logs;  // where there are files of what moves the driven points
    std::function<void(double share)> progress;

    RecordingReport recording_report(std::size_t t) const
    {
        const FramePlan& plan = plans[t];
        RecordingReport recording;
        recording.source = scans[t].info.source;
        recording.format = scans[t].info.format;
        recording.frames_read = scans[t].stamps.time.size();
        recording.frame_count = plan.frame_count;
        recording.duplicates = plan.duplicates;
        recording.backward = plan.backward;
        recording.trimmed = plan.trimmed;
        recording.resampled = plan.resampled;
        recording.another_rate = plan.another_rate;
        recording.uneven = plan.uneven;
        recording.file_rate = 1 / plan.file_interval;
        recording.jitter = plan.jitter;
        recording.own_clock = scans[t].stamp_jitter.has_value();
        recording.stamp_jitter =
            recording.own_clock ? scans[t].stamp_jitter : logging_jitter(scans[t].stamps, plan);
        recording.remarks = scans[t].info.remarks;
        set_noise(scans[t].residuals, layout.placing.unit, recording);
        return recording;
    }

    ImportOptions stored() const
    {
        ImportOptions changed = options;
        changed.file_velocities = report.header.velocities;  // of all recordings or of none
        return changed;
    }

    // Driven points to where the logs have them.
    void follow(CleanFrames::Frame& frame, std::size_t t, double time) const
    {
        constexpr double kStep = 1e-3;  // [s]
        for (std::size_t d = 0; d < report.driven.size(); ++d) {
            const auto landmark = std::size_t(report.driven[d]);
            frame.position[landmark] = logs->place(t, d, time);
            if (frame.velocity.empty()) continue;
            frame.velocity[landmark] =
                (0.5 / kStep) * (logs->place(t, d, time + kStep) - logs->place(t, d, time - kStep));
        }
    }

    void write(MotionWriter& writer, std::size_t t) const
    {
        constexpr std::size_t kPieceBytes = 8 << 20;
        const FramePlan& plan = plans[t];
        RecordingReport recording = recording_report(t);
        const ImportOptions as_stored = stored();
        CleanFrames frames(scans[t], plan, layout, as_stored, residual);
        HeldPaths held(report.pinned, report.driven);
        if (logs) {
            held.follow([&](std::size_t driven, double time) {
                return logs->place(t, driven, plan.start + time);
            });
            recording.handle_log = logs->report(t);
        }
        FirstSight sight(layout.points.size());
        const std::size_t most =
            std::max<std::size_t>(1, kPieceBytes / (12 * layout.points.size()));
        writer.append(plan.frame_count, [&](std::size_t first, std::size_t count) {
            Rollout piece;
            piece.frame_count = std::min(count, most);
            for (std::size_t f = 0; f < piece.frame_count; ++f) {
                CleanFrames::Frame frame = frames.next();
                if (logs) follow(frame, t, plan.start + double(first + f) * plan.interval);
                append(piece.position, frame.position);
                if (report.header.velocities) append(piece.velocity, frame.velocity);
                held.add(frame.position);
                sight.add(frame.position);
                if (f % 64 == 0) progress(frames.share());
            }
            if (first + piece.frame_count == plan.frame_count) {
                piece.handles = held.handles(
                    plan.interval, options.smooth_handles, noisy_path(report.header.sheet),
                    [&](int landmark) { return layout.label(landmark); }, recording);
            }
            return piece;
        });
        frames.report(recording);
        recording.late = sight.late();
        if (sight.whole())
            recording.whole_from = plan.start + double(*sight.whole()) * plan.interval;
        report.recordings.push_back(std::move(recording));
    }
};

// ---- The report ----

std::vector<int> held_landmarks(const ImportReport& report)
{
    std::vector<int> held = report.pinned;
    held.insert(held.end(), report.driven.begin(), report.driven.end());
    return held;
}

// What is known before anything is written.
ImportReport report_of(const PointLayout& layout, const TrackInfo& info,
                       const ImportOptions& options)
{
    ImportReport report;
    report.pinned = landmarks_named(layout, info, options.pinned, "pinned");
    report.driven = landmarks_named(layout, info, options.driven, "driven");
    for (std::size_t l = 0; l < layout.points.size(); ++l) {
        report.labels.push_back(layout.names.empty() ? fmt::format("{}", layout.points[l])
                                                     : layout.names[l]);
    }
    report.named = !layout.names.empty();
    report.warnings = layout.warnings;
    for (const int l : report.driven) {
        if (!std::binary_search(report.pinned.begin(), report.pinned.end(), l)) continue;
        throw Error(Field{"driven"}, "point {} is in `pinned` too; it is one or the other",
                    layout.label(l));
    }
    report.unit = layout.placing.unit;
    report.unit_reason = layout.unit_reason;
    report.up = layout.placing.up;
    report.up_reason = layout.up_reason;
    report.rest_reason = layout.rest_reason;
    report.rest_strain = layout.strain;
    report.stretch = layout.stretch;
    report.outliers_kept = options.keep_outliers || options.trust;
    return report;
}

}  // namespace

ImportReport import_motion(const std::vector<fs::path>& files, const fs::path& out,
                           const ImportOptions& options, const Progress& progress)
{
    const std::vector<TrackFiles> named = recordings_of(files),
                                  recordings = without(named, options.rest);
    check_options(options);
    check_file_target(out, options.overwrite);
    if (recordings.empty()) {
        throw Error("import: no files{}; name what is to be read",
                    named.empty() ? "" : " but that of `rest`");
    }
    check_handle_paths(options, recordings);
    const auto step = [&](double passes_done, std::size_t recording, double share) {
        const double done = passes_done + (double(recording) + share) / double(recordings.size());
        progress.report({"import", done, 2, "passes", ""});
    };
    std::vector<RecordingScan> scans;
    for (std::size_t t = 0; t < recordings.size(); ++t) {
        const std::vector<std::string> names =
            scans.empty() ? std::vector<std::string>() : scans.front().info.names;
        scans.push_back(scan_recording(recordings[t], options, names,
                                       [&](double share) { step(0, t, share); }));
    }
    check_same_points(scans);
    check_different(scans);
    const std::vector<FramePlan> plans = plan_recordings(scans, options);
    const PointLayout layout = lay_out(scans, options);
    check_all_seen(scans, layout);
    ImportReport report = report_of(layout, scans.front().info, options);
    if (!options.trust) {
        check_hanging(scans, layout, held_landmarks(report), options.environment);
    }
    report.header = header_of(scans, plans, layout, options);
    Writing writing{scans, plans, layout, options, report, most_residual(scans, layout), {}, {}};
    if (!options.handle_path.empty()) {
        writing.logs.emplace(scans, plans, layout, writing.stored(), report, writing.residual);
        report.header.environment.gravity = writing.logs->gravity();
    }
    MotionWriter writer(out, report.header, options.overwrite);
    try {
        for (std::size_t t = 0; t < scans.size(); ++t) {
            writing.progress = [&](double share) { step(1, t, share); };
            writing.write(writer, t);
        }
        writer.finish();
    } catch (...) {
        writer.discard();  // nobody could finish it
        throw;
    }
    add_warnings(report);
    return report;
}

}  // namespace springtime
