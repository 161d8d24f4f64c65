#pragma once

#include <string>
#include <vector>

#include "springtime/export.h"

namespace springtime {

// The parameters of a cloth of triangles and hinges for another solver, as JSON. `remarks` says
// what that solver cannot do, a sentence each. Throws Error naming `source` for another cloth.
std::string solver_parameters(const Cloth& cloth, ExportFormat format, const std::string& source,
                              std::vector<std::string>& remarks);

}  // namespace springtime
