#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "flags.h"

// The one rule for what verbs write: nothing is replaced without --overwrite, which never takes an
// input of the same command, and folders of others are left alone.
namespace springtime::app {

struct Output {
    std::string flag;  // --out
    std::filesystem::path path;
};

void add_overwrite(const Flags& flags, bool& overwrite);

// Throws Error for -, which would mean standard output: nothing is written there but the result.
void check_no_stream(const std::string& flag, const std::filesystem::path& path);

// Throws Error unless all these files can be written. Inputs are all values of the other flags;
// `more` are those that no flag names by itself.
void check_outputs(const Flags& flags, const std::vector<Output>& outputs, bool overwrite,
                   const std::vector<std::filesystem::path>& more = {});

// A folder that a verb fills: its name, and the file in it that tells whose it is.
struct OutputFolder {
    std::filesystem::path path;
    std::string marker;    // a file name
    std::string settings;  // what the marker holds
};

// Throws Error unless the folder is new, empty, or has the marker.
void check_output_folder(const OutputFolder& folder);
bool has_marker(const OutputFolder& folder);

// Makes the folder with its marker, and the only writer in it, until what is returned goes.
std::shared_ptr<void> claim_folder(const OutputFolder& folder);

}  // namespace springtime::app
