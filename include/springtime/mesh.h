#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "springtime/cloth.h"
#include "springtime/vec3.h"

namespace springtime {

// A surface in space.
struct TriangleMesh {
    std::vector<Vec3d> points;  // [m]
    std::vector<std::array<int, 3>> triangles;
};

// A triangle mesh of a flat sheet.
struct SheetMesh {
    std::vector<SheetPoint> points;             // [m]
    std::vector<std::array<int, 3>> triangles;  // all turning the same way
    std::optional<Grid> grid;                   // set when the points are those of a regular grid
};

// How the cells of a grid are cut into triangles.
enum class MeshCut {
    diagonal,      // all from north-west to south-east
    antidiagonal,  // all from north-east to south-west
    alternating,   // by turns, like a chess board
};
std::string_view name_of(MeshCut cut);

// rows x cols points over the sheet.
SheetMesh make_grid_mesh(const Sheet& sheet, const Grid& grid, MeshCut cut);

// Throws Error naming `source` unless the mesh is one sound sheet: indices in range, no triangle
// without area, none upside down, no edge with more than two triangles, no point without one.
void check_mesh(const SheetMesh& mesh, std::string_view source);

// Of all triangles together. [m^2]
double mesh_area(const SheetMesh& mesh);

// What a finite-element sheet is made of, per length and area, so that the same sheet can be cut
// into meshes of any size.
struct MeshMaterial {
    MaterialField shear_stiffness = MaterialField::uniform(300);  // mu [N/m]
    MaterialField area_stiffness = MaterialField::uniform(300);   // lambda [N/m]
    MaterialField damping = MaterialField::uniform(0.3);          // gamma [N s/m]
    MaterialField bending = MaterialField::uniform(0.023);        // B [N m]; a third of D
    double bending_time = 1e-3;  // tau [s]: hinge damping over hinge stiffness
    TriangleDamping damping_kind = TriangleDamping::deformation;
};

// A cloth of triangles and hinges. A triangle takes the material at its centroid, a hinge at the
// middle of its edge; every triangle gives a third of its mass to each corner. Points must lie
// within the sheet.
Cloth make_mesh_cloth(const Sheet& sheet, const SheetMesh& mesh, const MeshMaterial& material);

// The triangles of a cloth: its own, or those that its grid suggests. Empty when there are neither.
std::vector<std::array<int, 3>> surface_triangles(const Cloth& cloth);

}  // namespace springtime
