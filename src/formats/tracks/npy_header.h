#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/tracks/byte_source.h"

namespace springtime {

// What stands before the numbers of a NumPy array file (.npy, formats 1.0, 2.0 and 3.0).
struct NpyHeader {
    std::string type;  // as NumPy writes it: "<f4", "|O", "[('a', '<f8'), ...]"
    bool fortran_order = false;
    std::vector<std::uint64_t> shape;
    std::uint64_t bytes = 0;  // of the header, with the magic

    // How its numbers lie, or none when they are not plain numbers that ScalarFormat knows.
    std::optional<ScalarFormat> scalar_format() const;
    bool has_objects() const { return type.find('O') != std::string::npos; }
    std::string shape_text() const;  // "100 x 9 x 3"
};

// Reads it and leaves the source at the first number. Throws Error when it is damaged or when the
// rest of the source has another length than the shape needs (of types that are known).
NpyHeader read_npy_header(ByteSource& source);

// The dictionary literal alone: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
NpyHeader parse_npy_dictionary(std::string_view text, std::string_view source);

}  // namespace springtime
