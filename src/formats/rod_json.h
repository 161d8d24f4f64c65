#pragma once

#include <string>

#include "formats/json_node.h"
#include "springtime/cloth.h"

namespace springtime {

// The rod of a cloth as a JSON object, and back.
std::string rod_text(const Rod& rod);
Rod read_rod(const JsonNode& node);

}  // namespace springtime
