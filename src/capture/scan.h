#pragma once

#include "capture/frame_plan.h"
#include "formats/tracks/open_tracks.h"
#include "motion/point_frame.h"
#include "springtime/import.h"

namespace springtime {

// Some points of a frame, in the units and axes of the file.
PointFrame points_of(const std::vector<double>& numbers, const std::vector<int>& points);

// The time of a frame after the first [s]: by its own time, or its number and the frame rate.
class FrameClock {
  public:
    // Throws Error when the file has neither times nor a frame rate and none is given.
    FrameClock(const TrackInfo& info, const ImportOptions& options);

    double operator()(const TrackFrame& frame);
    bool wanted(double time) const;                // whether it lies within what is to be read
    double interval() const { return interval_; }  // [s], where it is prescribed; else 0

  private:
    double scale_ = 1, interval_ = 0;
    std::optional<double> from_, until_, first_;
};

// Numbers in the file of the points that a name stands for: one of the file, the beginning of
// several with a star behind it, or particle:NUMBER. Throws Error about `field` without one.
std::vector<int> numbers_named(const TrackInfo& info, const std::string& name,
                               std::string_view field);

// What the first reading of a recording finds. Points that are dropped are left out of all frames.
struct RecordingScan {
    TrackFiles recording;
    TrackInfo info;
    std::vector<int> points;          // those that are kept, numbers in the file
    double clock_zero = 0;            // [s] of the file's clock in the first frame
    FrameStamps stamps;               // of the frames that are wanted
    std::vector<std::size_t> seen;    // in how many frames, of every kept point
    std::vector<PointFrame> samples;  // a few frames, evenly spread
    std::vector<double> residuals;    // see add_residuals(), near the samples
    // Root mean square difference of the stamps of the file from those that velocities tell, where
    // they tell them [s].
    std::optional<double> stamp_jitter;
    PointFrame rest_frame;  // what is to be laid out flat, or nothing
    std::size_t rest_frame_number = 0;
};

// The points of a recording in the order of `names`, where these are theirs.
std::unique_ptr<TrackReader> open_recording(const TrackFiles& recording,
                                            const ImportOptions& options,
                                            const std::vector<std::string>& names);

// `names` are those of the first recording; none when it is this one.
RecordingScan scan_recording(const TrackFiles& recording, const ImportOptions& options,
                             const std::vector<std::string>& names,
                             const std::function<void(double share)>& progress);

// Equal number by number, missing ones included.
bool same_points(const PointFrame& a, const PointFrame& b);

}  // namespace springtime
