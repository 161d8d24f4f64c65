#pragma once

#include <optional>
#include <string>

#include "springtime/motion.h"
#include "springtime/simulation.h"

namespace springtime {

// Where a clip goes wrong, on its way there or back.
struct Diagnosis {
    std::string what;  // "the state leaves all bounds" or "the gradient is not finite"
    long step = 0;
    int particle = 0;
};

// Runs one clip with care, in double, and looks at every step.
std::optional<Diagnosis> diagnose(const Cloth& surrogate, const SimulationOptions& options,
                                  int stride, const Rollout& clip);

}  // namespace springtime
