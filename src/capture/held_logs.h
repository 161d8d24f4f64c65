#pragma once

#include "capture/clean_frames.h"
#include "capture/tool_fit.h"

namespace springtime {

// The files that say where what moves the driven points was, one for every recording, and how the
// points follow them. Recordings are read once more for this, and of all frames only the driven
// points are kept.
class HeldLogs {
  public:
    HeldLogs(const std::vector<RecordingScan>& scans, const std::vector<FramePlan>& plans,
             const PointLayout& layout, const ImportOptions& options,
             const std::vector<int>& driven, double most_residual);

    // Of a driven point, by its place in their list, at a time after the first frame of the file.
    Vec3d place(std::size_t recording, std::size_t driven, double time) const
    {
        return fit_.place(logs_[recording], recording, driven, time);
    }
    HandleLogReport report(std::size_t recording) const;

  private:
    bool delay_given_;
    std::vector<PoseLog> logs_;
    ToolFit fit_;
};

}  // namespace springtime
