// Replaces operator new. Apart from its users: a compiler that inlines delete but not new would
// warn that they do not match.
#include "counted_new.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace springtime {

std::atomic<long> allocation_count{0};

}  // namespace springtime

namespace {

void* counted(std::size_t size, std::size_t alignment)
{
    ++springtime::allocation_count;
    const std::size_t whole = (std::max<std::size_t>(size, 1) + alignment - 1) & ~(alignment - 1);
    void* memory = std::aligned_alloc(alignment, whole);
    if (!memory) throw std::bad_alloc();
    return memory;
}

}  // namespace

// All other forms end in these.
void* operator new(std::size_t size)
{
    return counted(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment)
{
    return counted(size, std::size_t(alignment));
}
void operator delete(void* memory) noexcept
{
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept
{
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept
{
    std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept
{
    std::free(memory);
}
