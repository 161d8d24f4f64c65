#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "options.h"

namespace springtime::app {

// What cloths that were learned alike, but for their seeds, say together.
struct Ensemble {
    std::string name;
    std::vector<std::filesystem::path> cloths;
};

// Writes the mean of their parameters as a cloth whose standard errors are how they scatter. With a
// test motion, all of them run along it: the scatter of what they predict is the error bar, and
// knows about chaos. Leaves cloth.json, motion.csv and motion.png in the folder.
Result write_ensemble(const Ensemble& ensemble, const std::filesystem::path& folder,
                      const std::string& test, const CommonOptions& common);

}  // namespace springtime::app
