#include <algorithm>
#include <cmath>

#include "springtime/error.h"
#include "springtime/report.h"

namespace springtime {

// ---- The tree ----

Result::Children::Children(bool has_names) : named(has_names) {}
Result::Children::Children(const Children&) = default;
Result::Children::Children(Children&&) noexcept = default;
Result::Children& Result::Children::operator=(const Children&) = default;
Result::Children& Result::Children::operator=(Children&&) noexcept = default;
Result::Children::~Children() = default;

Result Result::tree()
{
    Result result;
    result.value_ = Children(true);
    return result;
}

Result Result::list()
{
    Result result;
    result.value_ = Children(false);
    return result;
}

Result& Result::add(std::string name, Result value, std::string unit)
{
    if (is_nothing()) value_ = Children(true);
    if (!unit.empty()) value.style_.unit = std::move(unit);
    std::vector<Entry>& entries = std::get<Children>(value_).entries;
    for (Entry& entry : entries) {
        if (name.empty() || entry.name != name) continue;
        entry.value = std::move(value);
        return entry.value;
    }
    entries.push_back({std::move(name), std::move(value)});
    return entries.back().value;
}

Result& Result::push(Result value)
{
    std::vector<Entry>& entries = std::get<Children>(value_).entries;
    entries.push_back({{}, std::move(value)});
    return entries.back().value;
}

void Result::say(std::string words)
{
    Result line(std::move(words));
    line.style_.words = true;
    add({}, std::move(line));
}

Result& Result::label(std::string text)
{
    style_.label = std::move(text);
    return *this;
}

Result& Result::percent()
{
    style_.percent = true;
    return *this;
}

Result& Result::bars()
{
    style_.bars = true;
    return *this;
}

Result& Result::data_only()
{
    style_.data_only = true;
    return *this;
}

Result& Result::unless_zero()
{
    style_.unless_zero = true;
    return *this;
}

Result& Result::along(double interval, std::string unit)
{
    style_.interval = interval;
    style_.interval_unit = std::move(unit);
    return *this;
}

Result& Result::first(std::size_t rows)
{
    style_.rows = rows;
    return *this;
}

const Result* Result::find(std::string_view name) const
{
    for (const Entry& entry : entries()) {
        if (entry.name == name) return &entry.value;
    }
    return nullptr;
}

const std::vector<Result::Entry>& Result::entries() const
{
    static const std::vector<Entry> none;
    const Children* children = std::get_if<Children>(&value_);
    return children ? children->entries : none;
}

bool Result::is_tree() const
{
    const Children* children = std::get_if<Children>(&value_);
    return children && children->named;
}

bool Result::is_list() const
{
    const Children* children = std::get_if<Children>(&value_);
    return children && !children->named;
}

// ---- JSON ----

namespace {

// Length of the UTF-8 sequence that begins at `at`; 0 where there is none.
std::size_t sequence_length(const std::string& text, std::size_t at)
{
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(at);
    const std::size_t length = first < 0x80                     ? 1
                               : first >= 0xc2 && first < 0xe0  ? 2
                               : first >= 0xe0 && first < 0xf0  ? 3
                               : first >= 0xf0 && first <= 0xf4 ? 4
                                                                : 0;
    if (length == 0 || at + length > text.size()) return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(at + i) & 0xc0) != 0x80) return 0;
    }
    return length;
}

// File names may hold bytes that are not UTF-8: each becomes the replacement character.
std::string quoted(const std::string& text)
{
    std::string out = "\"";
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = sequence_length(text, i);
        const char c = text[i];
        if (length != 1) {
            out += length == 0 ? "\xef\xbf\xbd" : text.substr(i, length);
        } else if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (c == '\n') {
            out += "\\n";
        } else if (static_cast<unsigned char>(c) < 0x20) {
            out += fmt::format("\\u{:04x}", int(c));
        } else {
            out += c;
        }
        i += std::max<std::size_t>(length, 1);
    }
    out += '"';
    return out;
}

class JsonPrinter {
  public:
    explicit JsonPrinter(std::optional<int> indent) : indent_(indent) {}

    std::string of(const Result& result, int depth)
    {
        if (result.is_tree() || result.is_list()) return of_children(result, depth);
        if (const bool* value = result.get_if<bool>()) return *value ? "true" : "false";
        if (const auto* value = result.get_if<std::int64_t>()) return fmt::format("{}", *value);
        if (const auto* value = result.get_if<std::string>()) return quoted(*value);
        const double* value = result.get_if<double>();
        return value && std::isfinite(*value) ? fmt::format("{}", *value) : "null";
    }

  private:
    // Lists of plain values stay on one line.
    std::string of_children(const Result& result, int depth)
    {
        const auto& all = result.entries();
        const bool plain = result.is_list() && std::all_of(all.begin(), all.end(), [](auto& entry) {
                               return !entry.value.is_tree() && !entry.value.is_list();
                           });
        const bool broken = indent_ && !plain;
        std::string text, between = broken ? line(depth + 1) : "";
        for (const Result::Entry& entry : all) {
            if (entry.value.style().words) continue;
            if (!text.empty()) text += indent_ && plain ? ", " : ",";
            text += between;
            if (result.is_tree()) text.append(quoted(entry.name)).append(indent_ ? ": " : ":");
            text += of(entry.value, depth + 1);
        }
        if (broken && !text.empty()) text += line(depth);
        return result.is_tree() ? fmt::format("{{{}}}", text) : fmt::format("[{}]", text);
    }

    std::string line(int depth) const
    {
        return std::string("\n").append(std::size_t(depth * *indent_), ' ');
    }

    std::optional<int> indent_;
};

}  // namespace

std::string to_json(const Result& result, std::optional<int> indent)
{
    return JsonPrinter(indent).of(result, 0);
}

}  // namespace springtime
