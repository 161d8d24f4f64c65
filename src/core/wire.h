#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "springtime/error.h"
#include "springtime/vec3.h"

// Values as bytes, for another process of the same program. A struct takes part with a function
// fields(value) beside it, which ties its members in order: the same for both directions.
namespace springtime {

// Types whose bytes are their values.
template <class T>
inline constexpr bool kPlain = std::is_arithmetic_v<T> || std::is_enum_v<T>;
template <class T>
inline constexpr bool kPlain<Vec3<T>> = kPlain<T>;
template <class T, std::size_t n>
inline constexpr bool kPlain<std::array<T, n>> = kPlain<T>;

class WireWriter {
  public:
    template <class... T>
    void operator()(const T&... values)
    {
        (put(values), ...);
    }
    void append(const WireWriter& other)
    {
        bytes_.insert(bytes_.end(), other.bytes_.begin(), other.bytes_.end());
    }
    const std::vector<std::byte>& bytes() const { return bytes_; }

  private:
    template <class T>
    void put_bytes(const T* from, std::size_t count)
    {
        static_assert(std::is_trivially_copyable_v<T>);
        const auto* begin = reinterpret_cast<const std::byte*>(from);
        bytes_.insert(bytes_.end(), begin, begin + count * sizeof(T));
    }
    template <class T>
    void put(const T& value)
    {
        if constexpr (kPlain<T>) {
            put_bytes(&value, 1);
        } else {
            // Both directions share one list of members; this one changes nothing.
            std::apply([&](const auto&... members) { (put(members), ...); },
                       fields(const_cast<T&>(value)));
        }
    }
    template <class T>
    void put(std::span<const T> values)
    {
        put(values.size());
        if constexpr (kPlain<T>) {
            put_bytes(values.data(), values.size());
        } else {
            for (const T& value : values) put(value);
        }
    }
    template <class T>
    void put(const std::vector<T>& values)
    {
        put(std::span<const T>(values));
    }
    void put(const std::string& text) { put(std::span<const char>(text)); }
    template <class T>
    void put(const std::optional<T>& value)
    {
        put(value.has_value());
        if (value) put(*value);
    }
    template <class T, std::size_t n>
    requires(!kPlain<T>) void put(const std::array<T, n>& values)
    {
        for (const T& value : values) put(value);
    }

    std::vector<std::byte> bytes_;
};

// Reads what a WireWriter wrote, in the same order.
class WireReader {
  public:
    explicit WireReader(std::span<const std::byte> bytes) : left_(bytes) {}

    template <class... T>
    void operator()(T&... values)
    {
        (get(values), ...);
    }
    template <class T>
    T next()
    {
        T value{};
        get(value);
        return value;
    }

  private:
    [[noreturn]] static void refuse()
    {
        throw Failure("ranks: a message is cut off; start all ranks from the same program");
    }
    template <class T>
    void get_bytes(T* to, std::size_t count)
    {
        static_assert(std::is_trivially_copyable_v<T>);
        if (count > left_.size() / sizeof(T)) refuse();
        const std::size_t size = count * sizeof(T);
        if (size > 0) std::memcpy(static_cast<void*>(to), left_.data(), size);
        left_ = left_.subspan(size);
    }
    template <class T>
    void get(T& value)
    {
        if constexpr (kPlain<T>) {
            get_bytes(&value, 1);
        } else {
            std::apply([&](auto&... members) { (get(members), ...); }, fields(value));
        }
    }
    template <class T>
    void get(std::vector<T>& values)
    {
        const auto count = next<std::size_t>();
        if (count > left_.size()) refuse();
        values.resize(count);
        if constexpr (kPlain<T>) {
            get_bytes(values.data(), count);
        } else {
            for (T& value : values) get(value);
        }
    }
    void get(std::string& text)
    {
        std::vector<char> letters;
        get(letters);
        text.assign(letters.begin(), letters.end());
    }
    template <class T>
    void get(std::optional<T>& value)
    {
        value.reset();
        if (next<bool>()) get(*(value = T{}));
    }
    template <class T, std::size_t n>
    requires(!kPlain<T>) void get(std::array<T, n>& values)
    {
        for (T& value : values) get(value);
    }

    std::span<const std::byte> left_;
};

}  // namespace springtime
