#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "springtime/generate.h"
#include "springtime/motion.h"
#include "springtime/simulation.h"

namespace springtime {

// Runs one rollout per start side by side and keeps every stride-th step, the start included.
// `done` is called with every part of a frame that is done; what it throws ends it. Throws Failure
// when a rollout blows up.
std::vector<Rollout> record_batch(const Cloth& cloth, const SimulationOptions& options,
                                  const std::vector<RolloutStart>& starts, std::size_t frames,
                                  int stride, const std::function<void(double frames)>& done);

// The same; a blow-up is in the report, and then the rollouts mean nothing. Accelerations are
// computed only if they are asked for.
struct RecordedLanes {
    std::vector<Rollout> rollouts;
    std::optional<StepReport> blow_up;
};
RecordedLanes record_lanes(const Cloth& cloth, const SimulationOptions& options,
                           const std::vector<RolloutStart>& starts, std::size_t frames, int stride,
                           bool with_accelerations, const std::function<void(double frames)>& done);

}  // namespace springtime
