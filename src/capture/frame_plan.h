#pragma once

#include <string_view>
#include <vector>

namespace springtime {

// What is known of the frames of a file before their points are looked at again.
struct FrameStamps {
    std::vector<double> time;    // [s], as the file has them, or counted by the frame rate
    std::vector<bool> repeated;  // every number is that of the frame before
    std::vector<bool> empty;     // no point is seen
    double interval = 0;         // [s] where frames are counted by a rate; 0: as the times say
};

// How the frames of a file become frames at even times.
struct FramePlan {
    double interval = 0;          // [s] between frames to be made
    double file_interval = 0;     // [s] between frames of the file, lost ones counted
    double start = 0;             // time of the first frame [s]
    std::size_t frame_count = 0;  // frames to be made
    std::vector<bool> kept;       // of the frames in the file
    std::size_t duplicates = 0;   // frames that repeat the one before: not kept
    std::size_t backward = 0;     // frames that come no later than one before: not kept
    std::size_t trimmed = 0;      // frames at both ends that show nothing: not kept
    std::size_t lost = 0;         // frames to be made for which the file has none: all is missing
    // What is to be made lies between kept frames: they do not come at even times, or not at the
    // rate that is wanted.
    bool resampled = false;
    bool another_rate = false;
    double jitter = 0;        // how far a kept frame is from an even time at most, in file_interval
    bool uneven = false;      // by more than counts as even
    double longest_step = 0;  // [s] between kept frames; where it is longer some were lost
};

// A time this close to that of a frame, in intervals of the file, is the frame's own: what rounding
// leaves of seconds since 1970.
constexpr double kOnTime = 1e-4;

// Frames at both ends that show nothing are dropped, and so are frames that come no later than one
// before them, and frames that repeat the one before number by number: a file written faster than
// the camera looked has such. A cloth at rest repeats itself too, so runs of half a second and more
// are kept. The interval is the one that fits kept frames best, the usual one counted when frames
// were lost; the mean one where frames are off by more than a quarter of that; `interval` [s]
// prescribes another when positive. Times count as even when none is off by more than a fiftieth of
// the interval, or by what rounding to milliseconds or the like explains; an interval is that of
// the file when its frames are no further than that from its multiples. Throws Error naming
// `source` when fewer than three frames are left, when time goes back more than now and then, when
// most frames would be absent, and for rates that no camera has unless they are prescribed.
FramePlan plan_frames(const FrameStamps& stamps, double interval, std::string_view source);

// The times of the frames that are kept.
std::vector<double> kept_times(const FrameStamps& stamps, const FramePlan& plan);

}  // namespace springtime
