#pragma once

#include <array>
#include <span>
#include <vector>

#include "springtime/vec3.h"

namespace springtime {

// Triangles of corner numbers that together make a polygon, on its side and wound as it is: ears
// cut off one by one, that with the shortest cut first, so that a quad is divided along its shorter
// diagonal. The polygon may be concave and a little bent; where it crosses itself, or has no area,
// or corners are missing (NaN), there may be triangles that overlap, but always two less than
// corners.
std::vector<std::array<int, 3>> cut_polygon(std::span<const Vec3d> corners);

}  // namespace springtime
