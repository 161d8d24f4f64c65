#pragma once

#include <memory>

#include "sim/stepper.h"

namespace springtime {

std::unique_ptr<Stepper> make_reference_stepper(const Cloth& cloth,
                                                const SimulationOptions& options, int lanes);

}  // namespace springtime
