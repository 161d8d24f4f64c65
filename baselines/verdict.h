#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace springtime::baselines {

// The error on rollouts that were left out of a training, as it went.
struct TrainingCurve {
    std::string kind;  // mgn or ode
    std::int64_t steps = 0;
    std::vector<double> validation;  // [m], at even distances; infinite where the motion blew up
};

struct Verdict {
    bool trained = false;
    std::string text;  // "stopped after 300 steps, error still falling"
};

// A baseline is trained when its error no longer falls, or at the published number of steps.
// Nothing else may be called so.
Verdict verdict_of(const TrainingCurve& curve);

inline constexpr std::int64_t kMostMeshGraphNetSteps = 500000;
inline constexpr std::int64_t kPublishedOdeSteps = 256;

}  // namespace springtime::baselines
