#pragma once

#include "capture/clean_frames.h"
#include "capture/tool_fit.h"

namespace springtime {

// The files that say where what moves the driven points was, one for every recording, and how the
// points follow them. Recordings are read once more for this, and of all frames only the driven
// points are kept.
//
// The axes of a camera are known from a calibration, those of a robot from how it stands. Where
// they differ a little, one of them is not level, and gravity would pull to the side in it. The
// axes in which the cloth hangs straighter down on average are those of the motion.
class HeldLogs {
  public:
    HeldLogs(const std::vector<RecordingScan>& scans, const std::vector<FramePlan>& plans,
             const PointLayout& layout, const ImportOptions& options, const ImportReport& report,
             double most_residual);

    // From the axes of the recording to those of the motion: places and velocities.
    Vec3d levelled(const Vec3d& a) const { return level_(a); }
    // Of a driven point, by its place in their list, at a time after the first frame of the file,
    // in the axes of the motion.
    Vec3d place(std::size_t recording, std::size_t driven, double time) const
    {
        return levelled(fit_.place(logs_[recording], recording, driven, time));
    }
    HandleLogReport report(std::size_t recording) const;

  private:
    void choose_level(const Vec3d& hangs, const Vec3d& gravity);

    bool delay_given_;
    Turn level_;
    double slant_ = 0, slant_before_ = 0;  // of the hanging cloth, in the motion and as recorded
    std::vector<PoseLog> logs_;
    ToolFit fit_;
};

}  // namespace springtime
