#include "springtime/error.h"
#include "springtime/import.h"

namespace springtime {

namespace {

// Labels of landmarks, as people know them.
std::vector<std::string> labels_of(const ImportReport& report, const std::vector<int>& landmarks)
{
    std::vector<std::string> labels;
    for (const int landmark : landmarks) labels.push_back(report.labels[std::size_t(landmark)]);
    return labels;
}

// A number of something, which is only worth a line where there is some.
void add_count(Result& result, const char* name, std::size_t count, const char* label)
{
    result.add(name, count).label(label).unless_zero();
}

Result outliers_result(const ImportReport& report, const RecordingReport& recording)
{
    Result outliers = Result::list();
    for (const Outlier& outlier : recording.outliers) {
        Result row = Result::tree();
        row.add("frame", outlier.frame);
        row.add("landmark", outlier.landmark).data_only();
        row.add("point", report.labels[std::size_t(outlier.landmark)]);
        row.add("off", outlier.off, "m");
        outliers.push(row);
    }
    return outliers.first(3).unless_zero();
}

void add_resampling(Result& result, const RecordingReport& recording)
{
    result.add("resampled", recording.resampled)
        .label("resampled by cubics through the four nearest frames")
        .unless_zero();
    result.add("another_rate", recording.another_rate).label("to another frame rate").unless_zero();
    result.add("uneven", recording.uneven).label("because time stamps are uneven").unless_zero();
    Result& rate =
        result.add("file_rate", recording.file_rate, "1/s").label("frame rate of the file");
    if (!recording.resampled) rate.data_only();
    Result& jitter =
        result.add("jitter", recording.jitter, "frames").label("unevenness of time stamps");
    if (!recording.uneven) jitter.data_only();
    result.add("stamp_jitter", recording.stamp_jitter, "s")
        .label(recording.own_clock ? "jitter of time stamps, rms, removed by the clock that "
                                     "velocities show"
                                   : "jitter of time stamps by the interval of the rows, rms")
        .unless_zero();
    result.add("own_clock", recording.own_clock).data_only();
}

Result log_result(const HandleLogReport& log)
{
    Result result = Result::tree(), offsets = Result::list();
    result.add("source", log.source).label("file");
    result.add("delay", log.delay, "s").label("delay of the recording behind it");
    result.add("delay_error", log.delay_error, "s").label("standard error").unless_zero();
    result.add("delay_given", log.delay_given).data_only();
    result.add("shared_clock", log.shared_clock).label("its clock is that of the recording");
    for (const Vec3d& offset : log.offset) {
        offsets.push(std::vector<double>{offset.x, offset.y, offset.z});
    }
    result.add("offsets", offsets, "m")
        .label(log.oriented ? "offsets from the tool, in its axes" : "offsets from it");
    result.add("oriented", log.oriented).data_only();
    result.add("turn", log.turn, "rad")
        .label("angle between its axes and those of the recording")
        .unless_zero();
    result.add("levelled", log.levelled)
        .label("gravity points down in its axes, where the cloth hangs straighter")
        .unless_zero();
    Result& slant = result.add("slant", log.slant, "rad").label("the cloth hangs from there by");
    if (!log.levelled) slant.data_only();
    Result& before =
        result.add("slant_before", log.slant_before, "rad").label("from down as recorded by");
    if (!log.levelled) before.data_only();
    result.add("residual", log.residual, "m").label("seen from there, rms");
    result.add("usual_residual", log.usual_residual, "m").label("seen from there, median");
    result.add("remarks", log.remarks).unless_zero();
    return result;
}

Result recording_result(const ImportReport& report, const RecordingReport& recording)
{
    Result result = Result::tree();
    result.label(fmt::format("{} ({})", recording.source, recording.format));
    result.add("source", recording.source).data_only();
    result.add("format", recording.format).data_only();
    result.add("frames_read", recording.frames_read);
    result.add("frames", recording.frame_count).label("frames written");
    add_count(result, "duplicates", recording.duplicates,
              "frames that repeat the one before: dropped");
    add_count(result, "backward", recording.backward,
              "frames that come no later than one before: dropped");
    add_count(result, "trimmed", recording.trimmed,
              "frames at the ends that show no point: left out");
    add_count(result, "lost", recording.lost, "frames absent from the file, or dropped: gaps now");
    add_count(result, "empty", recording.empty, "frames that show no point: gaps");
    add_resampling(result, recording);
    add_count(result, "missing", recording.missing, "times that a point is not seen: gaps");
    result.add("noise", recording.noise, "m")
        .label("noise of points, per axis: most, by the frames around them")
        .unless_zero();
    result.add("noise_rms", recording.noise_rms, "m")
        .label("the same, rms: more than that where tails are heavy")
        .unless_zero();
    add_count(result, "outlier_count", recording.outlier_count,
              report.outliers_kept ? "outliers: kept" : "outliers: gaps now");
    result.add("smoothing", recording.smoothing, "m")
        .label(fmt::format("driven paths smoothed by quadratics through {} frames, rms change",
                           recording.smoothing_frames))
        .unless_zero();
    result.add("smoothing_frames", recording.smoothing_frames).data_only();
    add_count(result, "bridged", recording.bridged,
              "times that a driven point is missing: its path goes straight through");
    add_count(result, "longest_bridge", recording.longest_bridge, "frames of the longest such gap");
    if (recording.handle_log) {
        result.add("handle_log", log_result(*recording.handle_log)).label("driven points follow");
    }
    result.add("late", recording.late).data_only();
    result.add("pin_motion", recording.pin_motion, "m")
        .label("pinned points stand at their median position, seen rms from it")
        .unless_zero();
    result.add("outliers", outliers_result(report, recording)).label("the first outliers");
    result.add("remarks", recording.remarks).unless_zero();
    return result;
}

}  // namespace

Result report_of(const ImportReport& report)
{
    const MotionHeader& header = report.header;
    Result recordings = Result::list(), result = Result::tree();
    for (const RecordingReport& recording : report.recordings)
        recordings.push(recording_result(report, recording));
    result.add("landmarks", header.landmark_count());
    result.add("frame_rate", 1 / header.frame_interval(), "frames per second");
    result.add("dt", header.dt, "s").label("time step");
    result.add("stride", header.stride).label("time steps per frame");
    result.add("sheet", std::vector<double>{header.sheet.length, header.sheet.width}, "m")
        .label("sheet, length and width");
    result.add("mass", header.sheet.mass, "kg");
    result.add("unit", report.unit, "m").label("1 in the file means");
    result.add("unit_reason", report.unit_reason).label("because");
    result.add("up", report.up).label("axis of the file that points up");
    result.add("up_reason", report.up_reason).label("because");
    result.add("rest_reason", report.rest_reason).label("rest positions");
    result.add("rest_strain", report.rest_strain)
        .label("rms change of distances by laying out flat")
        .percent()
        .unless_zero();
    result.add("stretch", report.stretch)
        .label("median distance of neighbours over that in the flat sheet");
    result.add("pinned", report.pinned).data_only();
    result.add("driven", report.driven).data_only();
    result.add("pinned_labels", labels_of(report, report.pinned)).label("pinned");
    result.add("driven_labels", labels_of(report, report.driven)).label("driven");
    result.add("labels", report.labels).data_only();
    result.add("velocities", header.velocities).label("velocities stored");
    result.add("gaps", header.gaps);
    result.add("takes", recordings).label("recordings");
    result.add("warnings", report.warnings).data_only();
    return result;
}

}  // namespace springtime
