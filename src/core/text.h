#pragma once

#include <algorithm>
#include <string_view>

namespace springtime {

// Editors and spreadsheets of Windows begin a UTF-8 text with this mark; it is no part of it.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

inline std::string_view without_byte_order_mark(std::string_view text)
{
    return text.substr(text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
}

// Without `blank` characters at both ends.
inline std::string_view trimmed(std::string_view text, std::string_view blank = " \t\r")
{
    const auto first = text.find_first_not_of(blank);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

// The next word of a line, which is cut off it; empty at the end.
inline std::string_view next_word(std::string_view& line)
{
    constexpr std::string_view blank = " \t\r";
    line.remove_prefix(std::min(line.find_first_not_of(blank), line.size()));
    const std::string_view word = line.substr(0, line.find_first_of(blank));
    line.remove_prefix(word.size());
    return word;
}

}  // namespace springtime
