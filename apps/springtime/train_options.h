#pragma once

#include <string>
#include <vector>

#include "options.h"
#include "springtime/learn.h"

namespace springtime::app {

// Every choice of the learner, as flags: the words among them, and the rest as they are.
struct TrainFlags {
    std::string grid = "auto", substeps = "motion", method = "auto";
    std::vector<std::string> families;  // empty: those of the law
    std::string form = "auto", instruments = "auto";
    double window = 0, prior = -1;
    std::string passes = "auto", schedule = "cosine", freeze = "none";
    double stiffness_start = 0, damping_start = 0;
    std::vector<double> horizons;
    std::vector<double> iterations;
    std::string loss = "distance", masses = "auto";
    std::string globals = "auto";
    std::vector<std::string> fixed;  // globals that stay as stated
    std::string law = "auto";
    std::string elements = "springs", mesh, cut = "auto", damping_kind = "deformation";
    std::string regions;  // empty: none; a number, or the file of a map
    bool orthotropic = false, homogeneous = false;
    SpringLaw terms;  // beyond those of the law
    bool log_parameters = false, plain_parameters = false;
    LearnOptions learn;
};

void add_train_flags(const Flags& verb, TrainFlags& flags);
LearnOptions learn_options_from(const TrainFlags& flags, const CommonOptions& common);

// By their names, as in flags.
std::vector<SpringFamily> families_named(const std::vector<std::string>& names);

}  // namespace springtime::app
