#pragma once

#include <map>
#include <string>
#include <vector>

namespace springtime::bench {

// Whole jobs on the GPU, as `generate`, `train` and `evaluate` do them, without files.
struct GpuJob {
    std::string name;
    double seconds = 0;           // by the clock, from motion in memory to the answer
    double learning_seconds = 0;  // of it: solving and iterations; 0 where nothing is learned
    std::string outcome;
    // What of the time passed before each report of progress, by the stage that it was of.
    std::map<std::string, double> stages;
};
std::vector<GpuJob> run_gpu_jobs(int rollouts);

}  // namespace springtime::bench
