#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

// Neural baselines that learn from the same motion as the springs: a neural ODE and MeshGraphNets.
// docs/baselines.md says what was published and what is chosen here. This header needs no LibTorch.
namespace springtime::baselines {

struct TrainOptions {
    std::string kind;                   // mgn or ode
    std::filesystem::path motion, out;  // a file of tensors, a folder
    std::int64_t steps = 0;             // in all, earlier runs included; 0: as published
    double minutes = 0;                 // of this run, then a checkpoint; 0: no limit
    std::vector<double>
        noise;  // mgn: standard deviation [m]; of several the best is found by trial
    std::int64_t trial_steps = 3000;
    double trial_minutes = 0;         // of each trial; 0: no limit
    int batch = 0;                    // graphs or clips; 0: 2 graphs, 32 clips
    double rate = 0;                  // of Adam; 0: 5e-4 for mgn, 3e-4 for ode
    int every = 1;                    // mgn: frames of the motion in one of its steps
    int clip_steps = 500;             // ode
    int hidden = 0, layers = 0;       // 0: as published: 128 and 15 blocks, 512 and 6 layers
    std::int64_t validate_every = 0;  // steps; 0: 5000 for mgn, 32 for ode
    std::uint64_t seed = 1;
    std::string device = "auto";  // or cpu, cuda
    bool half = false;            // mgn: message passing in bfloat16
    bool graphs = true;           // on the GPU: a step is recorded once and then replayed
    bool quiet = false;
};

struct EvaluateOptions {
    std::filesystem::path model;
    std::vector<std::filesystem::path> motions, outs;  // a file of errors for each motion
    std::string device = "auto";
    bool positions = false;  // keeps the predicted motion as well
};

// Trains, or goes on where an earlier run stopped. A model without a checkpoint was trained
// elsewhere and is taken as it is. Leaves model.tensors (the best so far), checkpoint.tensors and
// log.csv in the folder. Returns false if a signal stopped it.
bool train(const TrainOptions& options);

// Runs a model on rollouts that it has not seen and writes the errors of all frames. Throws
// BadInput if any of them was trained on.
void evaluate(const EvaluateOptions& options);

// Asks train() to write a checkpoint and return. Safe in a signal handler.
void stop_soon();

}  // namespace springtime::baselines
