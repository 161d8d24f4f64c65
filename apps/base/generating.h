#pragma once

#include <filesystem>
#include <string>

#include "options.h"

namespace springtime::app {

struct GeneratedFile {
    int rollouts = 0;
    bool finished = false;
    std::filesystem::path path;  // where they are
};

// What to do about a file that is there.
struct Existing {
    bool resume = false;     // its rollouts are kept
    bool overwrite = false;  // it may be replaced
};

// A file that a killed run left under its temporary name is as good as its flushed rollouts: takes
// it for the file, if that has fewer.
void adopt_part_file(const std::filesystem::path& out);

// Makes rollouts into a motion file, with a progress bar. `config` says what made the file, and
// must agree with rollouts that are kept. The file holds what `camera` sees of the rollouts.
GeneratedFile generate_file(const std::filesystem::path& out, const Cloth& cloth,
                            const GenerateOptions& run, const std::string& config,
                            const Existing& existing, const CommonOptions& common,
                            const ObserveOptions& camera = {});

}  // namespace springtime::app
