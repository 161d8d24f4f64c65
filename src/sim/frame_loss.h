#pragma once

#include <cmath>
#include <limits>

#include "springtime/vec3.h"

namespace springtime {

// How far a cloth is from a frame of a trajectory. The error of a frame is the root mean square of
// the distance over the landmarks that are free and seen,
//   r = sqrt(1/n sum h(|x - x^|^2)),  h(s) = 2 w^2 (sqrt(1 + s/w^2) - 1),
// which is the plain one for an infinite width w; beyond a finite width h grows like the distance
// instead of its square, so that outliers count less. The loss is the mean over the frames of r, or
// of its square. Below the floor r counts like r^2, so that the gradient of an error that is
// rounding or noise vanishes.
struct FrameLoss {
    double floor = 0;                                        // [m]
    double width = std::numeric_limits<double>::infinity();  // [m]
    bool squares = false;

    // h, without cancellation: 2 (sqrt(1 + q) - 1) = 2 q / (sqrt(1 + q) + 1).
    SPRINGTIME_HD double bent(double square) const
    {
        if (is_plain()) return square;
        return 2 * square / (std::sqrt(1 + square / (width * width)) + 1);
    }
    // dh/ds
    SPRINGTIME_HD double bent_slope(double square) const
    {
        if (is_plain()) return 1;
        return 1 / std::sqrt(1 + square / (width * width));
    }

    // What a frame of error r counts.
    SPRINGTIME_HD double of(double r) const
    {
        if (squares) return r * r;
        return r >= floor ? r : (r * r / floor + floor) / 2;  // of one slope at the floor
    }
    // Derivative of of() by its argument, over the argument: what the adjoint of a frame is scaled
    // by.
    SPRINGTIME_HD double slope(double r) const
    {
        if (squares) return 2;
        return 1 / (r > floor ? r : floor);
    }

  private:
    SPRINGTIME_HD bool is_plain() const { return width > 1e300; }
};

}  // namespace springtime
