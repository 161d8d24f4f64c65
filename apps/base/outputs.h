#pragma once

#include <filesystem>
#include <functional>
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

// A folder that a verb fills.
struct OutputFolder {
    std::filesystem::path path;
    std::string marker;               // the name of the file in it that tells whose it is
    std::string settings;             // what the marker holds
    std::vector<std::string> of_old;  // what is in those of versions that left no marker
    bool goes_on = false;             // with the same settings, from what is there
    // What of the settings must be the same to go on; all of them where this is empty.
    std::function<std::string(const std::string& settings)> essence{};
};

// Makes the folder with its marker, and the only writer in it, until what is returned goes. Throws
// Error unless the folder is new, empty, or one of this verb: then it must go on with the same
// settings, or be told to overwrite. Folders of others are never taken.
std::shared_ptr<void> claim_folder(const OutputFolder& folder, bool overwrite);

}  // namespace springtime::app
