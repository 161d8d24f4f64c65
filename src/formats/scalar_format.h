#pragma once

#include <cstddef>

namespace springtime {

// How a number lies in a binary file.
struct ScalarFormat {
    char kind = 'f';   // f: IEEE 754, i: two's complement, u: unsigned
    int bytes = 4;     // 4 or 8 of kind f; 1, 2, 4 or 8 of the others
    bool big = false;  // the highest byte first
};

// The `count` numbers that begin every `stride` bytes, as double, which holds all but the integers
// beyond 2^53 exactly. `out` takes one in every `out_stride`.
void decode_scalars(const ScalarFormat& format, const char* bytes, std::size_t stride,
                    std::size_t count, double* out, std::size_t out_stride = 1);

double decode_scalar(const ScalarFormat& format, const char* bytes);

}  // namespace springtime
