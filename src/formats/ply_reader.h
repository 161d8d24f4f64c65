#pragma once

#include <array>
#include <string_view>
#include <vector>

namespace springtime {

struct PlyMesh {
    std::vector<double> position;  // 3 per vertex, in the order of the file; NaN stays
    std::vector<std::array<int, 3>> triangles;
};

// A PLY file (ascii, binary_little_endian, binary_big_endian). Other elements and properties are
// passed over. Polygons become fans around their first corner. Without `faces`, what follows the
// vertices is not looked at. Throws Error naming `source`.
PlyMesh parse_ply(std::string_view bytes, std::string_view source, bool faces = true);

}  // namespace springtime
