#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <utility>

namespace springtime {

// Bad input. The message names the source, what was found, what was needed and what to do.
class Error : public std::runtime_error {
  public:
    template <class... Args>
    explicit Error(fmt::format_string<Args...> text, Args&&... args)
        : std::runtime_error(fmt::format(text, std::forward<Args>(args)...))
    {
    }
};

// The input was fine but the work could not be done: a full disk, a cloth that blew up.
class Failure : public std::runtime_error {
  public:
    template <class... Args>
    explicit Failure(fmt::format_string<Args...> text, Args&&... args)
        : std::runtime_error(fmt::format(text, std::forward<Args>(args)...))
    {
    }
};

}  // namespace springtime
