#pragma once

#include <functional>
#include <string>
#include <vector>

#include "springtime/cloth.h"
#include "springtime/environment.h"
#include "springtime/generate.h"

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
    double dt = 1e-3;    // [s]; cut into sub-steps where the cloth needs them
    int stride = 20;     // steps between frames
    Environment environment;
    int threads = 0;
};

// Ranks experiments by how much they would add to what is known, best first: each is simulated
// with the cloth as it was identified, from the start that generate() gives its first rollout when
// these particles are pinned. What is known are known_errors(), each for itself. Noise is taken to
// be what it was, and every frame to count: where filtering takes the quick part of the motion
// away, this promises too much. An experiment that blows up is left out.
// Does not depend on the number of threads. `keep_going` is asked now and then with the share that
// is done; when it says no, Failure is thrown. Throws Error for a cloth without standard errors,
// or without the noise that they come from.
std::vector<Experiment> rank_experiments(const Cloth& cloth, const DesignOptions& options,
                                         const std::function<bool(double share)>& keep_going = {});

}  // namespace springtime
