#pragma once

#include "springtime/simulation.h"

namespace springtime {

// What limits the explicit step of a cloth: the largest eigenvalues over mass.
struct ClothSpectrum {
    double stiffness = 0;  // [1/s^2]
    double damping = 0;    // [1/s]
};

// Of the flat sheet at rest.
ClothSpectrum flat_spectrum(const Cloth& cloth);

// Of the worst shape that the sheet can take.
//
// A spring at any length l and in any direction n resists displacements of its ends with
// k n n^T + k (1 - L/l) (1 - n n^T), which is at most k in all directions; a dashpot with b n n^T,
// at most b. So the eigenvalues of any shape are at most those of the network whose springs resist
// in all directions, with their largest stiffness and all of their damping. Bends are linear and
// count as they are.
//
// A coupling c of edges with directions u1, u2 and stretches s1, s2 resists with
// c (u1 u2^T + u2 u1^T) in terms of the two edges, which is at most |c| along each, and with
// c s2/l1 across the first edge and c s1/l2 across the second. So it is at most |c| on either edge
// in all directions, as long as no edge is stretched by more than the length of the other.
//
// Triangles and hinges have no such bound, since they stiffen where they are stretched. Theirs are
// the eigenvalues of the flat sheet times factors that were measured (scripts/bench margin).
ClothSpectrum worst_spectrum(const Cloth& cloth);

// The longest stable step of a spectrum. [s]
double step_limit(const ClothSpectrum& spectrum, double drag);

// The public functions of these names, for the spectrum of the worst shape and a drag [1/s].
double safe_step(const ClothSpectrum& worst, double drag);
int stable_substeps(const ClothSpectrum& worst, double drag, double dt);

}  // namespace springtime
