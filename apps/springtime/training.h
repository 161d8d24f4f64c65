#pragma once

#include <filesystem>

#include "options.h"

namespace springtime::app {

struct TrainingOutcome {
    TrainResult result;
    std::filesystem::path folder;
    double seconds = 0;           // of this sitting, all included
    double training_seconds = 0;  // of the iterations of all sittings
    double homogeneous_rmse = 0;  // on the same validation motion [m]
};

// Trains in a run folder that exists, from its last checkpoint if there is one: log, checkpoints,
// cloth.json and homogeneous.json, with a progress bar.
TrainingOutcome run_training(const std::string& motion, const TrainOptions& options,
                             const RunFolder& folder, const CommonOptions& common);

}  // namespace springtime::app
