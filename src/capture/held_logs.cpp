#include "capture/held_logs.h"

namespace springtime {

HeldLogs::HeldLogs(const std::vector<RecordingScan>& scans, const std::vector<FramePlan>& plans,
                   const PointLayout& layout, const ImportOptions& options,
                   const std::vector<int>& driven, double most_residual)
    : delay_given_(options.handle_delay.has_value())
{
    std::vector<HeldTracks> tracks;
    for (std::size_t t = 0; t < scans.size(); ++t) {
        CleanFrames frames(scans[t], plans[t], layout, options, most_residual);
        HeldTracks track{scans[t].info.source, {}, {}};
        while (const auto frame = frames.next_kept()) {
            PointFrame seen;
            for (const int l : driven) seen.push_back(frame->position[std::size_t(l)]);
            track.time.push_back(frame->time);
            track.seen.push_back(std::move(seen));
        }
        logs_.emplace_back(options.handle_path[t], layout.placing, driven.size(),
                           scans[t].clock_zero, track.time.front(), track.time.back());
        tracks.push_back(std::move(track));
    }
    fit_ = fit_tool(logs_, tracks, options.handle_delay);
}

HandleLogReport HeldLogs::report(std::size_t recording) const
{
    const ToolFit::Take& take = fit_.takes[recording];
    const PoseLog& log = logs_[recording];
    HandleLogReport report;
    report.source = log.source();
    report.delay = take.delay;
    report.delay_error = take.delay_error;
    report.delay_given = delay_given_;
    report.shared_clock = log.shared_clock();
    report.offset = take.offset;
    report.oriented = log.oriented();
    report.turn = angle_of(fit_.turn);
    report.residual = take.residual;
    report.usual_residual = take.usual_residual;
    report.remarks = log.remarks();
    return report;
}

}  // namespace springtime
