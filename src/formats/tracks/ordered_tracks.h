#pragma once

#include "formats/tracks/track_reader.h"

namespace springtime {

// The same tracks with their points in the order of `names`. Given back as they are when that is
// their order already, and when names are not the same or do not tell points apart.
std::unique_ptr<TrackReader> order_points(std::unique_ptr<TrackReader> tracks,
                                          const std::vector<std::string>& names);

}  // namespace springtime
