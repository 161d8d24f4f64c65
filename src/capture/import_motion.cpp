#include <algorithm>
#include <cmath>
#include <numeric>

#include "capture/clean_frames.h"
#include "capture/held_paths.h"
#include "capture/outliers.h"
#include "capture/tool_fit.h"
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
    if (options.handle_delay && (options.handle_path.empty() || !std::isfinite(*options.handle_delay))) {
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

// Where rows repeat the frame before, a frame was seen at some time between two rows: the stamps are
// off by as much as a number that is uniform over that interval.
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
    std::vector<PoseLog> logs;  // of every recording, or none
    ToolFit tool;
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
        return recording;
    }

    ImportOptions stored() const
    {
        ImportOptions changed = options;
        changed.file_velocities = report.header.velocities;  // of all recordings or of none
        return changed;
    }

    // Reads the logs of what holds the cloth and finds how the held points follow them.
    void follow_logs()
    {
        if (options.handle_path.empty()) return;
        const ImportOptions as_stored = stored();
        std::vector<HeldTracks> tracks;
        for (std::size_t t = 0; t < scans.size(); ++t) {
            CleanFrames frames(scans[t], plans[t], layout, as_stored, residual);
            HeldTracks track{scans[t].info.source, {}, {}};
            while (const auto frame = frames.next_kept()) {
                PointFrame seen;
                for (const int l : report.driven) seen.push_back(frame->position[std::size_t(l)]);
                track.time.push_back(frame->time);
                track.seen.push_back(std::move(seen));
            }
            logs.emplace_back(options.handle_path[t], layout.placing, report.driven.size(),
                              scans[t].clock_zero, track.time.front(), track.time.back());
            tracks.push_back(std::move(track));
        }
        tool = fit_tool(logs, tracks, options.handle_delay);
    }

    HandleLogReport log_report(std::size_t t) const
    {
        HandleLogReport log;
        log.source = logs[t].source();
        log.delay = tool.takes[t].delay;
        log.delay_error = tool.takes[t].delay_error;
        log.delay_given = options.handle_delay.has_value();
        log.shared_clock = logs[t].shared_clock();
        log.offset = tool.takes[t].offset;
        log.oriented = logs[t].oriented();
        log.turn = angle_of(tool.turn);
        log.residual = tool.takes[t].residual;
        log.usual_residual = tool.takes[t].usual_residual;
        log.remarks = logs[t].remarks();
        return log;
    }

    void write(MotionWriter& writer, std::size_t t) const
    {
        constexpr std::size_t kPieceBytes = 8 << 20;
        const FramePlan& plan = plans[t];
        RecordingReport recording = recording_report(t);
        const ImportOptions as_stored = stored();
        CleanFrames frames(scans[t], plan, layout, as_stored, residual);
        HeldPaths held(report.pinned, report.driven);
        const auto followed = [&](std::size_t driven, double time) {
            return tool.place(logs[t], t, driven, plan.start + time);
        };
        if (!logs.empty()) {
            held.follow(followed);
            recording.handle_log = log_report(t);
        }
        FirstSight sight(layout.points.size());
        const std::size_t most =
            std::max<std::size_t>(1, kPieceBytes / (12 * layout.points.size()));
        writer.append(plan.frame_count, [&](std::size_t first, std::size_t count) {
            Rollout piece;
            piece.frame_count = std::min(count, most);
            for (std::size_t f = 0; f < piece.frame_count; ++f) {
                CleanFrames::Frame frame = frames.next();
                for (std::size_t d = 0; d < report.driven.size() && !logs.empty(); ++d) {
                    frame.position[std::size_t(report.driven[d])] =
                        followed(d, double(first + f) * plan.interval);
                }
                append(piece.position, frame.position);
                if (report.header.velocities) append(piece.velocity, frame.velocity);
                held.add(frame.position);
                sight.add(frame.position);
                if (f % 64 == 0) progress(frames.share());
            }
            if (first + piece.frame_count == plan.frame_count) {
                piece.handles = held.handles(
                    plan.interval, options.smooth_handles,
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

// A time with as few decimals as distinguish its frame from the one before. [s]
std::string short_time(double time, double interval)
{
    int decimals = 0;
    double shown = -HUGE_VAL;
    for (; decimals < 9; ++decimals) {
        const double tens = std::pow(10.0, decimals);
        shown = std::floor(time * tens + 1e-6) / tens;
        if (shown > time - 0.5 * interval) break;
    }
    return fmt::format("{:.{}f}", shown, decimals);
}

void add_warnings(ImportReport& report)
{
    const double side = std::sqrt(report.header.sheet.length * report.header.sheet.width);
    const auto warn = [&](std::string text) { report.warnings.push_back(std::move(text)); };
    if (report.pinned.empty() && report.driven.empty()) {
        warn(
            "no point is held, and a cloth in free fall shows little; name held points with "
            "`pinned` or `driven`");
    }
    for (const RecordingReport& recording : report.recordings) {
        const double observations = double(recording.frame_count * report.header.landmark_count());
        const double interval = report.header.frame_interval();
        if (recording.late > 2) {
            warn(fmt::format(
                "{}: some point is not seen before frame {}, so the start of the motion is a "
                "guess; "
                "{}",
                recording.source, recording.late,
                recording.whole_from
                    ? "begin later, with `from` " + short_time(*recording.whole_from, interval)
                    : "no three frames in a row show all: leave out the worst with `dropped`"));
        }
        if (double(recording.longest_bridge) * interval > 0.1) {
            warn(fmt::format(
                "{}: a driven point is missing for {:.2g} s at a time, and its path is drawn "
                "straight "
                "through; leave that out with `from` and `until`, or cut the recording there",
                recording.source, double(recording.longest_bridge) * interval));
        }
        if (recording.pin_motion > 0.02 * side) {
            warn(fmt::format(
                "{}: pinned points move by {:.3g} m (rms); if they were moved, name them with "
                "`driven`",
                recording.source, recording.pin_motion));
        }
        const double read = double(recording.frames_read * report.header.landmark_count());
        if (double(recording.outlier_count) > 0.05 * read) {
            warn(fmt::format(
                "{}: {:.0f} % of all points look like outliers; check `grid`, the order of the "
                "points and `unit`",
                recording.source, 100 * double(recording.outlier_count) / read));
        }
        const double gaps = double(recording.missing + (recording.lost + recording.empty) *
                                                           report.header.landmark_count());
        if (gaps > 0.5 * observations) {
            warn(fmt::format("{}: {:.0f} % of all points are missing", recording.source,
                             100 * gaps / observations));
        }
    }
}

}  // namespace

ImportReport import_motion(const std::vector<fs::path>& files, const fs::path& out,
                           const ImportOptions& options, const Progress& progress)
{
    const std::vector<TrackFiles> named = recordings_of(files),
                                  recordings = without(named, options.rest);
    check_options(options);
    check_target(out);
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
    const std::vector<FramePlan> plans = plan_recordings(scans, options);
    const PointLayout layout = lay_out(scans, options);
    check_all_seen(scans, layout);
    ImportReport report = report_of(layout, scans.front().info, options);
    if (!options.trust) {
        check_hanging(scans, layout, held_landmarks(report), options.environment);
    }
    report.header = header_of(scans, plans, layout, options);
    Writing writing{scans, plans, layout, options, report, most_residual(scans, layout),
                    {},    {},    {}};
    writing.follow_logs();
    try {
        MotionWriter writer(out, report.header);
        for (std::size_t t = 0; t < scans.size(); ++t) {
            writing.progress = [&](double share) { step(1, t, share); };
            writing.write(writer, t);
        }
        writer.finish();
    } catch (...) {
        std::error_code ignored;  // what matters is on its way already
        fs::remove(part_path(out), ignored);
        throw;
    }
    add_warnings(report);
    return report;
}

}  // namespace springtime
