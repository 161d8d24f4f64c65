#pragma once

#include "capture/clean_frames.h"
#include "capture/tool_fit.h"

namespace springtime {

// The files that say where what moves the driven points was, one for every recording, and how the
// points follow them. Recordings are read once more for this, and of all frames only the driven
// points are kept.
//
// The axes of a camera are known from a calibration, those of a robot from how it stands. Where
// they differ a little, one of them is not level. Points stay in the axes of the camera, so that
// all recordings of one camera agree, however each was fitted. Gravity points down in those axes in
// which the cloth hangs straighter on average.
class HeldLogs {
  public:
    HeldLogs(const std::vector<RecordingScan>& scans, const std::vector<FramePlan>& plans,
             const PointLayout& layout, const ImportOptions& options, const ImportReport& report,
             double most_residual);

    // In the axes of the camera. [m/s^2]
    const Vec3d& gravity() const { return gravity_; }
    // Of a driven point, by its place in their list, at a time after the first frame of the file.
    Vec3d place(std::size_t recording, std::size_t driven, double time) const
    {
        return fit_.place(logs_[recording], recording, driven, time);
    }
    HandleLogReport report(std::size_t recording) const;

  private:
    void choose_gravity(const Vec3d& hangs, const Vec3d& stated);

    bool delay_given_;
    bool levelled_ = false;
    Vec3d gravity_;
    double slant_ = 0, slant_before_ = 0;  // of the hanging cloth from gravity, and as stated
    std::vector<PoseLog> logs_;
    ToolFit fit_;
};

}  // namespace springtime
