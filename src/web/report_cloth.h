#pragma once

#include <optional>
#include <string>

#include "web/payload.h"

namespace springtime {

// Adds the geometry of a flat cloth, and a field for each of its parameters: what the page draws
// maps and colours of. The arrays have names that begin with `prefix`. With a truth, fields of
// elements that both cloths have also hold the true values, and the map of stiffness by cell is
// there of both.
Result add_cloth(Payload& payload, const std::string& prefix, const Cloth& cloth,
                 const std::optional<Cloth>& truth = {});

}  // namespace springtime
