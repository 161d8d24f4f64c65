#include "capture/import_warnings.h"

#include <cmath>

#include "springtime/error.h"

namespace springtime {

namespace {

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

// Paths of driven points that are not known well.
void warn_of_paths(const RecordingReport& recording, double side, double noisy,
                   std::vector<std::string>& warnings)
{
    constexpr double kResidual = 0.1;  // of the side
    constexpr double kUnsure = 0.05;   // [s]
    if (recording.smoothing > noisy) {
        warnings.push_back(fmt::format(
            "{}: smoothing moves driven points by {:.2g} mm (rms), so where they were is not "
            "known better; track them more closely, or give the path of what holds them with "
            "`handle_path`",
            recording.source, 1e3 * recording.smoothing));
    }
    if (recording.handle_log && recording.handle_log->residual > kResidual * side) {
        warnings.push_back(fmt::format(
            "{}: driven points are seen {:.2g} mm (rms) from where {} has them; check that it "
            "is the log of this recording, and `driven`",
            recording.source, 1e3 * recording.handle_log->residual, recording.handle_log->source));
    }
    if (recording.handle_log && recording.handle_log->delay_error > kUnsure) {
        warnings.push_back(fmt::format(
            "{}: the delay behind {} is only known to {:.2g} s, because the driven points "
            "hardly move; give it with `handle_delay`",
            recording.source, recording.handle_log->source, recording.handle_log->delay_error));
    }
}

}  // namespace

double noisy_path(const Sheet& sheet)
{
    return 0.01 * std::sqrt(sheet.length * sheet.width);
}

void add_warnings(ImportReport& report)
{
    const double side = std::sqrt(report.header.sheet.length * report.header.sheet.width);
    const auto warn = [&](std::string text) { report.warnings.push_back(std::move(text)); };
    if (const auto doubt = doubt_about_mass(report.header.sheet)) warn(*doubt);
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
        warn_of_paths(recording, side, noisy_path(report.header.sheet), report.warnings);
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

}  // namespace springtime
