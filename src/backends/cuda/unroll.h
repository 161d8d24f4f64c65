#pragma once

// The host compiler of nvcc does not know it.
#if defined(__CUDA_ARCH__)
#define SPRINGTIME_UNROLL _Pragma("unroll")
#define SPRINGTIME_PRAGMA(text) _Pragma(#text)
#define SPRINGTIME_UNROLL_IF(yes) SPRINGTIME_PRAGMA(unroll((yes) ? 64 : 1))
#else
#define SPRINGTIME_UNROLL
#define SPRINGTIME_UNROLL_IF(yes)
#endif
