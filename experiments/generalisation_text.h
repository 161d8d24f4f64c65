#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "unseen_motion.h"

namespace springtime::app {

// The rows of motion never seen as tables: errors; what was trained for how long and how fast it
// runs; and how errors grow over time.
std::string generalisation_text(const nlohmann::json& rows, const GeneralisationScale& scale);

}  // namespace springtime::app
