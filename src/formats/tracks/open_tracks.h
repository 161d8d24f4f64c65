#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "formats/tracks/track_reader.h"

namespace springtime {

// What the bytes of some files do not say.
struct TrackHints {
    // Of a CSV without names of columns: wide (x1, y1, z1, x2, ...), long (frame, point, x, y, z),
    // blocks (all x, all y, all z) or auto.
    std::string layout = "auto";
    std::string array;             // name of the array in an .npz with several that would do
    std::string time_column = {};  // of a CSV, by its name; empty: as the numbers show
    bool with_velocities = false;  // of a CSV without names: the second half are velocities
    bool poses = false;            // eight columns without names are time, place, quaternion
};

// One reader per format.
std::unique_ptr<TrackReader> open_csv_tracks(const std::filesystem::path& path,
                                             const TrackHints& hints);
std::unique_ptr<TrackReader> open_numpy_tracks(const std::filesystem::path& path,
                                               const TrackHints& hints);
std::unique_ptr<TrackReader> open_cache_tracks(const std::filesystem::path& path);  // MDD and PC2
// A sequence of OBJ or PLY files, one frame each, in the order given. Their numbers are those of
// the frames, see frame_numbers().
std::unique_ptr<TrackReader> open_mesh_tracks(const std::vector<std::filesystem::path>& frames);

// What one reader reads: a file, or the files of a sequence in their order.
using TrackFiles = std::vector<std::filesystem::path>;

// Shares files out: OBJ and PLY files whose names differ by a number alone are one recording, in
// the order of their numbers; every other file is one. A folder stands for the files in it that can
// be read. Throws Error naming what does not exist, and folders without such files.
std::vector<TrackFiles> recordings_of(const std::vector<std::filesystem::path>& files);

// Chooses by content, and by the ending of the name where the content is ambiguous. Throws Error
// for formats that are known but not read, saying how to come from there.
std::unique_ptr<TrackReader> open_tracks(const TrackFiles& recording, const TrackHints& hints);

// ---- Files whose names differ by a number: a0001.obj, a0002.obj and so on ----

// A name without the last number in it, and that number.
struct NumberedName {
    explicit NumberedName(const std::filesystem::path& path);

    std::filesystem::path folder;
    std::string before, after;
    bool numbered = false;
    std::string digits;  // without leading zeros: longer is larger
};

// By folder, by what stands around the number, then by the number.
bool natural_order(const std::filesystem::path& a, const std::filesystem::path& b);

// When each file of a sequence comes, counted from the first in frames: the smallest step between
// two numbers is one frame, so that all may be even. None where names do not say it: they differ
// by more than a number, or steps are not multiples of the smallest. Throws Error for two files of
// one number and for numbers that are too long.
std::optional<std::vector<double>> frame_numbers(const std::vector<std::filesystem::path>& files);

// The same tracks with their points in the order of `names`. Given back as they are when that is
// their order already, and when the names differ or are not unique.
std::unique_ptr<TrackReader> order_points(std::unique_ptr<TrackReader> tracks,
                                          const std::vector<std::string>& names);

}  // namespace springtime
