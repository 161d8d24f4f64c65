#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/scalar_format.h"

namespace springtime {

struct PlyProperty {
    std::string name;
    bool list = false;
    ScalarFormat count;  // of a list: how many values follow, a whole number
    ScalarFormat value;
};

struct PlyElement {
    std::string name;
    std::uint64_t count = 0;
    std::vector<PlyProperty> properties;

    bool has_list() const;
};

struct PlyHeader {
    bool ascii = false;
    std::vector<PlyElement> elements;
    std::size_t bytes = 0;  // of the header, to the end of its last line
};

// Throws Error naming `source` and the line.
PlyHeader parse_ply_header(std::string_view bytes, std::string_view source);

}  // namespace springtime
