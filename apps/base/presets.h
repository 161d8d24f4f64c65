#pragma once

#include <string>
#include <vector>

#include "mesh_options.h"

namespace springtime::app {

// The reference finite-element benchmark: one fixed problem, so that results compare over time.
// Everything that defines it is here; docs/materials.md tells it in words.
inline constexpr Sheet kReferenceSheet{15.5, 15.5, 30};
inline constexpr Grid kReferenceMesh{31, 31};
inline constexpr double kReferenceBending = 0.023;  // B [N m]
MeshOptions reference_material();
// Two discs of 1 m, 8 s at 1 ms, and drag. Seed, threads and number of rollouts are free.
GenerateOptions reference_run();
// The sheet at another resolution or cut, or with another B [N m].
Cloth reference_cloth(const Grid& mesh, MeshCut cut, double bending = kReferenceBending);

// The settings that a preset of `generate` puts beneath those that are given, as TOML. What is
// given in another way, such as a density for a mass, is left out. Throws Error for an unknown
// name.
std::string preset_settings(const std::string& name, const std::vector<std::string>& given);

}  // namespace springtime::app
