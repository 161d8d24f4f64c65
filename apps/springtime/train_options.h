#pragma once

#include <optional>
#include <string>
#include <vector>

#include "options.h"
#include "springtime/identify.h"
#include "springtime/learn.h"

namespace springtime::app {

// Every choice of the learner, as flags. What is not given depends on the kind of motion: our own
// schedule for motion with a source, another one for captured motion.
struct TrainFlags {
    std::string grid = "auto", substeps = "motion";
    std::vector<std::string> families{"structural", "diagonal", "antidiagonal", "bending"};
    std::string method = "auto";
    // Of the linear method.
    std::string form = "auto", instruments = "auto", solver = "direct";
    double window = 0, prior = -1;
    // Of the gradient method.
    std::string passes = "auto", schedule = "cosine", freeze = "none";
    std::optional<int> rounds, stiffness_iterations, damping_iterations, patience, clip_steps;
    std::optional<double> stiffness_rate, damping_rate;
    // One weight for all passes, or one for each of the two; none where none is given.
    std::vector<double> force_weight, impulse_weight, position_weight, negative_weight{0};
    bool log_parameters = false, plain_parameters = false;
    TrainOptions run;
};

void add_train_flags(const Flags& verb, TrainFlags& flags);
// The flags with what was not given filled in for this kind of motion.
TrainFlags fitted_to(TrainFlags flags, const MotionHeader& header);
// Of fitted flags.
IdentifyOptions identify_options_from(const TrainFlags& flags, const CommonOptions& common);
TrainOptions train_options_from(const TrainFlags& flags, const CommonOptions& common);

}  // namespace springtime::app
