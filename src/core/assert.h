#pragma once

#include <cstdio>
#include <cstdlib>

// A bug of our own, never bad input. Alive in every build.
#define SPRINGTIME_ASSERT(condition)                                                               \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::fprintf(stderr, "springtime: internal error: %s (%s:%d)\n", #condition, __FILE__, \
                         __LINE__);                                                                \
            std::abort();                                                                          \
        }                                                                                          \
    } while (false)
