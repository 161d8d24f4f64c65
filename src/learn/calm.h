#pragma once

#include "springtime/cloth.h"
#include "springtime/state.h"

namespace springtime {

// Takes out of observed positions what noise has put into the springs. A millimetre of noise on
// springs of 2 cm holds more energy than the sheet's weight, and a run that began with it would
// shake itself apart, so that only the toughest cloths looked good. Some sweeps move the ends of
// structural and diagonal springs towards rest lengths. That evens out what neighbouring springs
// disagree about; a stretch that they share stays, since the pulls from both sides cancel.
// Velocities stay as they are. Handles are not moved.
void calm(State& state, const Cloth& cloth, const std::vector<int>& handles);

}  // namespace springtime
