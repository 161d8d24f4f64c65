#pragma once

#include <atomic>

namespace springtime {

// Calls of operator new so far, of every form, in a program that links counted_new.cpp.
extern std::atomic<long> allocation_count;

}  // namespace springtime
