#pragma once

#include <string>
#include <vector>

#include "springtime/cloth.h"
#include "springtime/environment.h"

namespace springtime {

// A motion that could be recorded next: the cloth falls from the flat sheet while some of it is
// held.
struct Experiment {
    std::string name;               // for people: "pin corner-nw and corner-se"
    std::vector<std::string> pins;  // as particles_named() takes them
    std::vector<int> pinned;        // particles
    double gain = 0;                // what it would tell: log of det(H + dH)/det(H), halved
    double stiffness_error = 0;     // median standard error afterwards [N/m]
    double damping_error = 0;       // likewise [N s/m]
};

struct DesignOptions {
    double seconds = 4;  // of each experiment
    double dt = 1e-3;    // [s]
    int stride = 20;     // steps between frames
    Environment environment;
    int threads = 0;
};

// Ranks experiments by how much they would add to what is known, best first: each is simulated
// with the cloth as it was identified. What is known is taken from the standard errors, each for
// itself; a parameter that was not seen counts as known to no better than its own size.
// Throws Error for a cloth without standard errors.
std::vector<Experiment> rank_experiments(const Cloth& cloth, const DesignOptions& options);

}  // namespace springtime
