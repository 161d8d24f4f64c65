#pragma once

#include "backends/simd/kernels.h"
#include "backends/simd/pack.h"
#include "physics/spring.h"

// How the kernels of one instruction set read the law of a spring (SweepCloth::laws).
namespace springtime::SPRINGTIME_ISA {

// A law whose numbers lie `pitch` apart.
template <class Load>
struct LawNumbers {
    int range_count;
    const float* numbers;
    long pitch;

    SpringRange<Pack> range(int j) const
    {
        const float* from = numbers + 3 * j * pitch;
        return {Load()(from), Load()(from + pitch), Load()(from + 2 * pitch)};
    }
    Pack isotropic() const { return Load()(numbers + 3 * range_count * pitch); }
};

// How a pack takes one of them: the same in every lane, or one per lane.
struct Broadcast {
    Pack operator()(const float* from) const { return Pack(*from); }
};
struct SideBySide {
    Pack operator()(const float* from) const { return Pack::load(from); }
};

// The law with one range, all strains below rest: from, to, stiffness, isotropic damping.
inline constexpr long kCompressionLawSize = 4;
template <class Load>
inline CompressionLaw<Pack> compression_law(const float* numbers, long pitch)
{
    return {{Load()(numbers + 2 * pitch)}, Load()(numbers + 3 * pitch)};
}

}  // namespace springtime::SPRINGTIME_ISA
