#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "unseen_motion.h"

namespace springtime::app {

// Trains the baselines (baselines/) on the motion in folder/train.h5, or takes what an earlier run
// left there, and runs them on rollouts that they have not seen. A row for each: those of
// UnseenMotion, and what its training was.
nlohmann::json baseline_rows(const ReproduceArguments& arguments,
                             const std::filesystem::path& folder, const UnseenMotion& unseen,
                             const Cloth& source);

RowKeys baseline_keys();

}  // namespace springtime::app
