#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

// Files whose names differ by a number: a0001.obj, a0002.obj and so on.
namespace springtime {

// A name without the last number in it, and that number.
struct NumberedName {
    explicit NumberedName(const std::filesystem::path& path);

    std::filesystem::path folder;
    std::string before, after;
    bool numbered = false;
    std::string digits;  // without leading zeros: longer is larger
};

// By folder, by what stands around the number, then by the number.
bool natural_order(const std::filesystem::path& a, const std::filesystem::path& b);

// When each file of a sequence comes, counted from the first in frames: the smallest step between
// two numbers is one frame, so that all may be even. None where names do not tell it: they differ
// by more than a number, or steps are no multiples of the smallest. Throws Error for two files of
// one number and for numbers that are too long.
std::optional<std::vector<double>> frame_numbers(const std::vector<std::filesystem::path>& files);

}  // namespace springtime
