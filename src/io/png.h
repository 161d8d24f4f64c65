#pragma once

#include <filesystem>

#include "springtime/material.h"

namespace springtime {

// A grey-scale map from a PNG: 0 for black, 1 for white, in proportion to the stored samples of 8
// or 16 bits. Colour becomes luminance; transparency and gamma are ignored, because a map holds
// data and not light. Throws Error that names the file.
ValueMap read_grey_png(const std::filesystem::path& path);

}  // namespace springtime
