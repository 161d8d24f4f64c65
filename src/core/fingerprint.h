#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace springtime {

// A number of a file's bytes that tells whether they have changed. Any one changed byte changes it
// for certain, and it costs less than reading the file. It is no guard against forgery.
std::uint64_t file_fingerprint(const std::filesystem::path& path);
std::uint64_t text_fingerprint(std::string_view text);

}  // namespace springtime
