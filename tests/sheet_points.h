#pragma once

#include <vector>

#include "springtime/vec3.h"

namespace springtime {

using Points = std::vector<SheetPoint>;

inline Points grid(int rows, int cols, double length, double width)
{
    Points points;
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < cols; ++c)
            points.push_back({length * c / (cols - 1), width * r / (rows - 1)});
    return points;
}

inline Points square_grid(int side)
{
    return grid(side, side, 15.5, 15.5);
}

}  // namespace springtime
