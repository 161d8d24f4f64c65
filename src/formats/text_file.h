#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace springtime {

// Throws Error unless `path` exists and is no directory.
void check_source(const std::filesystem::path& path);

// Throws Error unless a file can be put at `path`: the folder exists, and nothing stands there
// already that is more than a plain file.
void check_target(const std::filesystem::path& path);

// The name a file has while it is written.
std::filesystem::path part_path(const std::filesystem::path& path);

// Renames part_path(path) to `path`, replacing what was there.
void publish_part(const std::filesystem::path& path);

std::string read_text(const std::filesystem::path& path);

// Writes part_path(path), then renames; a failure leaves neither a part nor a changed `path`.
void write_text(const std::filesystem::path& path, std::string_view text);

// Adds to the end, making the file if need be, and closes it: the text outlives a crash of ours.
void append_text(const std::filesystem::path& path, std::string_view text);

}  // namespace springtime
