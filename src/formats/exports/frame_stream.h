#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "springtime/motion.h"

namespace springtime {

// Which moments of a rollout are exported: `first`, `first + step`, ... counted in stored frames.
struct FrameSelection {
    std::size_t first = 0, count = 0;
    double step = 1;      // whole when frames are picked, otherwise positions are interpolated
    double interval = 0;  // between stored frames [s]
    double rate = 0;      // of what is exported [1/s]

    bool interpolates() const;
    double time(std::size_t number) const
    {
        return (double(first) + double(number) * step) * interval;
    }
    std::size_t last_stored() const;  // the last stored frame that is needed
};

struct ExportTimes {
    std::optional<double> rate, from, until;  // [1/s], [s]
};

// Throws Error naming `source` when nothing is left, or the choice makes no sense.
FrameSelection select_frames(std::size_t stored, double interval, const ExportTimes& choice,
                             const std::string& source);

// Where landmarks are missing in a rollout, and what lies before and after.
class GapTable {
  public:
    // Reads the whole rollout piece by piece.
    GapTable(const Motion& motion, std::size_t rollout);

    // Places (landmarks in frames) that are missing from frame `first` to `last`.
    std::size_t missing(std::size_t first, std::size_t last) const;
    struct Place {
        std::size_t frame, landmark;
    };
    Place first_missing(std::size_t first) const;   // from that frame on; needs one
    std::optional<std::size_t> never_seen() const;  // a landmark

    // Fills them in `position`, frames from `first` on, on a straight line in time from the frame
    // before to the frame after; at the ends, where only one is known, it stays there.
    void fill(std::vector<float>& position, std::size_t first) const;

  private:
    struct Gap {
        std::size_t landmark, begin, end;  // frames [begin, end)
        std::array<float, 3> before, after;
        bool has_before, has_after;
    };
    void scan(const Rollout& piece, std::size_t first);

    std::size_t landmarks_ = 0, frames_ = 0;
    std::vector<Gap> gaps_;                   // in the order in which they begin
    std::vector<int> open_;                   // of each landmark: its gap that has not ended, or -1
    std::vector<std::array<float, 3>> last_;  // place where a landmark was seen last
    std::vector<bool> seen_;
};

// One moment of a motion.
struct ExportFrame {
    std::size_t number = 0;                     // from 0
    double time = 0;                            // in the motion [s]
    std::span<const float> position, velocity;  // of all points; velocity may be empty
};

// The moments of a plan, one after the other.
class FrameStream {
  public:
    FrameStream(const Motion& motion, std::size_t rollout, const FrameSelection& plan,
                const GapTable* fill);

    bool next(ExportFrame& frame);

  private:
    struct Stored {
        std::span<const float> position, velocity;
    };
    Stored stored(std::size_t frame);

    const Motion& motion_;
    std::size_t rollout_;
    FrameSelection plan_;
    const GapTable* fill_;
    Rollout piece_;
    std::size_t piece_first_ = 0, number_ = 0;
    std::vector<float> position_, velocity_;  // interpolated
};

// Frames that are read at once: some megabytes, and at least two.
std::size_t frames_per_piece(std::size_t landmarks);

}  // namespace springtime
