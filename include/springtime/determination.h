#pragma once

#include <cstddef>
#include <vector>

#include "springtime/cloth.h"
#include "springtime/motion.h"

namespace springtime {

// How well the springs of an identified cloth are known. Error is thrown for a cloth without
// standard errors.

// The usual size of every parameter: the median of those of its kind and family that are not zero;
// 1 where all are.
SpringParameters usual_sizes(const SpringSet& springs);

// The size of every parameter: its value, or the usual one where that is zero.
SpringParameters parameter_sizes(const SpringSet& springs);

// Standard errors, cut off at the size of the parameter or the usual one, whichever is larger: that
// much is known of what was hardly seen, or not at all.
SpringParameters known_errors(const Cloth& cloth);

// Standard errors over the size of the parameter; infinite where it was not seen.
SpringParameters relative_errors(const Cloth& cloth);

struct ErrorSummary {
    std::size_t count = 0, unseen = 0;
    // Infinite where that many are unseen.
    double median = 0, ninth_decile = 0, worst = 0;
};
// `errors` must not be empty.
ErrorSummary summary_of(const std::vector<double>& errors);

// The median over the springs whose middle lies in each cell of the flat sheet, row by row from the
// north-west: infinite where more than half are unseen, NaN where there are none.
std::vector<double> error_map(const Cloth& cloth, const std::vector<double>& errors,
                              const Grid& cells);

// Springs whose stiffness was not seen.
std::vector<int> unseen_springs(const Cloth& cloth);

// For every particle whether it is a handle in all rollouts of a motion.
std::vector<bool> held_throughout(const Cloth& cloth, const MotionSource& motion);

}  // namespace springtime
