#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "springtime/cloth.h"

namespace springtime {

// A grey-scale map from a PNG: 0 for black, 1 for white, in proportion to the stored samples of 8
// or 16 bits. Colour becomes luminance; transparency and gamma are ignored, because a map holds
// data and not light. Throws Error that names the file.
ValueMap read_grey_png(const std::filesystem::path& path);

// Grey of 16 bits, row by row from the top.
struct GreyPicture {
    int width = 0, height = 0;
    std::vector<std::uint16_t> grey;
};

// Written as PATH.part, then renamed. The remark becomes a text chunk.
void write_grey_png(const std::filesystem::path& path, const GreyPicture& picture,
                    const std::string& remark);

}  // namespace springtime
