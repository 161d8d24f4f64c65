#pragma once

#include <fmt/core.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

// Errors, progress and cancelling: what every part of the library shares.
namespace springtime {

inline constexpr const char* kVersion = "0.1.0";

// A message often quotes what it found; a zero byte in that would hide what follows.
inline std::string without_zero_bytes(std::string text)
{
    for (char& c : text) {
        if (c == '\0') c = '?';
    }
    return text;
}

// "1 rollout", "3 rollouts".
inline std::string counted(std::size_t count, std::string_view noun)
{
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// The option that an error is about, by the name of its member: "self_distance". A command line
// turns it into the flag, a binding into the keyword.
struct Field {
    std::string name;
};

// Bad input. The message names the source, what was found, what was needed and what to do.
class Error : public std::runtime_error {
  public:
    template <class... Args>
    explicit Error(fmt::format_string<Args...> text, Args&&... args)
        : std::runtime_error(without_zero_bytes(fmt::format(text, std::forward<Args>(args)...)))
    {
    }
    template <class... Args>
    Error(Field field, fmt::format_string<Args...> text, Args&&... args)
        : Error(text, std::forward<Args>(args)...)
    {
        field_ = std::move(field.name);
    }

    const std::string& field() const { return field_; }  // empty when no single option is wrong

  private:
    std::string field_;
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

// The caller stopped the work through its Progress. What was finished before is kept.
class Cancelled : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// How far a piece of work is.
struct ProgressUpdate {
    std::string_view stage;  // what is being done: "homogeneous fit"
    double done = 0, total = 1;
    std::string_view unit;  // what is counted: "rollouts"; empty: done / total is a share
    std::string_view note;  // a few words for people: "loss 0.12"; may be empty
};

// Listens to long work and may stop it. Without a listener it does nothing.
class Progress {
  public:
    // Returns false to cancel.
    using Listener = std::function<bool(const ProgressUpdate&)>;

    Progress() = default;
    Progress(Listener listener) : listener_(std::move(listener)) {}

    // Throws Cancelled when the listener says no.
    void report(const ProgressUpdate& update) const
    {
        if (listener_ && !listener_(update)) {
            throw Cancelled(fmt::format("{}: cancelled", update.stage));
        }
    }

  private:
    Listener listener_;
};

}  // namespace springtime
