#pragma once

#include "sim/batch_recorder.h"

namespace springtime {

// A recorder for devices that have none: groups of lanes of their batch steppers on threads. Where
// several groups blow up, the first of them counts.
std::unique_ptr<BatchRecorder> make_stepper_recorder(const Cloth& cloth,
                                                     const SimulationOptions& options, int threads);

}  // namespace springtime
