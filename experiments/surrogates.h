#pragma once

#include <filesystem>
#include <optional>

#include "reproduce.h"
#include "springtime/learn.h"

namespace springtime::app {

// How much of an experiment with finite-element sources: full, a first look, or just a test that
// all parts work.
struct FemScale {
    int coarse, middle, fine;  // particles along a side of the meshes
    int remeshed;              // the same for the middle mesh's yardstick
    Grid between;              // particles of a surrogate of the coarse mesh
    int rollouts;
    double seconds;  // [s] of a rollout
    int tilted;      // falls from a tilted start, for each obstacle
    double longest;  // [s] a sheet may take to settle
    LearnOptions learning{};
};
FemScale fem_scale_named(const std::string& name);

// Where surrogates of the middle mesh are learned, which several experiments of `all` share.
std::filesystem::path training_folder(const ReproduceArguments& arguments);

// What `springtime train` learns with defaults: a value for every spring, and one per family.
struct Surrogates {
    Cloth learned, homogeneous;  // of the same law
    Cloth published;             // homogeneous, of the published law
};

// Makes motion of the source and learns from it. What an earlier run left in the folder is
// continued. Without a grid, the surrogates have that of the source.
Surrogates learn_surrogates(const std::filesystem::path& folder, const Cloth& source,
                            const FemScale& scale, const std::optional<Grid>& grid,
                            const CommonOptions& common);

}  // namespace springtime::app
