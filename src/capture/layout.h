#pragma once

#include "capture/scan.h"

namespace springtime {

// From the units and axes of a file to metres with y up.
struct Placing {
    double unit = 1;
    std::string up = "y";

    Vec3d direction(const Vec3d& a) const;  // turned
    Vec3d operator()(const Vec3d& a) const { return unit * direction(a); }
};
// Throws Error unless it is x, y, z, -x, -y or -z.
void check_up(const std::string& up);

// What the points of the files are on the sheet.
struct PointLayout {
    std::vector<int> points;         // that become landmarks: their numbers in the file
    std::vector<std::string> names;  // of these; empty when the file has none
    Cloth shape;  // sheet and rest places; the grid where it is whole; no springs
    Placing placing;
    std::string unit_reason, up_reason, rest_reason;
    std::string fit_remedy;  // what to check where no unit fits
    double strain = 0;       // of a frame or mesh that had to be unrolled
    double stretch = 1;      // median_stretch() of the samples

    std::vector<std::string> warnings;

    std::string label(int landmark) const;  // its name in the file, or its number there
};

// Decides by the options, what the first recording says of itself, and samples of all of them.
// Throws Error with a message of its own for whatever does not fit.
PointLayout lay_out(const std::vector<RecordingScan>& scans, const ImportOptions& options);

// The landmarks that names stand for, each once.
std::vector<int> landmarks_named(const PointLayout& layout, const TrackInfo& info,
                                 const std::vector<std::string>& names, const std::string& field);

// Throws Error when the cloth does not hang down from what holds it, but clearly along another
// axis.
void check_hanging(const std::vector<RecordingScan>& scans, const PointLayout& layout,
                   const std::vector<int>& held, const Environment& environment);

}  // namespace springtime
