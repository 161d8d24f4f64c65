#pragma once

#include <memory>

#include "sim/stepper.h"
#include "sim/tape.h"

namespace springtime {

std::unique_ptr<Stepper> make_reference_stepper(const Cloth& cloth,
                                                const SimulationOptions& options, int lanes);

std::unique_ptr<Tape<double>> make_plain_tape(const Cloth& cloth, const SimulationOptions& options,
                                              const TapeOptions& tape);

}  // namespace springtime
