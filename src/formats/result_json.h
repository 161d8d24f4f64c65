#pragma once

#include <string_view>

#include "springtime/report.h"

namespace springtime {

// The opposite of to_json(): a tree of values without units. Throws Error naming `source` for what
// is no JSON.
Result result_from_json(std::string_view text, std::string_view source);

}  // namespace springtime
