#pragma once

#include <vector>

#include "springtime/cloth.h"

namespace springtime {

// By recording and landmark; NaN where nothing is known. [m]
using LandmarkShifts = std::vector<std::vector<Vec3d>>;

// The bias that recordings have in common. `beside` is the median over the frames of seen minus
// predicted. The mean over the recordings is drawn towards zero by how much they differ: with
// variance n between recordings and V of the mean of R of them, by 1 - n/(R V). One recording tells
// nothing. Zero for landmarks that no recording shows.
std::vector<Vec3d> common_bias(const LandmarkShifts& beside);

// The share of what first frames show that lasts: the s that is least in the sum of
// |beside - common - s first|^2, between 0 and 1. A recording without `first` is left out.
double lasting_share(const LandmarkShifts& beside, const LandmarkShifts& first,
                     const std::vector<Vec3d>& common);

}  // namespace springtime
