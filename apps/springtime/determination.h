#pragma once

#include <vector>

#include "options.h"
#include "springtime/identify.h"

namespace springtime::app {

// Ranks what could be recorded next, with a progress bar.
std::vector<Experiment> ranked_experiments(const Cloth& cloth, const DesignOptions& options,
                                           const CommonOptions& common);
Result ranking_result(const Cloth& cloth, const std::vector<Experiment>& ranking);

// How well an identified cloth is known, and what to record next. `motion` is what the cloth was
// identified from; null where it is not there.
Result determination_result(const Cloth& cloth, const MotionReader* motion,
                            const CommonOptions& common);

}  // namespace springtime::app
