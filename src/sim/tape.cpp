#include "sim/tape.h"

#include <algorithm>
#include <cmath>

#include "sim/obstacle_placement.h"
#include "springtime/error.h"

namespace springtime {

int stretch_length(int steps, std::size_t state_bytes, std::size_t memory)
{
    const int all = std::max(steps, 1);
    if (double(all + 1) * double(state_bytes) <= double(memory)) return all;
    return static_cast<int>(std::ceil(std::sqrt(double(all))));
}

int last_stretch(int steps, std::size_t state_bytes, std::size_t memory)
{
    const int stretch = stretch_length(steps, state_bytes, memory);
    // The kept states, and the first of the last stretch, which is that of no step.
    const double beside = std::ceil(double(steps) / stretch) + 1;
    const double room = std::floor(double(memory) / double(state_bytes)) - beside;
    const int length = static_cast<int>(std::min(std::max(room, double(stretch)), double(steps)));
    return (steps - length + stretch - 1) / stretch * stretch;
}

void check_tape_options(const SimulationOptions& options)
{
    if (!has_contact(options)) return;
    throw Error(
        "gradient: {} obstacles and a self distance of {} m; gradients do not lead through "
        "contact, so learn without obstacles and with a self distance of 0",
        options.obstacles.size(), options.self_distance);
}

}  // namespace springtime
