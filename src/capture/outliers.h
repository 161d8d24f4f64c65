#pragma once

#include <vector>

#include "motion/point_frame.h"
#include "springtime/cloth.h"

namespace springtime {

// How far points are from the middle between the frames before and after, where all three show
// them. [m]
void add_residuals(const PointFrame& before, const PointFrame& now, const PointFrame& after,
                   std::vector<double>& to);

// Points that cannot be where they were seen, by two rules. In time: a point is off the middle
// between the frames before and after by more than 8 times what most are, a fifth of the distance
// to its neighbours on the sheet, and three times what it moves between those frames: it jumps
// there and back. On the sheet: it is more than twice as far as in the flat sheet from more than
// half of at least three neighbours: a cloth tears before it stretches so.
class OutlierFinder {
  public:
    // `most_residual`: what nine in ten of those that add_residuals() collects stay below.
    OutlierFinder(const std::vector<SheetPoint>& rest, double most_residual);

    struct Found {
        int point;
        double off;  // [m]
    };
    // The frames before and after may be absent.
    std::vector<Found> find(const PointFrame* before, const PointFrame& now,
                            const PointFrame* after) const;

  private:
    double jump(const PointFrame* before, const PointFrame& now, const PointFrame* after,
                std::size_t point) const;
    double tear(const PointFrame& now, std::size_t point) const;

    struct Neighbour {
        int point;
        double distance;  // in the flat sheet [m]
    };
    double most_residual_;
    std::vector<std::vector<Neighbour>> neighbours_;
    std::vector<double> spacing_;  // distance to the nearest of them [m]
};

}  // namespace springtime
