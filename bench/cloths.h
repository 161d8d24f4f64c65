#pragma once

#include <algorithm>

#include "springtime/cloth.h"

namespace springtime::bench {

// The cloth of springs that all benchmarks of steps run.
inline Cloth spring_cloth(bool bending_springs = true)
{
    return make_grid_cloth({15.5, 15.5, 102.4}, {32, 32, true, true, true, bending_springs},
                           MaterialField::uniform(25), MaterialField::uniform(6));
}

// The same with all that the full law has; nothing in it is zero.
inline Cloth full_law_cloth(bool bending_springs)
{
    Cloth cloth = spring_cloth(bending_springs);
    set_law(cloth, law_named("full"));
    for (const Parameter& parameter : learned_parameters(cloth)) {
        for (double& value : values_of(cloth, parameter)) value = std::max(value, 0.05);
    }
    return cloth;
}

}  // namespace springtime::bench
