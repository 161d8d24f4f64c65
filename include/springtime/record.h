#pragma once

#include <functional>
#include <optional>

#include "springtime/motion.h"
#include "springtime/rest.h"
#include "springtime/simulation.h"

namespace springtime {

// Told how much is done; returns false to stop.
using ProgressHook = std::function<bool(double done, double total)>;

// What a run left behind. When it blew up or was stopped, the frames before that are there.
struct Recording {
    Rollout rollout;
    std::optional<StepReport> blow_up;
    bool stopped = false;
    bool settled = false;  // only when it was watched
};

// Advances the simulation and keeps every stride-th step, the present state included. With a rest
// rule it ends early, once the cloth has settled and all paths have ended.
Recording record(Simulation& simulation, std::size_t frames, int stride,
                 const ProgressHook& progress, const std::optional<RestRule>& rest = {});

}  // namespace springtime
