#pragma once

#include <string>
#include <vector>

#include "options.h"

namespace springtime::app {

// Every choice of the learner, as flags; the defaults are our own schedule.
struct TrainFlags {
    std::string grid = "32x32", substeps = "motion";
    std::vector<std::string> families{"structural", "diagonal", "antidiagonal", "bending"};
    std::string method = "auto";
    // Of the linear method.
    std::string form = "auto", instruments = "auto", solver = "direct";
    double window = 0, prior = -1;
    // Of the gradient method.
    std::string passes = "dual", schedule = "cosine", freeze = "none";
    int stiffness_iterations = 128, damping_iterations = 64;
    // One weight for all passes, or one for each of the two.
    std::vector<double> force_weight{1}, impulse_weight{10}, position_weight{0}, negative_weight{0};
    bool log_parameters = false;
    TrainOptions run;
};

void add_train_flags(CLI::App& verb, TrainFlags& flags);
IdentifyOptions identify_options_from(const TrainFlags& flags, const CommonOptions& common);
TrainOptions train_options_from(const TrainFlags& flags, const CommonOptions& common);

}  // namespace springtime::app
