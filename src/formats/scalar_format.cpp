#include "formats/scalar_format.h"

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>

#include "core/assert.h"

namespace springtime {

namespace {

static_assert(std::endian::native == std::endian::little ||
              std::endian::native == std::endian::big);

template <std::unsigned_integral Bits>
Bits reversed(Bits bits)
{
    if constexpr (sizeof(Bits) == 2) return __builtin_bswap16(bits);
    if constexpr (sizeof(Bits) == 4) return __builtin_bswap32(bits);
    if constexpr (sizeof(Bits) == 8) return __builtin_bswap64(bits);
    return bits;
}

template <class T, class Bits, bool kSwap>
double one(const char* bytes)
{
    Bits bits;
    std::memcpy(&bits, bytes, sizeof bits);
    if constexpr (kSwap) bits = reversed(bits);
    return double(std::bit_cast<T>(bits));
}

template <class T, class Bits, bool kSwap>
void run(const char* bytes, std::size_t stride, std::size_t count, double* out,
         std::size_t out_stride)
{
    if (stride == sizeof(T) && out_stride == 1) {  // constant strides, for vector instructions
        for (std::size_t i = 0; i < count; ++i) {
            out[i] = one<T, Bits, kSwap>(bytes + i * sizeof(T));
        }
        return;
    }
    for (std::size_t i = 0; i < count; ++i) {
        out[i * out_stride] = one<T, Bits, kSwap>(bytes + i * stride);
    }
}

}  // namespace

void decode_scalars(const ScalarFormat& format, const char* bytes, std::size_t stride,
                    std::size_t count, double* out, std::size_t out_stride)
{
    const bool swap = format.big != (std::endian::native == std::endian::big);
    const auto go = [&]<class T, class Bits>(T, Bits) {
        swap ? run<T, Bits, true>(bytes, stride, count, out, out_stride)
             : run<T, Bits, false>(bytes, stride, count, out, out_stride);
    };
    if (format.kind == 'f') {
        return format.bytes == 4 ? go(float(), std::uint32_t()) : go(double(), std::uint64_t());
    }
    const bool sign = format.kind == 'i';
    switch (format.bytes) {
        case 1:
            return sign ? go(std::int8_t(), std::uint8_t()) : go(std::uint8_t(), std::uint8_t());
        case 2:
            return sign ? go(std::int16_t(), std::uint16_t())
                        : go(std::uint16_t(), std::uint16_t());
        case 4:
            return sign ? go(std::int32_t(), std::uint32_t())
                        : go(std::uint32_t(), std::uint32_t());
        case 8:
            return sign ? go(std::int64_t(), std::uint64_t())
                        : go(std::uint64_t(), std::uint64_t());
        default:
            SPRINGTIME_ASSERT(false);
    }
}

double decode_scalar(const ScalarFormat& format, const char* bytes)
{
    double value = 0;
    decode_scalars(format, bytes, 0, 1, &value);
    return value;
}

}  // namespace springtime
