#include "import_report.h"

#include <nlohmann/json.hpp>

namespace springtime::app {

namespace {

std::string label_text(const ImportReport& report, int landmark)
{
    const std::string& label = report.labels[std::size_t(landmark)];
    return report.named ? fmt::format("'{}'", label) : label;
}

std::string list_text(const ImportReport& report, const std::vector<int>& landmarks)
{
    constexpr std::size_t kMost = 12;
    if (landmarks.empty()) return "none";
    std::string text;
    for (std::size_t i = 0; i < std::min(kMost, landmarks.size()); ++i) {
        text += (i > 0 ? ", " : "") + label_text(report, landmarks[i]);
    }
    if (landmarks.size() > kMost) text += fmt::format(" and {} more", landmarks.size() - kMost);
    return text;
}

// A length in a unit that people read at a glance.
std::string length_text(double metres)
{
    return metres < 0.1 ? fmt::format("{:.3g} mm", 1000 * metres) : fmt::format("{:.3g} m", metres);
}

// A part of all points of some frames. [%]
double percent(std::size_t count, std::size_t frames, const ImportReport& report)
{
    return 100 * double(count) / (double(frames) * double(report.header.landmark_count()));
}

std::string resampling_text(const ImportReport& report, const TakeReport& take)
{
    const std::string uneven =
        fmt::format("time stamps are uneven (by up to {:.2g} frames)", take.jitter);
    const std::string rates = fmt::format("resampled from {:.6g} to {:.6g} per second",
                                          take.file_rate, 1 / report.header.frame_interval());
    return (take.uneven ? uneven + ": " : "") + (take.another_rate ? rates : "resampled") +
           " by cubics through the four nearest frames";
}

std::string take_text(const ImportReport& report, const TakeReport& take)
{
    std::string text = fmt::format("{} ({}): {} frames read, {} written\n", take.source,
                                   take.format, take.frames_read, take.frame_count);
    const auto line = [&](const std::string& what) { text += "  " + what + "\n"; };
    for (const std::string& remark : take.remarks) line(remark);
    if (take.duplicates > 0)
        line(fmt::format("{} frames repeat the one before: dropped", take.duplicates));
    if (take.backward > 0) {
        line(fmt::format("{} frames come no later than one before: dropped", take.backward));
    }
    if (take.trimmed > 0) {
        line(fmt::format("{} frames at the ends show no point: left out", take.trimmed));
    }
    if (take.lost > 0) {
        line(
            fmt::format("{} frames are absent from the file or were dropped: gaps now", take.lost));
    }
    if (take.empty > 0) line(fmt::format("{} frames show no point: gaps", take.empty));
    if (take.resampled) {
        line(resampling_text(report, take));
    }
    if (take.missing > 0) {
        line(fmt::format("points are not seen {} times ({:.2g} %): gaps", take.missing,
                         percent(take.missing, take.frame_count, report)));
    }
    if (take.outlier_count > 0) {
        const Outlier& first = take.outliers.front();
        line(fmt::format("{} outliers ({:.2g} %), the first in frame {}, point {}, {} off: {}",
                         take.outlier_count, percent(take.outlier_count, take.frames_read, report),
                         first.frame, label_text(report, first.landmark), length_text(first.off),
                         report.outliers_kept ? "kept" : "gaps now"));
    }
    if (take.smoothing > 0) {
        line(fmt::format("driven paths smoothed by quadratics through five frames: {} rms change",
                         length_text(take.smoothing)));
    }
    if (take.bridged > 0) {
        line(
            fmt::format("driven points are missing {} times, {} frames at most: their paths go "
                        "straight through",
                        take.bridged, take.longest_bridge));
    }
    if (take.pin_motion > 0) {
        line(fmt::format("pinned points stand at their median place: seen {} rms from it",
                         length_text(take.pin_motion)));
    }
    return text;
}

}  // namespace

std::string import_text(const ImportReport& report, const std::string& out)
{
    const MotionHeader& header = report.header;
    std::size_t frames = 0;
    for (const TakeReport& take : report.takes) frames += take.frame_count;
    std::string text =
        fmt::format("{}: {} rollout{}, {} landmarks, {} frames at {:.6g} per second\n", out,
                    report.takes.size(), report.takes.size() == 1 ? "" : "s",
                    header.landmark_count(), frames, 1 / header.frame_interval());
    const auto row = [&](const char* name, const std::string& value) {
        text += fmt::format("  {:<12} {}\n", name, value);
    };
    row("sheet", fmt::format("{:.6g} x {:.6g} m, {:.6g} kg", header.sheet.length,
                             header.sheet.width, header.sheet.mass));
    row("rest places", report.rest_reason + (report.rest_strain > 0
                                                 ? fmt::format("; distances change by {:.2g} % rms",
                                                               100 * report.rest_strain)
                                                 : ""));
    row("unit", report.unit_reason);
    row("up", fmt::format("{} of the file, {}", report.up, report.up_reason));
    row("stretch", fmt::format("neighbours are {:.3g} times as far apart as in the flat sheet "
                               "(median)",
                               report.stretch));
    row("pinned", list_text(report, report.pinned));
    row("driven", list_text(report, report.driven));
    row("velocities",
        header.velocities
            ? "those of the file"
            : "not stored: estimated where needed, by quadratics through five frames");
    row("step", fmt::format("{:.3g} ms, {} to a frame", 1000 * header.dt, header.stride));
    for (const TakeReport& take : report.takes) text += take_text(report, take);
    return text;
}

nlohmann::json import_json(const ImportReport& report, const std::string& out)
{
    const MotionHeader& header = report.header;
    nlohmann::json takes = nlohmann::json::array();
    for (const TakeReport& take : report.takes) {
        nlohmann::json outliers = nlohmann::json::array();
        for (const Outlier& outlier : take.outliers) {
            outliers.push_back(
                {{"frame", outlier.frame}, {"landmark", outlier.landmark}, {"off", outlier.off}});
        }
        takes.push_back({{"source", take.source},
                         {"format", take.format},
                         {"frames_read", take.frames_read},
                         {"frames", take.frame_count},
                         {"duplicates", take.duplicates},
                         {"backward", take.backward},
                         {"trimmed", take.trimmed},
                         {"bridged", take.bridged},
                         {"late", take.late},
                         {"lost", take.lost},
                         {"empty", take.empty},
                         {"resampled", take.resampled},
                         {"another_rate", take.another_rate},
                         {"uneven", take.uneven},
                         {"file_rate", take.file_rate},
                         {"jitter", take.jitter},
                         {"missing", take.missing},
                         {"outlier_count", take.outlier_count},
                         {"outliers", outliers},
                         {"smoothing", take.smoothing},
                         {"pin_motion", take.pin_motion},
                         {"remarks", take.remarks}});
    }
    return {{"out", out},
            {"landmarks", header.landmark_count()},
            {"frame_rate", 1 / header.frame_interval()},
            {"dt", header.dt},
            {"stride", header.stride},
            {"sheet", {header.sheet.length, header.sheet.width}},
            {"mass", header.sheet.mass},
            {"unit", report.unit},
            {"unit_reason", report.unit_reason},
            {"up", report.up},
            {"rest_reason", report.rest_reason},
            {"rest_strain", report.rest_strain},
            {"stretch", report.stretch},
            {"pinned", report.pinned},
            {"driven", report.driven},
            {"labels", report.labels},
            {"velocities", header.velocities},
            {"gaps", header.gaps},
            {"takes", takes},
            {"warnings", report.warnings}};
}

}  // namespace springtime::app
