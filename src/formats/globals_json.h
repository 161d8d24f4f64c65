#pragma once

#include <string>

#include "formats/json_node.h"
#include "springtime/cloth.h"

namespace springtime {

// The globals of a cloth as a JSON object, and back.
std::string globals_text(const Globals& globals);
Globals read_globals(const JsonNode& node);

}  // namespace springtime
