#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace springtime {

// Memory that starts on a cache line, as wide loads like it.
template <class T>
struct CacheAligned {
    using value_type = T;
    static constexpr std::align_val_t kLine{64};

    CacheAligned() = default;
    template <class U>
    CacheAligned(const CacheAligned<U>&)
    {
    }
    T* allocate(std::size_t count)
    {
        return static_cast<T*>(::operator new(count * sizeof(T), kLine));
    }
    void deallocate(T* memory, std::size_t) { ::operator delete(memory, kLine); }
    bool operator==(const CacheAligned&) const { return true; }
};

template <class T>
using AlignedVector = std::vector<T, CacheAligned<T>>;

}  // namespace springtime
