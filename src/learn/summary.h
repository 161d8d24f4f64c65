#pragma once

#include <optional>
#include <string>

#include "springtime/learn.h"

namespace springtime {

// What was done and found, in plain words, a line each.
std::string describe(const Identification& found);

// A table of what each step gained, and which of them is kept.
std::string describe_steps(const Learned& learned, std::optional<std::size_t> kept);

// How the motion is shared out and which particles the surrogate has, where that was chosen. Empty
// where nothing was.
std::string describe_segments(const Motion& given, const Motion& cut, const TrainOptions& options);
std::string describe_grid(const MotionHeader& header, const GridOptions& grid);

}  // namespace springtime
