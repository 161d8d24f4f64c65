#include "sim/tape.h"

#include <algorithm>
#include <cmath>

namespace springtime {

int stretch_length(int steps, std::size_t state_bytes, std::size_t memory)
{
    const int all = std::max(steps, 1);
    if (double(all + 1) * double(state_bytes) <= double(memory)) return all;
    return static_cast<int>(std::ceil(std::sqrt(double(all))));
}

}  // namespace springtime
