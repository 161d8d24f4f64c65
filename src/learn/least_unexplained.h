#pragma once

#include <optional>

#include "learn/work.h"
#include "springtime/identify.h"

namespace springtime {

// The same as in identify.h, as a part of other work.
std::optional<double> least_unexplained(const Motion& motion, const IdentifyOptions& options,
                                        Work& work);

}  // namespace springtime
