#pragma once

#include <optional>
#include <string>
#include <vector>

#include "springtime/export.h"
#include "web/payload.h"
#include "web/reported_run.h"

namespace springtime {

// Runs all cloths on the same rollouts of the motion. Adds to the header what the page shows of it:
// errors by rollout and frame, baselines, and frames for the player. Remarks are sentences for
// people.
void add_motion(Payload& payload, const Motion& motion, const std::vector<ReportedRun>& runs,
                const ReportOptions& options, const Progress& progress,
                std::vector<std::string>& remarks);

}  // namespace springtime
