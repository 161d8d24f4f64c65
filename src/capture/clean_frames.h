#pragma once

#include <deque>

#include "capture/layout.h"
#include "capture/outliers.h"

namespace springtime {

// The second reading of a recording: landmarks in metres with y up, at even times, without what
// repeats and what cannot be. It looks ahead a few frames and holds no more.
class CleanFrames {
  public:
    CleanFrames(const RecordingScan& scan, const FramePlan& plan, const PointLayout& layout,
                const ImportOptions& options, double most_residual);

    struct Frame {
        PointFrame position;
        PointFrame velocity;      // empty unless wanted and there
        std::size_t removed = 0;  // outliers that were taken out
    };
    // Even or resampled, as the plan says.
    Frame next();  // as often as the plan has frames

    struct Timed : Frame {
        double time = 0;  // after the first frame of the file [s]
    };
    // Instead of next(): the kept frames of the file, without outliers, at their own times.
    std::optional<Timed> next_kept() { return read_sound(); }

    double share() const { return reader_->share(); }
    // What is known once all frames have been made.
    void report(RecordingReport& report) const;

  private:
    std::optional<Timed> read();        // the next kept frame of the file
    std::optional<Timed> read_sound();  // the same without outliers
    void remove_outliers(Timed& now, const Timed* after);
    void look_ahead(double time);
    Frame resampled(double time);
    Frame as_read(double time);
    void count_gaps(const Frame& frame);
    Vec3d between(PointFrame Frame::*field, std::size_t landmark, double time) const;

    const FramePlan& plan_;
    const PointLayout& layout_;
    const ImportOptions& options_;
    std::unique_ptr<TrackReader> reader_;
    FrameClock clock_;
    const std::vector<double>& time_;  // of the frames in the file, corrected [s]
    OutlierFinder finder_;
    std::size_t in_file_ = 0, made_ = 0;
    std::optional<Timed> before_, waiting_;  // around the frame that is looked at for outliers
    bool begun_ = false;
    // Frames around the time that is made: two up to it, two after it.
    std::deque<Timed> near_;
    std::size_t missing_ = 0, blank_ = 0;  // points in frames that show some; frames that do not
    std::size_t outlier_count_ = 0;
    std::vector<Outlier> outliers_;
};

}  // namespace springtime
