#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/tracks/npy_header.h"
#include "formats/tracks/open_tracks.h"

namespace springtime {

// Where the numbers of an array of tracks are found, frame after frame.
struct TrackShape {
    std::uint64_t frame_count = 0, point_count = 0;
    std::string grid;  // "5 x 7" when the points were in rows and columns
};

// Throws Error naming `source` unless the array is frames x points x 3, or frames x rows x columns
// x 3, of 32 or 64-bit floats in C order.
TrackShape track_shape(const NpyHeader& header, std::string_view source);

// Remarks on rows and columns, where there are.
void note_grid(const TrackShape& shape, TrackInfo& info);

// What an archive or a lone array has to offer; each stream is read as frames go by.
struct NumpyTracks {
    TrackInfo info;
    std::uint64_t frame_count = 0;
    std::unique_ptr<NumberStream> position, velocity, time;  // the last two may be absent
};

NumpyTracks find_npz_tracks(const std::filesystem::path& path, const std::string& array);

}  // namespace springtime
