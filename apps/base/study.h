#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace springtime::app {

// One training of a study.
struct StudyMember {
    std::string name;   // of its folder
    std::string group;  // the name without the seed: members of an ensemble share it
    std::filesystem::path motion;
    std::string settings;  // TOML, as train --config takes it
    // What tells it from others, for people: setting and value.
    std::vector<std::pair<std::string, std::string>> differs;
};

// Many trainings that belong together (docs/formats.md).
struct Study {
    std::vector<StudyMember> members;  // in a fixed order
    std::optional<std::filesystem::path> test;
    bool ensemble = false;  // groups have several members
};

// Paths in it count from the folder that it lies in. Throws Error for what is no study.
Study read_study(const std::filesystem::path& path);

// A number at the top of a JSON file; nothing where it is null or not there.
std::optional<double> number_in(const std::filesystem::path& json, const std::string& key);

}  // namespace springtime::app
