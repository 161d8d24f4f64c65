#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "options.h"

namespace springtime::app {

// Solves for all springs, with a progress bar.
Identification run_identification(const std::string& motion, const IdentifyOptions& options,
                                  const CommonOptions& common);

// What was done and found, in plain words, a line each.
std::string describe(const Identification& identification);
nlohmann::json json_of(const Identification& identification);

// A motion RMSE [m] that positions with this noise allow, and rounding of the sheet's size: below
// it there is nothing left to refine.
double refinement_floor(const NoiseEstimate& noise, const Sheet& sheet);

}  // namespace springtime::app
