#pragma once

#include <string>

#include "springtime/learn.h"

namespace springtime {

// Whether a motion is that of a rope whose end is clamped in all of its rollouts: the two landmarks
// at that end are held, so that they give its direction.
bool has_clamped_end(const Motion& motion);

// An elastic rod with a shape of its own that follows the motion of such a rope best. Its particles
// are the landmarks. It hardly stretches. Its globals hold the drag that was fitted with it. The
// motion is taken as stated, without other globals. Recordings that do not fit with the others have
// little say.
Cloth fit_rod(const Motion& motion, int threads, const Progress& progress);

// The error of such a rope on whole rollouts of a motion as stated.
ValidationError rod_error(const Cloth& rope, const Motion& motion, int threads,
                          const Progress& progress);

// The rod in words, a line each, and which of the rollouts it was fitted to it does not follow.
std::string describe_rod(const Cloth& rope, const ValidationError& error);

}  // namespace springtime
