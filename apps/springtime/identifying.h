#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "options.h"
#include "springtime/identify.h"
#include "springtime/learn.h"

namespace springtime::app {

// Solves for all springs, with a progress bar; the run's folder is named to who interrupts it.
Identification run_identification(const std::string& motion, const IdentifyOptions& options,
                                  const RunFolder& folder, const CommonOptions& common);

// What was done and found, in plain words, a line each.
std::string describe(const Identification& identification);
nlohmann::json json_of(const Identification& identification);

// A motion RMSE [m] of clips below which there is nothing left to refine: noise of the positions,
// noise of the velocities that clips begin with, and rounding.
double refinement_floor(const Identification& identification, const TrainOptions& options,
                        const MotionHeader& header);

}  // namespace springtime::app
