#pragma once

#include <vector>

#include "springtime/vec3.h"

namespace springtime {

// The smallest rectangle around points of a plane.
struct Rectangle {
    SheetPoint side;                // direction of one side, of length one
    double length = 0, across = 0;  // along that side and across it [m]
};

// The points must not lie on one line.
Rectangle smallest_rectangle(std::vector<SheetPoint> points);

}  // namespace springtime
