#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "unseen_motion.h"

namespace springtime::app {

// Springs as `train` learns them over MeshGraphNets: motion RMSE, and the time of training. Null
// where there is none of either.
nlohmann::json springs_over_networks(const nlohmann::json& rows);

// The rows of motion never seen as tables: errors; what was trained for how long and how fast it
// runs; and how errors grow over time.
std::string generalisation_text(const nlohmann::json& rows, const GeneralisationScale& scale);

}  // namespace springtime::app
