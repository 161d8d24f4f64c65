#pragma once

#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "springtime/error.h"

namespace springtime {

// A value of a JSON file with the name it has in errors, such as springs.ends[3]. Everything it is
// asked for is there, or an Error says what was found and what is needed.
class JsonNode {
  public:
    JsonNode(const nlohmann::json& value, std::string_view source, std::string name)
        : value_(value), source_(source), name_(std::move(name))
    {
    }

    bool is_array() const { return value_.is_array(); }
    bool has(const std::string& key) const { return value_.is_object() && value_.contains(key); }

    JsonNode operator[](const std::string& key) const;
    JsonNode entry(std::size_t index) const;

    std::size_t array_size() const;
    // The size has to be `count`.
    void check_size(std::size_t count, std::string_view of) const;

    double number() const;
    // A number, or what null stands for.
    double number_or(double null) const;
    double positive() const;
    int integer(int least, int most) const;
    std::string text() const;

    // One for each `of`.
    std::vector<double> numbers(std::size_t count, std::string_view of) const;
    // The same, or one number that stands for all.
    std::vector<double> numbers_or_one(std::size_t count, std::string_view of) const;

    // An array of N entries.
    template <std::size_t N>
    std::array<JsonNode, N> tuple() const
    {
        check_tuple(N);
        return [this]<std::size_t... I>(std::index_sequence<I...>)
        {
            return std::array<JsonNode, N>{entry(I)...};
        }
        (std::make_index_sequence<N>{});
    }

  private:
    void check_tuple(std::size_t size) const;
    [[noreturn]] void fail(std::string_view needed) const;

    const nlohmann::json& value_;
    std::string_view source_;
    std::string name_;
};

}  // namespace springtime
