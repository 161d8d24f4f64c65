#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "springtime/geometry.h"
#include "springtime/obstacle.h"

// Obstacles that are scaled to a size, without files.
namespace springtime {

// What a table looks like when only its side is given.
struct TableShare {
    double thickness = 0.06, rounding = 0.02, height = 0.6;
};
inline constexpr TableShare kTable;

// A closed mesh as a grid of distances; `source` names it in messages.
Shape mesh_shape(const TriangleMesh& mesh, std::optional<double> spacing, std::string_view source);

// The obstacles below have the middle of their top at the origin; `size` is their longest
// horizontal side. [m]

// Throws Error unless the mesh bounds a solid.
Obstacle fitted_mesh(const TriangleMesh& mesh, double size, std::string_view source);

// By name: floor, sphere, table or animal. Nothing for other names.
std::optional<Obstacle> built_in_obstacle(std::string_view name, double size);

}  // namespace springtime
