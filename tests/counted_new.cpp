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

void* allocated(std::size_t size, std::size_t alignment) noexcept
{
    ++springtime::allocation_count;
    const std::size_t whole = (std::max<std::size_t>(size, 1) + alignment - 1) & ~(alignment - 1);
    return std::aligned_alloc(alignment, whole);
}

void* allocated_or_thrown(std::size_t size, std::size_t alignment = alignof(std::max_align_t))
{
    void* memory = allocated(size, alignment);
    if (!memory) throw std::bad_alloc();
    return memory;
}

}  // namespace

// Every form: a sanitizer has forms of its own for those that are left out, and theirs do not match
// these.
void* operator new(std::size_t size)
{
    return allocated_or_thrown(size);
}
void* operator new[](std::size_t size)
{
    return allocated_or_thrown(size);
}
void* operator new(std::size_t size, std::align_val_t alignment)
{
    return allocated_or_thrown(size, std::size_t(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment)
{
    return allocated_or_thrown(size, std::size_t(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept
{
    return allocated(size, alignof(std::max_align_t));
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept
{
    return allocated(size, alignof(std::max_align_t));
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
void operator delete(void* memory, const std::nothrow_t&) noexcept
{
    std::free(memory);
}
void operator delete[](void* memory) noexcept
{
    std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept
{
    std::free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept
{
    std::free(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept
{
    std::free(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept
{
    std::free(memory);
}
