#pragma once

#include <filesystem>
#include <string>

#include "options.h"

namespace springtime::app {

struct GeneratedFile {
    int rollouts = 0;
    bool finished = false;
};

// A file that a killed run left under its temporary name is as good as its flushed rollouts: takes
// it for the file, if there is none.
void adopt_part_file(const std::filesystem::path& out);

// Makes rollouts into a motion file, with a progress bar. With `resume`, the rollouts that are
// there already are kept; `config` says what made the file and must agree with them. The file
// holds what `camera` sees of the rollouts.
GeneratedFile generate_file(const std::filesystem::path& out, const Cloth& cloth,
                            const GenerateOptions& run, const std::string& config, bool resume,
                            const CommonOptions& common, const ObserveOptions& camera = {});

}  // namespace springtime::app
