#pragma once

#include <string>

#include "springtime/learn.h"

namespace springtime {

// What was done and found, in plain words, a line each.
std::string describe(const Identification& found);

// How a descent went, and what it began with.
std::string describe_descent(const Learned& learned);

// How the motion is shared out and which particles the surrogate has, where that was chosen. Empty
// where nothing was.
std::string describe_segments(const Motion& given, const Motion& cut, const TrainOptions& options);
std::string describe_grid(const MotionHeader& header, const GridOptions& grid);

}  // namespace springtime
