#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "springtime/material.h"
#include "springtime/sheet.h"

namespace springtime {

enum class SpringFamily : std::uint8_t { structural, diagonal, antidiagonal, bending };
inline constexpr std::array kSpringFamilies{SpringFamily::structural, SpringFamily::diagonal,
                                            SpringFamily::antidiagonal, SpringFamily::bending};
std::string_view name_of(SpringFamily family);

// Parallel arrays, one entry per spring.
struct SpringSet {
    std::vector<std::array<int, 2>> ends;  // particle indices
    std::vector<SpringFamily> family;
    std::vector<double> rest_length;  // [m]
    std::vector<double> stiffness;    // [N/m]
    std::vector<double> damping;      // [N s/m]

    std::size_t spring_count() const { return ends.size(); }
};

struct Grid {
    int rows = 0, cols = 0;
};

// Particles and springs with their parameters; constant while it runs.
struct Cloth {
    Sheet sheet;
    std::optional<Grid>
        grid;  // set when particle r * cols + c is row r, column c of a regular grid
    std::vector<SheetPoint> rest;  // one per particle
    std::vector<double> mass;      // [kg], one per particle
    SpringSet springs;

    std::size_t particle_count() const { return rest.size(); }
};

// Throws Error naming `source` unless the arrays agree, indices are in range and numbers usable.
void check_cloth(const Cloth& cloth, std::string_view source);

struct GridOptions {
    int rows = 32, cols = 32;
    bool structural = true, diagonal = true, antidiagonal = true, bending = true;
};

// A regular grid over the sheet with uniform particle mass. A spring takes the value of the
// material fields at its midpoint.
Cloth make_grid_cloth(const Sheet& sheet, const GridOptions& options,
                      const MaterialField& stiffness, const MaterialField& damping);

// The particles a name stands for: corner-nw, corner-ne, corner-sw, corner-se, edge-north,
// edge-south, edge-west, edge-east, center, particle:INDEX or grid:ROW,COL.
std::vector<int> particles_named(const Cloth& cloth, std::string_view name);

}  // namespace springtime
