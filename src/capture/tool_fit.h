#pragma once

#include "capture/pose_log.h"

namespace springtime {

// Held points as a recording shows them.
struct HeldTracks {
    std::string source;
    std::vector<double> time;      // after the first frame of the recording [s]
    std::vector<PointFrame> seen;  // in every frame, the held points

    // Usual distance from the middle of each path [m].
    double spread() const;
};

// How held points follow a tool: x(t) = turn (place of the log at t - delay, with an offset fixed
// to the tool) + shift. One camera looks at one robot, so turn and shift are those of all takes.
struct ToolFit {
    struct Take {
        double delay = 0;           // [s] of the recording behind the log
        double delay_error = 0;     // [s], standard error; 0 where it was given
        std::vector<Vec3d> offset;  // [m], of every held point
        double residual = 0;        // [m], root mean square
        double usual_residual = 0;  // [m], median
    };
    Turn turn;
    Vec3d shift;
    bool other_axes = false;  // turn is no small correction: the axes have nothing in common
    std::vector<Take> takes;

    Vec3d place(const PoseLog& log, std::size_t take, std::size_t held, double time) const;
};

// Robust (Huber) least squares. Axes of log and recording are taken to be the same unless another
// direction explains the tracks clearly better. `delay` prescribes it. Throws Error for a log that
// does not fit or does not reach over the recording.
ToolFit fit_tool(std::vector<PoseLog>& logs, const std::vector<HeldTracks>& tracks,
                 std::optional<double> delay);

}  // namespace springtime
