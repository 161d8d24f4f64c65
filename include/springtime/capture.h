#pragma once

#include <optional>
#include <vector>

#include "springtime/cloth.h"
#include "springtime/motion.h"
#include "springtime/state.h"

namespace springtime {

// What motion that was observed, not made, needs before it can be learned from.

// The motion with every rollout cut into that many pieces of about the same length, each a rollout
// that knows nothing of the others; no frame is in two of them. Nothing is copied: what the motion
// reads from must outlive it. Throws Error when there are fewer than two frames for each.
MotionSource cut_into_pieces(const MotionSource& motion, std::size_t pieces);

// Pieces to cut each of a few rollouts into, so that leaving one out costs little: as many as make
// five of all of them and leave a second in each; of a single rollout half a second, and two at
// least.
std::size_t pieces_of_a_take(const MotionSource& motion);

// Takes out of observed positions what noise has put into the springs. A millimetre of noise on
// springs of 2 cm holds more energy than the sheet's weight, and a run that began with it would
// shake itself apart, so that only the toughest cloths looked good. Some sweeps move the ends of
// structural and diagonal springs towards rest lengths. That evens out what neighbouring springs
// disagree about; a stretch that they share stays, since the pulls from both sides cancel.
// Velocities stay as they are. Handles are not moved.
void calm(State& state, const Cloth& cloth, const std::vector<int>& handles);

// Rows and columns, when the points are a regular grid, given row by row from the north-west.
std::optional<Grid> regular_grid(const std::vector<SheetPoint>& rest);

// The grid of a surrogate: that of the landmarks, when they are one of 3 to 64 a side, otherwise
// about as many particles as landmarks with the aspect of the sheet, 4 to 32 a side.
Grid fitting_grid(const MotionHeader& header);

}  // namespace springtime
