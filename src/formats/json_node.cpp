#include "formats/json_node.h"

#include <fmt/format.h>

#include <algorithm>

namespace springtime {

namespace {

using nlohmann::json;

std::string_view kind_name(const json& value)
{
    switch (value.type()) {
        case json::value_t::null:
            return "null";
        case json::value_t::object:
            return "an object";
        case json::value_t::array:
            return "an array";
        case json::value_t::string:
            return "text";
        case json::value_t::boolean:
            return "true or false";
        default:
            return "a number";
    }
}

}  // namespace

JsonNode JsonNode::operator[](const std::string& key) const
{
    const std::string name = name_.empty() ? key : name_ + "." + key;
    if (!value_.is_object()) fail("an object");
    const auto found = value_.find(key);
    if (found == value_.end()) {
        throw Error("{}: '{}' is missing; write it as docs/formats.md says", source_, name);
    }
    return {*found, source_, name};
}

JsonNode JsonNode::entry(std::size_t index) const
{
    return {value_[index], source_, fmt::format("{}[{}]", name_, index)};
}

std::size_t JsonNode::array_size() const
{
    if (!value_.is_array()) fail("an array");
    return value_.size();
}

void JsonNode::check_size(std::size_t count, std::string_view of) const
{
    if (array_size() == count) return;
    throw Error("{}: '{}' has {} entries for {} {}; give one each", source_, name_, value_.size(),
                count, of);
}

double JsonNode::number() const
{
    if (!value_.is_number()) fail("a number");
    return value_.get<double>();
}

double JsonNode::number_or(double null) const
{
    return value_.is_null() ? null : number();
}

double JsonNode::positive() const
{
    const double found = number();
    if (!(found > 0)) {
        throw Error("{}: '{}' is {}; it must be positive", source_, name_, found);
    }
    return found;
}

int JsonNode::integer(int least, int most) const
{
    if (!value_.is_number_integer()) fail("an integer");
    // An unsigned number may exceed what a signed one holds.
    const bool huge = value_.is_number_unsigned() &&
                      value_.get<std::uint64_t>() > std::uint64_t(std::max(most, 0));
    const std::int64_t found = huge ? 0 : value_.get<std::int64_t>();
    if (huge || found < least || found > most) {
        throw Error("{}: '{}' is {}; {} to {} is needed", source_, name_, value_.dump(), least,
                    most);
    }
    return static_cast<int>(found);
}

std::string JsonNode::text() const
{
    if (!value_.is_string()) fail("text");
    return value_.get<std::string>();
}

std::vector<double> JsonNode::numbers(std::size_t count, std::string_view of) const
{
    check_size(count, of);
    std::vector<double> all(count);
    for (std::size_t i = 0; i < count; ++i) all[i] = entry(i).number();
    return all;
}

std::vector<double> JsonNode::numbers_or_one(std::size_t count, std::string_view of) const
{
    return is_array() ? numbers(count, of) : std::vector<double>(count, number());
}

void JsonNode::check_tuple(std::size_t size) const
{
    constexpr std::array<std::string_view, 5> kWords{"no", "one", "two", "three", "four"};
    if (array_size() == size) return;
    throw Error("{}: '{}' has {} entries; {} are needed", source_, name_, value_.size(),
                kWords.at(size));
}

void JsonNode::fail(std::string_view needed) const
{
    throw Error("{}: {} is {}; {} is needed", source_,
                name_.empty() ? "the whole" : fmt::format("'{}'", name_), kind_name(value_),
                needed);
}

}  // namespace springtime
