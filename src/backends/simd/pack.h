#pragma once

// Compiled once per instruction set; SPRINGTIME_ISA names it and is part of every type here.
#if defined(__SSE__)
#include <immintrin.h>
#else
#include <cmath>
#endif

namespace springtime::SPRINGTIME_ISA {

#if defined(__AVX512F__)
inline constexpr int kWidth = 16;
#elif defined(__AVX__)
inline constexpr int kWidth = 8;
#else
inline constexpr int kWidth = 4;
#endif

// One float for each lane of a register.
struct Pack {
    typedef float Lanes __attribute__((vector_size(4 * kWidth)));
    typedef float Unaligned __attribute__((vector_size(4 * kWidth), aligned(4), may_alias));
    Lanes lanes;

    Pack() : lanes{} {}
    Pack(Lanes value) : lanes(value) {}
    explicit Pack(float value) : lanes(Lanes{} + value) {}

    static Pack load(const float* from) { return Pack(*reinterpret_cast<const Unaligned*>(from)); }
    void store(float* to) const { *reinterpret_cast<Unaligned*>(to) = lanes; }
};

inline Pack operator+(Pack a, Pack b)
{
    return a.lanes + b.lanes;
}
inline Pack operator-(Pack a, Pack b)
{
    return a.lanes - b.lanes;
}
inline Pack operator-(Pack a)
{
    return -a.lanes;
}
inline Pack operator*(Pack a, Pack b)
{
    return a.lanes * b.lanes;
}
inline Pack operator/(Pack a, Pack b)
{
    return a.lanes / b.lanes;
}

// Lane by lane, yes or no: all bits of a lane set, or none.
struct Mask {
    typedef int Lanes __attribute__((vector_size(4 * kWidth)));
    Lanes lanes;

    bool any() const
    {
#if defined(__AVX512F__)
        return _mm512_test_epi32_mask(__m512i(lanes), __m512i(lanes)) != 0;
#elif defined(__AVX__)
        return _mm256_movemask_ps(__m256(lanes)) != 0;
#elif defined(__SSE__)
        return _mm_movemask_ps(__m128(lanes)) != 0;
#else
        int all = 0;
        for (int i = 0; i < kWidth; ++i) all |= lanes[i];
        return all != 0;
#endif
    }
};

inline Mask operator<(Pack a, Pack b)
{
    return {a.lanes < b.lanes};
}
inline Mask operator>(Pack a, Pack b)
{
    return {a.lanes > b.lanes};
}
inline Mask operator>=(Pack a, Pack b)
{
    return {a.lanes >= b.lanes};
}
inline Mask operator&(Mask a, Mask b)
{
    return {a.lanes & b.lanes};
}
inline Pack choose(Mask condition, Pack yes, Pack no)
{
    return condition.lanes ? yes.lanes : no.lanes;
}
// For numbers that an int can hold.
inline Pack floor(Pack a)
{
    const Pack whole =
        __builtin_convertvector(__builtin_convertvector(a.lanes, Mask::Lanes), Pack::Lanes);
    return choose(whole > a, whole - Pack(1.0f), whole);
}
// from[index] for each lane.
inline Pack gather(const float* from, Mask::Lanes index)
{
#if defined(__AVX512F__)
    return Pack(Pack::Lanes(
        _mm512_mask_i32gather_ps(_mm512_setzero_ps(), __mmask16(-1), __m512i(index), from, 4)));
#elif defined(__AVX2__)
    return Pack(Pack::Lanes(_mm256_i32gather_ps(from, __m256i(index), 4)));
#else
    Pack result;
    for (int i = 0; i < kWidth; ++i) result.lanes[i] = from[index[i]];
    return result;
#endif
}
inline Pack max(Pack a, Pack b)
{
    return a.lanes > b.lanes ? a.lanes : b.lanes;
}
inline Pack sqrt(Pack a)
{
#if defined(__AVX512F__)
    // The unmasked form trips a warning inside GCC 12's own header.
    return Pack(Pack::Lanes(_mm512_maskz_sqrt_ps(__mmask16(-1), __m512(a.lanes))));
#elif defined(__AVX__)
    return Pack(Pack::Lanes(_mm256_sqrt_ps(__m256(a.lanes))));
#elif defined(__SSE__)
    return Pack(Pack::Lanes(_mm_sqrt_ps(__m128(a.lanes))));
#else
    for (int i = 0; i < kWidth; ++i) a.lanes[i] = std::sqrt(a.lanes[i]);
    return a;
#endif
}

}  // namespace springtime::SPRINGTIME_ISA
