#include "springtime/simulation.h"

#include <cmath>

#include "springtime/error.h"

namespace springtime {

void check_environment(const Environment& environment)
{
    if (!std::isfinite(environment.drag) || environment.drag < 0) {
        throw Error("drag {} 1/s: it must be finite and not negative", environment.drag);
    }
    if (!std::isfinite(length(environment.gravity)) || !std::isfinite(length(environment.wind))) {
        throw Error("gravity and wind must be finite");
    }
}

}  // namespace springtime
