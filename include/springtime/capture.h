#pragma once

#include <optional>
#include <vector>

#include "springtime/cloth.h"
#include "springtime/motion.h"

namespace springtime {

// What motion that was observed, not made, needs before it can be learned from.

// The motion with its first rollout cut into that many pieces of about the same length, each a
// rollout that knows nothing of the others; no frame is in two of them. Nothing is copied: what the
// motion reads from must outlive it. Throws Error when there are fewer than two frames for each.
MotionSource cut_into_pieces(const MotionSource& motion, std::size_t pieces);

// Pieces to cut a single rollout into: as many as leave half a second in each, two at least and
// five at most.
std::size_t pieces_of_a_take(const MotionSource& motion);

// Rows and columns, when the points are a regular grid, given row by row from the north-west.
std::optional<Grid> regular_grid(const std::vector<SheetPoint>& rest);

// The grid of a surrogate: that of the landmarks, when they are one of 3 to 64 a side, otherwise
// about as many particles as landmarks with the aspect of the sheet, 4 to 32 a side.
Grid fitting_grid(const MotionHeader& header);

}  // namespace springtime
