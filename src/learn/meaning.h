#pragma once

#include <string>
#include <vector>

#include "springtime/motion.h"

namespace springtime {

// Throws Error where every landmark is held in all rollouts: nothing moves freely then, so there is
// nothing to follow and nothing to learn.
void check_some_free(const Motion& motion, std::string_view purpose);

// Throws Error where landmarks are farther apart than any sheet of this size could take them: what
// is recorded is noise, or in another unit.
void check_holds_together(const Motion& motion);

// What is odd about a motion that can be learned from all the same, a sentence each.
std::vector<std::string> doubts_of(const MotionHeader& header);

}  // namespace springtime
