#pragma once

#include <optional>
#include <string>
#include <vector>

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
    double read(double value);

  private:
    bool has_times_ = false;
    bool from_first_ = false;  // else from zero
    double unit_ = 1;          // [s], or 1 frame
    std::optional<double> first_;
};

}  // namespace springtime
