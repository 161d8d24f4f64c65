#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/tracks/csv_opening.h"
#include "formats/tracks/track_reader.h"

namespace springtime {

// Turns what the column of times or of frame numbers holds into TrackFrame::time.
class CsvClock {
  public:
    // Frames are counted as they come.
    CsvClock() = default;
    // From the numbers of frames, relative to the first. Where numbers are skipped, so are they in
    // TrackFrame::time: frames 10, 11, 13 have the times 0, 1, 3.
    static CsvClock of_frames();
    // From times in `unit` [s], or in what `first`, the first of them, looks like; says in
    // `remarks` what was assumed.
    static CsvClock of_times(std::optional<double> unit, double first,
                             std::vector<std::string>& remarks);

    // True when `read` gives seconds.
    bool has_times() const { return has_times_; }
    // What the file's clock shows when `read` gives 0, for files whose first time is `first`. [s]
    double zero(double first) const { return has_times_ && from_first_ ? unit_ * first : 0; }
    double read(double value);

  private:
    bool has_times_ = false;
    bool from_first_ = false;  // else from zero
    double unit_ = 1;          // [s], or 1 frame
    std::optional<double> first_;
};

// ---- What all readers of CSV make of the cells of a row ----

// The number in a cell that has to hold one, or NaN where it is missing; `column` counts from 0.
double need_number(std::string_view cell, const CsvOpening& opening, std::size_t column,
                   const LineReader& lines);

// Throws Error: a row with another number of cells than the rest.
[[noreturn]] void fail_cell_count(std::string_view line, const CsvOpening& opening,
                                  const LineReader& lines);

// A point with a missing coordinate is missing, and a missing point has no velocity. True if any
// point is left.
bool clear_partly_missing(TrackFrame& frame);

constexpr int kPassedOver = -1;

struct TablePlan {
    TrackInfo info;
    CsvClock clock;
    // For every column, which number of a frame it has: 3 per point for positions, then 3 per point
    // for velocities and 4 for orientations where there are any, then the one for the clock; or
    // kPassedOver.
    std::vector<int> target;

    int position_target(std::size_t point, int axis) const { return int(3 * point) + axis; }
    int velocity_target(std::size_t point, int axis) const
    {
        return int(3 * (info.point_count + point)) + axis;
    }
    int orientation_target(std::size_t point, int axis) const
    {
        return int((info.velocities ? 6 : 3) * info.point_count + 4 * point) + axis;
    }
    int clock_target() const
    {
        return orientation_target(info.orientations ? info.point_count : 0, 0);
    }

    // Makes a column the clock: one of times, or one of the numbers of frames.
    void count_by_times(const CsvOpening& opening, std::size_t column, std::optional<double> unit);
    void count_by_frames(std::size_t column);
};

// Takes the lines from the first row on; of `opening`, the sample is not needed.
std::unique_ptr<TrackReader> make_table_reader(LineReader lines, CsvOpening opening,
                                               TablePlan plan);

}  // namespace springtime
