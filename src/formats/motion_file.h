#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "formats/hdf5.h"
#include "springtime/files.h"

// What the writer and the reader of motion files share.
namespace springtime::motion_file {

inline constexpr std::string_view kFormat = "springtime-motion";
inline constexpr std::string_view kUnits = "m, kg, s, N";
inline constexpr int kFileVersion = 1;
// Landmarks are int32 in /handles; the same bound on frames keeps every product below 2^64.
inline constexpr hsize_t kMostPerAxis = std::numeric_limits<std::int32_t>::max();

// By content. Throws Error when it cannot be read.
bool is_hdf5(const std::filesystem::path& path);

std::string rollout_number(std::size_t rollout);  // in the group of all: 000000
std::string rollout_name(std::size_t rollout);    // from the root

// Throws Error naming the first value that is not finite. `first_frame` is that of values[0]. With
// `gaps`, a landmark may be missing: NaN in all three coordinates.
void check_finite(std::span<const float> values, std::string_view what, std::size_t landmarks,
                  std::size_t rollout, std::size_t first_frame, std::string_view source, bool gaps);

void check_header(const MotionHeader& header, std::string_view source);

}  // namespace springtime::motion_file
