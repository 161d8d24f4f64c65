#pragma once

#include "io/tracks/track_reader.h"

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
// A sequence of OBJ or PLY files, one frame each, in the order given.
std::unique_ptr<TrackReader> open_mesh_tracks(const std::vector<std::filesystem::path>& frames);

}  // namespace springtime
