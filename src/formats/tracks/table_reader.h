#pragma once

#include "formats/tracks/csv_clock.h"
#include "formats/tracks/csv_opening.h"
#include "formats/tracks/track_reader.h"

// CSV with one line for every frame: once it is known what each column means, wide ones, those in
// blocks and Motive's are read alike.
namespace springtime {

constexpr int kPassedOver = -1;

struct TablePlan {
    TrackInfo info;
    CsvClock clock;
    // For every column, which number of a frame it has: 3 per point for positions, then 3 per point
    // for velocities where there are any, then the one for the clock; or kPassedOver.
    std::vector<int> target;

    int position_target(std::size_t point, int axis) const { return int(3 * point) + axis; }
    int velocity_target(std::size_t point, int axis) const
    {
        return int(3 * (info.point_count + point)) + axis;
    }
    int clock_target() const { return int((info.velocities ? 6 : 3) * info.point_count); }
};

// Takes the lines from the first row on; of `opening`, the sample is not needed.
std::unique_ptr<TrackReader> make_table_reader(LineReader lines, CsvOpening opening,
                                               TablePlan plan);

}  // namespace springtime
