#pragma once

#include <cmath>

#include "springtime/vec3.h"

namespace springtime {

// 1/sqrt(x), for x that is not tiny.
template <class T>
SPRINGTIME_HD inline T inverse_root(const T& x)
{
    using std::sqrt;
    return T(1.0f) / sqrt(x);
}

// A GPU has an instruction for it. Its error is at most 1.3e-7 of the value (2^-22.9, the manual of
// PTX), where the root and the quotient, both rounded, have 0.9e-7 and take a dozen instructions.
SPRINGTIME_HD inline float inverse_root(const float& x)
{
#if defined(__CUDA_ARCH__)
    float root;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
    return root;
#else
    return 1.0f / std::sqrt(x);
#endif
}

}  // namespace springtime
