#pragma once

#include <array>
#include <optional>
#include <string>

#include "flags.h"
#include "springtime/cloth.h"
#include "springtime/error.h"
#include "springtime/generate.h"

namespace springtime::app {

// How a sheet of finite elements is made. The numbers are those of the reference benchmark away
// from its stiff places: docs/materials.md.
struct MeshOptions {
    std::string mesh = "31x31";
    std::string cut = "diagonal";
    std::string shear_stiffness = "300", area_stiffness = "300", damping = "0.3";
    std::string warp_stiffness, weft_stiffness;  // empty: none
    std::string bending = "0.023";
    double bending_time = 1e-3;  // [s]
    std::string damping_kind = "deformation";
};

// What the user said of the sheet; the rest comes from the mesh or from defaults.
struct SheetOptions {
    std::optional<double> length, width;  // [m]
    std::optional<double> mass;           // [kg]
    std::optional<double> density;        // [kg/m^2], instead of the mass
};

// The flags of MeshOptions, without their dashes.
inline constexpr std::array kMeshFlags{"mesh",
                                       "cut",
                                       "shear-stiffness",
                                       "area-stiffness",
                                       "warp-stiffness",
                                       "weft-stiffness",
                                       "triangle-damping",
                                       "damping-kind",
                                       "bending",
                                       "bending-time"};
void add_mesh(const Flags& flags, MeshOptions& options);

// Whether the mesh is a file, which brings its own triangles and size, rather than ROWSxCOLS.
bool is_mesh_file(const MeshOptions& options);
MeshCut mesh_cut_named(const std::string& name);
MeshMaterial mesh_material_from(const MeshOptions& options);

// What is not said of the sheet is `otherwise`'s. A mesh file has its own size, and needs a mass or
// a density.
Cloth make_fem_cloth(const MeshOptions& options, const SheetOptions& sheet, const Sheet& otherwise);

}  // namespace springtime::app
