#pragma once

#include <filesystem>
#include <vector>

#include "springtime/learn.h"

namespace springtime {

// The log of a run (RunFolder), which stays as it is. A last line that a crash tore does not count;
// for any other that is damaged it throws Error.
std::vector<TrainLog> read_train_log(const std::filesystem::path& path);

}  // namespace springtime
