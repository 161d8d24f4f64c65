#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "options.h"
#include "springtime/evaluate.h"
#include "springtime/identify.h"
#include "springtime/learn.h"

namespace springtime::app {

struct TrainingOutcome {
    TrainResult result;
    std::filesystem::path folder;
    double seconds = 0;           // of this sitting, all included
    double training_seconds = 0;  // of the iterations of all sittings
    double homogeneous_rmse = 0;  // on the same validation motion [m]; negative when not fitted
    std::optional<Identification> linear;
    double linear_rmse = -1;  // on the same validation motion [m]; negative when not solved
    std::string story;        // what was done and why, in words
};

// The best homogeneous network of a grid, and how it follows the validation motion.
struct GridTrial {
    Grid grid;
    Cloth homogeneous;
    double rmse = 0;  // [m]
};
GridTrial try_grid(const MotionSource& lesson, const TrainOptions& options, const RunFolder& folder,
                   const CommonOptions& common);
// Spares the run fitting it again, and trying again when it is resumed.
void keep_trial(const GridTrial& trial, const RunFolder& folder);
std::optional<Grid> grid_kept(const RunFolder& folder);

// Descends in a run folder that exists, from its last checkpoint if there is one: log, checkpoints,
// cloth.json and homogeneous.json, with a progress bar. Begins with the linear answer instead of
// the homogeneous fit where it follows the validation motion better.
TrainingOutcome run_training(const std::string& motion, const TrainOptions& options,
                             const RunFolder& folder, const CommonOptions& common,
                             const std::optional<Cloth>& linear = {});

// Solves: cloth.json and identification.json.
TrainingOutcome run_linear(const std::string& motion, const IdentifyOptions& solve,
                           const TrainOptions& options, const RunFolder& folder,
                           const CommonOptions& common);

// Solves, keeps that as linear.json, and descends from there where that follows the validation
// motion better.
TrainingOutcome run_auto(const std::string& motion, const IdentifyOptions& solve,
                         TrainOptions options, const RunFolder& folder,
                         const CommonOptions& common);

}  // namespace springtime::app
