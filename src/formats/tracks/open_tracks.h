#pragma once

#include "formats/tracks/track_reader.h"

namespace springtime {

// What cannot be told from the bytes of some files.
struct TrackHints {
    // Of a CSV without names of columns: wide (x1, y1, z1, x2, ...), long (frame, point, x, y, z),
    // blocks (all x, all y, all z) or auto.
    std::string layout = "auto";
    std::string array;  // name of the array in an .npz with several that would do
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
using Recording = std::vector<std::filesystem::path>;

// Shares files out: OBJ and PLY files whose names differ by a number alone are one recording, in the
// order of their numbers; every other file is one. A folder stands for the files in it that can be
// read. Throws Error naming what does not exist, and folders without such files.
std::vector<Recording> recordings_of(const std::vector<std::filesystem::path>& files);

// Chooses by content, and by the name's ending where that does not tell. Throws Error for formats
// that are known but not read, saying how to come from there.
std::unique_ptr<TrackReader> open_tracks(const Recording& recording, const TrackHints& hints);

}  // namespace springtime
