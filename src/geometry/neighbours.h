#pragma once

#include <array>
#include <vector>

#include "springtime/vec3.h"

namespace springtime {

// Two points by their numbers, the lower one first.
using Link = std::array<int, 2>;

// Every point with the `count` points nearest to it in space; of those equally far the first.
// Sorted, each link once.
std::vector<Link> nearest_links(const std::vector<Vec3d>& points, int count);
// The edges of triangles, likewise.
std::vector<Link> triangle_links(const std::vector<std::array<int, 3>>& triangles);

}  // namespace springtime
