#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "options.h"

namespace springtime::app {

// Ranks what could be recorded next, with a progress bar.
std::vector<Experiment> ranked_experiments(const Cloth& cloth, const DesignOptions& options,
                                           const CommonOptions& common);
// The best three of a ranking, as lines for people.
std::string ranking_text(const Cloth& cloth, const std::vector<Experiment>& ranking);
nlohmann::json ranking_json(const Cloth& cloth, const std::vector<Experiment>& ranking);

// How well an identified cloth is known, and what to record next.
struct Determination {
    SpringParameters relative;  // standard errors over the size of the parameter
    std::vector<int> unseen;    // springs
    std::vector<bool> held;     // particles that are handles in all rollouts; empty when not known
    std::vector<Experiment> ranking;
};

// `motion` is that the cloth was identified from, or none where it is not there.
Determination determination_of(const Cloth& cloth, const MotionReader* motion,
                               const CommonOptions& common);
void print_determination(const Cloth& cloth, const Determination& determination);
nlohmann::json determination_json(const Cloth& cloth, const Determination& determination);

}  // namespace springtime::app
