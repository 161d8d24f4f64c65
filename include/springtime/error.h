#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace springtime {

// A message often quotes what it found; a zero byte in that would hide what follows.
inline std::string without_zero_bytes(std::string text)
{
    for (char& c : text) {
        if (c == '\0') c = '?';
    }
    return text;
}

// Bad input. The message names the source, what was found, what was needed and what to do.
class Error : public std::runtime_error {
  public:
    template <class... Args>
    explicit Error(fmt::format_string<Args...> text, Args&&... args)
        : std::runtime_error(without_zero_bytes(fmt::format(text, std::forward<Args>(args)...)))
    {
    }
};

// The input was fine but the work could not be done: a full disk, a cloth that blew up.
class Failure : public std::runtime_error {
  public:
    template <class... Args>
    explicit Failure(fmt::format_string<Args...> text, Args&&... args)
        : std::runtime_error(without_zero_bytes(fmt::format(text, std::forward<Args>(args)...)))
    {
    }
};

}  // namespace springtime
