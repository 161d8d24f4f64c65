#pragma once

// Compiled once per instruction set; SPRINGTIME_ISA names it and is part of every type here.
#if defined(__SSE__)
#include <immintrin.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
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
    // Less zero, which keeps every value, so that it becomes one broadcast; plus zero would not
    // keep -0 and be computed.
    explicit Pack(float value) : lanes(value - Lanes{}) {}

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
#elif defined(__wasm_simd128__)
        return wasm_v128_any_true(v128_t(lanes));
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
// a > b ? a : b, and so on: the instructions decide as these do where a number is NaN.
inline Pack max(Pack a, Pack b)
{
#if defined(__AVX512F__)
    return Pack(Pack::Lanes(_mm512_maskz_max_ps(__mmask16(-1), __m512(a.lanes), __m512(b.lanes))));
#elif defined(__AVX__)
    return Pack(Pack::Lanes(_mm256_max_ps(__m256(a.lanes), __m256(b.lanes))));
#elif defined(__SSE__)
    return Pack(Pack::Lanes(_mm_max_ps(__m128(a.lanes), __m128(b.lanes))));
#elif defined(__wasm_simd128__)
    return Pack(Pack::Lanes(wasm_f32x4_pmax(v128_t(b.lanes), v128_t(a.lanes))));
#else
    return a.lanes > b.lanes ? a.lanes : b.lanes;
#endif
}
inline Pack min(Pack a, Pack b)
{
#if defined(__AVX512F__)
    return Pack(Pack::Lanes(_mm512_maskz_min_ps(__mmask16(-1), __m512(a.lanes), __m512(b.lanes))));
#elif defined(__AVX__)
    return Pack(Pack::Lanes(_mm256_min_ps(__m256(a.lanes), __m256(b.lanes))));
#elif defined(__SSE__)
    return Pack(Pack::Lanes(_mm_min_ps(__m128(a.lanes), __m128(b.lanes))));
#elif defined(__wasm_simd128__)
    return Pack(Pack::Lanes(wasm_f32x4_pmin(v128_t(b.lanes), v128_t(a.lanes))));
#else
    return a.lanes < b.lanes ? a.lanes : b.lanes;
#endif
}
inline Pack abs(Pack a)
{
    return max(a, -a);
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
#elif defined(__wasm_simd128__)
    return Pack(Pack::Lanes(wasm_f32x4_sqrt(v128_t(a.lanes))));
#else
    for (int i = 0; i < kWidth; ++i) a.lanes[i] = std::sqrt(a.lanes[i]);
    return a;
#endif
}

// The angle of (x, y), from -pi to pi; zero at the origin. With the larger of |x|, |y| below and
// the smaller above, atan(q) for q in [0, 1], brought to |q| <= tan(pi/8) by
// atan(q) = pi/4 + atan((q - 1)/(q + 1)). The polynomial is that of Cephes, good to a few 1e-8 rad.
inline Pack atan2(Pack y, Pack x)
{
    const Pack large = max(abs(x), abs(y)), small = min(abs(x), abs(y));
    const auto steep = small.lanes > 0.41421356f * large.lanes;
    const Pack above = steep ? (small - large).lanes : small.lanes;
    const Pack below = steep ? (small + large).lanes : large.lanes;
    const Pack q = above / max(below, Pack(1e-37f)), z = q * q;
    const Pack series =
        ((Pack(8.05374449538e-2f) * z - Pack(1.38776856032e-1f)) * z + Pack(1.99777106478e-1f)) *
            z -
        Pack(3.33329491539e-1f);
    const Pack none(0.0f), eighth(0.78539816f), quarter(1.57079633f), half(3.14159265f);
    Pack angle = series * z * q + q + Pack(steep ? eighth.lanes : none.lanes);
    angle = abs(y).lanes > abs(x).lanes ? (quarter - angle).lanes : angle.lanes;
    angle = x.lanes < none.lanes ? (half - angle).lanes : angle.lanes;
    return y.lanes < none.lanes ? (-angle).lanes : angle.lanes;
}

}  // namespace springtime::SPRINGTIME_ISA
