#pragma once

#include "capture/layout.h"

namespace springtime {

// Frames of all recordings, a few of each.
std::vector<PointFrame> all_samples(const std::vector<RecordingScan>& scans);

// How far neighbours are apart in the frames, of the flat sheet, both as numbers: median_stretch().
// Throws Error naming `source` when no frame shows two of them.
double seen_stretch(const std::vector<PointFrame>& samples, const std::vector<SheetPoint>& rest,
                    std::string_view source);

// Sets sheet and rest places, in metres, and says where they come from: a grid, an earlier motion
// file, a mesh, or a frame. Throws Error where points cannot lie there.
void find_rest_places(PointLayout& layout, const std::vector<RecordingScan>& scans,
                      const ImportOptions& options);

}  // namespace springtime
