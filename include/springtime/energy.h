#pragma once

#include "springtime/cloth.h"
#include "springtime/environment.h"
#include "springtime/state.h"

namespace springtime {

// [J]. Gravitational energy is zero at the origin.
struct Energy {
    double kinetic = 0, elastic = 0, gravitational = 0;
    double total() const { return kinetic + elastic + gravitational; }
};
Energy energy_of(const Cloth& cloth, const Environment& environment, const State& state);

// Largest relative change of length in a state: |l - L| / L over the springs, |s - 1| over both
// principal stretches s of the triangles.
double largest_strain(const Cloth& cloth, const State& state);

}  // namespace springtime
