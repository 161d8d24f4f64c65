#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// Tracked points as files have them, before they are landmarks of a sheet. One reader per format;
// io/tracks/open_tracks.h knows which is for which file.
namespace springtime {

// What a file says about itself.
struct TrackInfo {
    std::string format;                // a name to show: "wide CSV", "Motive CSV", "NumPy array"
    std::string source;                // the file, or the first and the last of a sequence
    std::size_t point_count = 0;       // at least 1
    std::vector<std::string> names;    // of the points; empty when they are only numbered
    std::optional<double> unit;        // [m] that 1 in the file means, where it says so
    std::optional<char> up;            // 'x', 'y' or 'z', where the format says so
    std::optional<double> rate;        // frames per second, where the file says so
    bool times = false;                // every frame has a time
    double clock_zero = 0;             // [s] of the file's clock when times are 0
    bool velocities = false;           // every frame has velocities
    bool orientations = false;         // every point has an orientation, as poses in a log have
    std::vector<std::string> remarks;  // what was assumed or ignored, a sentence each
    std::vector<std::array<int, 3>> triangles;  // between points, where the file has a surface
};

// One frame in the units of the file.
struct TrackFrame {
    double time = 0;                       // [s]; without times, the number of the frame, from 0
    std::vector<double> position;          // 3 per point; a missing point is NaN in all three
    std::vector<double> velocity;          // the same, or empty
    std::vector<double> orientation = {};  // quaternions x, y, z, w of every point, or empty
};

class TrackReader {
  public:
    virtual ~TrackReader() = default;

    virtual const TrackInfo& info() const = 0;
    // The next frame in the order of the file; false at the end. Needs memory for a few frames,
    // however long the file. Throws Error naming the file, the line or frame, what was found, what
    // was needed and what to do.
    virtual bool next(TrackFrame& frame) = 0;
    // How much of all bytes has been read, 0 to 1.
    virtual double share() const = 0;
};

}  // namespace springtime
