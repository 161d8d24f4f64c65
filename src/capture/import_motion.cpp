#include <algorithm>
#include <cmath>
#include <numeric>

#include "capture/clean_frames.h"
#include "capture/first_sight.h"
#include "capture/held_paths.h"
#include "capture/outliers.h"
#include "core/quantile.h"
#include "formats/text_file.h"
#include "springtime/error.h"
#include "springtime/files.h"

namespace springtime {

namespace {

namespace fs = std::filesystem;

void check_options(const ImportOptions& options)
{
    if (!(options.mass > 0) || !std::isfinite(options.mass)) {
        throw Error(
            "import: a mass of {} kg; no file says it, so give --mass, the mass of the whole cloth "
            "[kg]",
            options.mass);
    }
    for (const auto& [value, flag] :
         {std::pair{options.length, "--length"}, std::pair{options.width, "--width"},
          std::pair{options.unit, "--unit"}, std::pair{options.rest_unit, "--rest-unit"},
          std::pair{options.frame_rate, "--fps"}, std::pair{options.from, "--from"},
          std::pair{options.until, "--until"}}) {
        if (value >= 0 && std::isfinite(value)) continue;
        throw Error("{} {}: must be finite and not negative", flag, value);
    }
    if (!(options.longest_step > 0)) {
        throw Error("--dt {}: the longest step must be positive", options.longest_step);
    }
    if (options.grid && !options.rest.empty()) {
        throw Error("--grid and --rest: both say where points lie in the flat sheet; give one");
    }
    if (options.column_order && !options.grid) {
        throw Error("--column-order: says how a grid is listed; give --grid too");
    }
    if (options.rest_unit > 0 && options.rest.empty()) {
        throw Error("--rest-unit: is that of a mesh; give --rest too");
    }
    if (!options.rest.empty() && options.rest_frame >= 0) {
        throw Error("--rest and --rest-frame: both say where points lie; give one");
    }
    if (options.grid && options.rest_frame >= 0) {
        throw Error("--grid and --rest-frame: both say where points lie; give one");
    }
    check_environment(options.environment);
}

// A rest shape may lie among the frames, but is none.
std::vector<Take> without(std::vector<Take> takes, const fs::path& rest)
{
    std::error_code none;  // where one of them is not there they are not the same
    for (Take& take : takes) {
        std::erase_if(take, [&](const fs::path& file) { return fs::equivalent(file, rest, none); });
    }
    std::erase_if(takes, [](const Take& take) { return take.empty(); });
    return takes;
}

// ---- All takes together ----

void check_same_points(const std::vector<TakeScan>& scans)
{
    const TrackInfo& first = scans.front().info;
    for (const TakeScan& scan : scans) {
        if (scan.info.point_count != first.point_count) {
            throw Error("{}: {} points, but {} has {}; takes of one motion show the same points",
                        scan.info.source, scan.info.point_count, first.source, first.point_count);
        }
        if (scan.info.names != first.names) {
            throw Error(
                "{}: its points are named otherwise than those of {}; takes of one motion show the "
                "same points",
                scan.info.source, first.source);
        }
        if (scan.info.unit != first.unit || scan.info.up != first.up) {
            throw Error(
                "{}: says that it has another unit or up axis than {}; convert one, or import them "
                "apart",
                scan.info.source, first.source);
        }
    }
}

void check_all_seen(const std::vector<TakeScan>& scans, const PointLayout& layout)
{
    for (const TakeScan& scan : scans) {
        std::vector<int> never;
        for (std::size_t l = 0; l < scan.seen.size(); ++l) {
            if (scan.seen[l] == 0) never.push_back(int(l));
        }
        if (never.empty()) continue;
        throw Error(
            "{}: point {} is missing in all {} frames{}; leave it out with --drop particle:{}",
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
std::vector<FramePlan> plan_takes(const std::vector<TakeScan>& scans, const ImportOptions& options)
{
    double interval = options.frame_rate > 0 ? 1 / options.frame_rate : 0;
    if (!(interval > 0) && !scans.front().info.times) {
        interval = 1 / scans.front().info.rate.value_or(1);
    }
    std::vector<FramePlan> plans;
    for (const TakeScan& scan : scans) {
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

bool any_gaps(const std::vector<TakeScan>& scans, const std::vector<FramePlan>& plans)
{
    for (std::size_t t = 0; t < scans.size(); ++t) {
        if (plans[t].lost > 0 || plans[t].resampled) return true;
        for (const std::size_t seen : scans[t].seen) {
            if (seen < scans[t].stamps.time.size()) return true;
        }
    }
    return false;
}

double most_wobble(const std::vector<TakeScan>& scans, const PointLayout& layout)
{
    std::vector<double> all;
    for (const TakeScan& scan : scans) {
        all.insert(all.end(), scan.wobbles.begin(), scan.wobbles.end());
    }
    return all.empty() ? 0 : layout.placing.unit * quantile(all, 0.9);
}

MotionHeader header_of(const std::vector<TakeScan>& scans, const std::vector<FramePlan>& plans,
                       const PointLayout& layout, const ImportOptions& options)
{
    constexpr double kMostSteps = 1e6;
    MotionHeader header;
    header.sheet = layout.shape.sheet;
    header.rest = layout.shape.rest;
    const double interval = plans.front().interval;
    const double steps = std::max(1.0, std::ceil(interval / options.longest_step - 1e-9));
    if (!(steps < kMostSteps)) {
        throw Error("--dt {}: a frame of {} s would be {} steps; raise it", options.longest_step,
                    interval, steps);
    }
    header.stride = int(steps);
    header.dt = interval / steps;
    header.environment = options.environment;
    header.rollouts_planned = int(scans.size());
    header.captured = true;
    header.config = options.config;
    header.velocities =
        options.file_velocities && std::all_of(scans.begin(), scans.end(),
                                               [](const TakeScan& s) { return s.info.velocities; });
    // Outliers are found while frames are written, and become gaps, as points without a velocity
    // do.
    header.gaps = any_gaps(scans, plans) || !options.keep_outliers || header.velocities;
    return header;
}

// ---- Writing ----

void append(std::vector<float>& to, const PointFrame& from)
{
    for (const Vec3d& a : from) {
        for (int axis = 0; axis < 3; ++axis) to.push_back(float(a[axis]));
    }
}

struct Writing {
    const std::vector<TakeScan>& scans;
    const std::vector<FramePlan>& plans;
    const PointLayout& layout;
    const ImportOptions& options;
    ImportReport& report;
    double wobble;
    std::function<void(double take_share)> progress;

    TakeReport take_report(std::size_t t) const
    {
        const FramePlan& plan = plans[t];
        TakeReport take;
        take.source = scans[t].info.source;
        take.format = scans[t].info.format;
        take.frames_read = scans[t].stamps.time.size();
        take.frame_count = plan.frame_count;
        take.duplicates = plan.duplicates;
        take.backward = plan.backward;
        take.trimmed = plan.trimmed;
        take.resampled = plan.resampled;
        take.another_rate = plan.another_rate;
        take.uneven = plan.uneven;
        take.file_rate = 1 / plan.file_interval;
        take.jitter = plan.jitter;
        take.remarks = scans[t].info.remarks;
        return take;
    }

    void write(MotionWriter& writer, std::size_t t) const
    {
        constexpr std::size_t kPieceBytes = 8 << 20;
        const FramePlan& plan = plans[t];
        TakeReport take = take_report(t);
        ImportOptions stored = options;
        stored.file_velocities = report.header.velocities;  // of all takes or of none
        CleanFrames frames(scans[t], plan, layout, stored, wobble);
        HeldPaths held(report.pinned, report.driven);
        FirstSight sight(layout.points.size());
        const std::size_t most =
            std::max<std::size_t>(1, kPieceBytes / (12 * layout.points.size()));
        writer.append(plan.frame_count, [&](std::size_t first, std::size_t count) {
            Rollout piece;
            piece.frame_count = std::min(count, most);
            for (std::size_t f = 0; f < piece.frame_count; ++f) {
                const CleanFrames::Frame frame = frames.next();
                append(piece.position, frame.position);
                if (report.header.velocities) append(piece.velocity, frame.velocity);
                held.add(frame.position);
                sight.add(frame.position);
                if (f % 64 == 0) progress(frames.share());
            }
            if (first + piece.frame_count == plan.frame_count) {
                piece.handles = held.handles(
                    plan.interval, options.smooth_handles,
                    [&](int landmark) { return layout.label(landmark); }, take);
            }
            return piece;
        });
        frames.report(take);
        take.late = sight.late();
        if (sight.whole()) take.whole_from = plan.start + double(*sight.whole()) * plan.interval;
        report.takes.push_back(std::move(take));
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
    report.pinned = landmarks_named(layout, info, options.pinned, "--pinned");
    report.driven = landmarks_named(layout, info, options.driven, "--driven");
    for (std::size_t l = 0; l < layout.points.size(); ++l) {
        report.labels.push_back(layout.names.empty() ? fmt::format("{}", layout.points[l])
                                                     : layout.names[l]);
    }
    report.named = !layout.names.empty();
    report.warnings = layout.warnings;
    for (const int l : report.driven) {
        if (!std::binary_search(report.pinned.begin(), report.pinned.end(), l)) continue;
        throw Error("point {} is both --pinned and --driven; it is one or the other",
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

// A time with as few decimals as tell its frame from the one before. [s]
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
            "no point is held: a cloth in free fall tells little; name held points with --pinned "
            "or --driven");
    }
    for (const TakeReport& take : report.takes) {
        const double observations = double(take.frame_count * report.header.landmark_count());
        const double interval = report.header.frame_interval();
        if (take.late > 2) {
            warn(fmt::format(
                "{}: some point is not seen before frame {}, so that the start of the motion is a "
                "guess; {}",
                take.source, take.late,
                take.whole_from < 0
                    ? "no three frames in a row show all: --drop the worst points"
                    : "begin later, with --from " + short_time(take.whole_from, interval)));
        }
        if (double(take.longest_bridge) * interval > 0.1) {
            warn(fmt::format(
                "{}: a driven point is missing for {:.2g} s at a time, and its path is drawn "
                "straight "
                "through; leave that out with --from and --until, or cut the take there",
                take.source, double(take.longest_bridge) * interval));
        }
        if (take.pin_motion > 0.02 * side) {
            warn(fmt::format(
                "{}: pinned points move by {:.3g} m (rms); if they were moved, name them with "
                "--driven",
                take.source, take.pin_motion));
        }
        const double read = double(take.frames_read * report.header.landmark_count());
        if (double(take.outlier_count) > 0.05 * read) {
            warn(fmt::format(
                "{}: {:.0f} % of all points look like outliers; check --grid, the order of the "
                "points and --unit",
                take.source, 100 * double(take.outlier_count) / read));
        }
        const double gaps =
            double(take.missing + (take.lost + take.empty) * report.header.landmark_count());
        if (gaps > 0.5 * observations) {
            warn(fmt::format("{}: {:.0f} % of all points are missing", take.source,
                             100 * gaps / observations));
        }
    }
}

}  // namespace

ImportReport import_motion(const std::vector<fs::path>& files, const fs::path& out,
                           const ImportOptions& options, const Progress& progress)
{
    const std::vector<Take> named = takes_of(files), takes = without(named, options.rest);
    check_options(options);
    check_target(out);
    if (takes.empty()) {
        throw Error("import: no files{}; name what is to be read",
                    named.empty() ? "" : " but that of --rest");
    }
    const auto step = [&](double passes_done, std::size_t take, double share) {
        const double done = passes_done + (double(take) + share) / double(takes.size());
        progress.report({"import", done, 2, "passes", {}});
    };
    std::vector<TakeScan> scans;
    for (std::size_t t = 0; t < takes.size(); ++t) {
        const std::vector<std::string> names =
            scans.empty() ? std::vector<std::string>() : scans.front().info.names;
        scans.push_back(
            scan_take(takes[t], options, names, [&](double share) { step(0, t, share); }));
    }
    check_same_points(scans);
    const std::vector<FramePlan> plans = plan_takes(scans, options);
    const PointLayout layout = lay_out(scans, options);
    check_all_seen(scans, layout);
    ImportReport report = report_of(layout, scans.front().info, options);
    if (!options.trust) {
        check_hanging(scans, layout, held_landmarks(report), options.environment);
    }
    report.header = header_of(scans, plans, layout, options);
    Writing writing{scans, plans, layout, options, report, most_wobble(scans, layout), {}};
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
