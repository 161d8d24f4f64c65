#pragma once

#include "springtime/simulation.h"

namespace springtime {

// What limits the explicit step of a cloth, the largest eigenvalues of its flat sheet.
struct ClothSpectrum {
    double stiffness = 0;  // of stiffness over mass [1/s^2]
    double damping = 0;    // of damping over mass [1/s]
};
ClothSpectrum spectrum_of(const Cloth& cloth);

// The public functions of these names, for a drag [1/s].
double largest_stable_step(const ClothSpectrum& spectrum, double drag);
int stable_substeps(const ClothSpectrum& spectrum, double drag, double dt);

}  // namespace springtime
