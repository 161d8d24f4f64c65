#pragma once

#include <fmt/format.h>

#include <string>

#include "formats/json_node.h"
#include "springtime/vec3.h"

namespace springtime {

// A vector as a JSON array of three numbers, and back.
inline std::string vector_text(const Vec3d& a)
{
    return fmt::format("[{}, {}, {}]", a.x, a.y, a.z);
}

inline Vec3d read_vector(const JsonNode& node)
{
    const auto [x, y, z] = node.tuple<3>();
    return {x.number(), y.number(), z.number()};
}

}  // namespace springtime
