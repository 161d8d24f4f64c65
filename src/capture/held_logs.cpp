#include "capture/held_logs.h"

#include <algorithm>
#include <cmath>

#include "capture/plausible.h"
#include "capture/rest_places.h"

namespace springtime {

HeldLogs::HeldLogs(const std::vector<RecordingScan>& scans, const std::vector<FramePlan>& plans,
                   const PointLayout& layout, const ImportOptions& options,
                   const ImportReport& report, double most_residual)
    : delay_given_(options.handle_delay.has_value())
{
    std::vector<HeldTracks> tracks;
    for (std::size_t t = 0; t < scans.size(); ++t) {
        CleanFrames frames(scans[t], plans[t], layout, options, most_residual);
        HeldTracks track{scans[t].info.source, {}, {}};
        while (const auto frame = frames.next_kept()) {
            PointFrame seen;
            for (const int l : report.driven) seen.push_back(frame->position[std::size_t(l)]);
            track.time.push_back(frame->time);
            track.seen.push_back(std::move(seen));
        }
        logs_.emplace_back(options.handle_path[t], layout.placing, report.driven.size(),
                           scans[t].clock_zero, track.time.front(), track.time.back());
        tracks.push_back(std::move(track));
    }
    fit_ = fit_tool(logs_, tracks, options.handle_delay);
    std::vector<int> held = report.pinned;
    held.insert(held.end(), report.driven.begin(), report.driven.end());
    choose_gravity(layout.placing.direction(hanging(all_samples(scans), held)),
                   options.environment.gravity);
}

void HeldLogs::choose_gravity(const Vec3d& hangs, const Vec3d& stated)
{
    const auto slant = [&](const Vec3d& gravity) {
        const double lengths = length(hangs) * length(gravity);
        return lengths > 0 ? std::acos(std::clamp(dot(hangs, gravity) / lengths, -1.0, 1.0)) : 0.0;
    };
    const Vec3d turned = fit_.turn(stated);  // down in the axes of the log
    slant_before_ = slant(stated);
    levelled_ = !fit_.other_axes && slant(turned) < slant_before_;
    gravity_ = levelled_ ? turned : stated;
    slant_ = slant(gravity_);
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
    report.levelled = levelled_;
    report.slant = slant_;
    report.slant_before = slant_before_;
    report.residual = take.residual;
    report.usual_residual = take.usual_residual;
    report.remarks = log.remarks();
    return report;
}

}  // namespace springtime
