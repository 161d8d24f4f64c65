#pragma once

#include "physics/spring.h"

namespace springtime {

// Derivative of the tension F of a spring by its rest length L, at length l. [N/m] Where the
// strains of the ranges stay, F(l, L) = L phi(l/L), so dF/dL = (F - l dF/dl)/L, and dF/dl is the
// stiffness of the range that the strain lies in.
template <class T>
SPRINGTIME_HD inline T tension_by_rest_length(const T& l, const T& rest_length, const T& stiffness,
                                              const RangeLaw<T>& law)
{
    const T stretch = l - rest_length;
    T tension = stiffness * stretch, slope = stiffness;
    for (int j = 0; j < law.range_count; ++j) {
        const SpringRange<T> range = law.range(j);
        const T more = range.stiffness - stiffness;
        tension = tension + more * stretch_within(stretch, range.from, range.to);
        if (stretch >= range.from && stretch < range.to) slope = range.stiffness;
    }
    return (tension - l * slope) / rest_length;
}

}  // namespace springtime
