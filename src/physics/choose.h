#pragma once

#include <concepts>

#include "springtime/vec3.h"

namespace springtime {

// Every scalar of these formulas has it: `yes` where the condition holds, else `no`. Only this
// lets a register of lanes decide for each lane by itself.
template <std::floating_point T>
SPRINGTIME_HD inline T choose(bool condition, const T& yes, const T& no)
{
    return condition ? yes : no;
}

template <class Condition, class T>
SPRINGTIME_HD inline Vec3<T> choose(const Condition& condition, const Vec3<T>& yes,
                                    const Vec3<T>& no)
{
    return {choose(condition, yes.x, no.x), choose(condition, yes.y, no.y),
            choose(condition, yes.z, no.z)};
}

}  // namespace springtime
