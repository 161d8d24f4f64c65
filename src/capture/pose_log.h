#pragma once

#include <filesystem>

#include "capture/layout.h"
#include "capture/spline.h"

namespace springtime {

// A rotation: a quaternion of length one.
struct Turn {
    double x = 0, y = 0, z = 0, w = 1;

    Vec3d operator()(const Vec3d& a) const;
};
Turn operator*(const Turn& second, const Turn& first);
Turn turn_by(const Vec3d& vector);  // its direction is the axis, its length the angle [rad]
Turn inverse(const Turn& turn);
double angle_of(const Turn& turn);  // [rad]

// The path of what holds a cloth, from a second file: of one tool, with orientations or without, or
// of one place for every held point. Smooth between the poses of the log (a cubic spline), and
// standing still before the first and after the last.
class PoseLog {
  public:
    // `zero` [s] is what the clock of the recording shows in its first frame; from `from` to
    // `until` after that it was made. Clocks are the same when both count from 1970, or when log
    // and recording overlap. A log with a clock of its own begins with the recording;
    // shared_clock() tells. Throws Error for a file without times, or without motion of one tool or
    // of `held` points.
    PoseLog(const std::filesystem::path& file, const Placing& placing, std::size_t held,
            double zero, double from, double until);

    // Where a point is that is fixed to the tool of held point `held`, at a time after the first
    // frame of the recording. `offset` is in the axes of the tool, or in those of the room where
    // the log has no orientations.
    Vec3d place(std::size_t held, double time, const Vec3d& offset) const;

    const std::string& source() const { return source_; }
    double start() const { return path_.time().front(); }
    double end() const { return path_.time().back(); }
    bool shared_clock() const { return shared_clock_; }
    bool oriented() const { return oriented_; }
    double spread() const;  // usual distance of the tool from the middle of its path [m]
    // Whether the log states its unit; else it is taken to be that of the recording, which
    // scale_by() corrects.
    bool states_unit() const { return states_unit_; }
    void scale_by(double factor);
    const std::vector<std::string>& remarks() const { return remarks_; }

  private:
    // Poses as they were read, in the order of time: 3 numbers for every tool, then a quaternion.
    struct Poses {
        std::vector<double> time;
        std::vector<std::vector<double>> numbers;
    };
    Poses read(const std::filesystem::path& file, std::size_t held);
    Poses without_repeats(const Poses& poses) const;
    Poses without_bursts(Poses poses) const;

    std::string source_;
    Placing placing_;
    bool oriented_ = false, shared_clock_ = true;
    std::size_t tools_ = 0;
    bool states_unit_ = false;
    double zero_ = 0;  // of its own clock [s]
    Spline path_;
    std::vector<std::string> remarks_;
};

}  // namespace springtime
