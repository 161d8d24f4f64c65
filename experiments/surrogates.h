#pragma once

#include <filesystem>
#include <string>

#include "options.h"

namespace springtime::app {

// How much of an experiment with finite-element sources: full, a first look, or just a test that
// all parts work.
struct FemScale {
    int coarse, middle, fine;  // particles along a side of the meshes
    std::string surrogate;     // particles of the surrogates, ROWSxCOLS
    int rollouts;
    double seconds;  // [s] of a rollout
    int stiffness_iterations, damping_iterations;
    double longest;  // [s] a sheet may take to settle
};
FemScale fem_scale_named(const std::string& name);

struct Surrogates {
    Cloth learned, homogeneous;
};

// Makes motion of the source and learns from it, by the published protocol for finite-element
// sources; what an earlier sitting left in the folder is taken up.
Surrogates learn_surrogates(const std::filesystem::path& folder, const Cloth& source,
                            const FemScale& scale, const CommonOptions& common);

}  // namespace springtime::app
