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
    std::string device;    // where it is trained: auto, reference, cpu or cuda
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

// What is trained in a study, from its TOML: whatever it is tested on, and however it is written.
std::string trainings_of(const std::string& study);

// A text or a number at the top of a JSON file; nothing where it is another value or not there.
std::optional<std::string> text_in(const std::filesystem::path& json, const std::string& key);
std::optional<double> number_in(const std::filesystem::path& json, const std::string& key);

}  // namespace springtime::app
