#pragma once

// The host compiler of nvcc does not know it.
#if defined(__CUDA_ARCH__)
#define SPRINGTIME_UNROLL _Pragma("unroll")
#else
#define SPRINGTIME_UNROLL
#endif
