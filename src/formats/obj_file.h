#pragma once

#include <string_view>

#include "springtime/cloth.h"

namespace springtime {

struct ObjOptions {
    bool gaps = false;  // NaN says that a point was not seen; else it is not a number
    bool faces = true;  // else points only
};

// The points and faces of a Wavefront OBJ file, as triangles; `source` names it in messages. Throws
// Error for lines that cannot be read, not for lines that are not there.
TriangleMesh parse_obj(std::string_view text, std::string_view source, const ObjOptions& options);

}  // namespace springtime
