#pragma once

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>
#include <type_traits>

namespace springtime {

// std::from_chars, also for floating point where the C++ library has it for integers alone.
template <class Number>
std::from_chars_result read_number(const char* first, const char* last, Number& value)
{
#if !defined(__cpp_lib_to_chars)
    if constexpr (std::is_floating_point_v<Number>) {
        // strtod takes more: blanks, a plus in front, and digits to the base of sixteen.
        const std::string_view all(first, last - first);
        const std::string digits(
            all.substr(0, all.find_first_not_of("0123456789.+-eEinfatyINFATY")));
        if (digits.empty() || digits[0] == '+') return {first, std::errc::invalid_argument};
        char* end = nullptr;
        errno = 0;
        const double found = std::strtod(digits.c_str(), &end);
        const char* const behind = first + (end - digits.c_str());
        if (behind == first) return {first, std::errc::invalid_argument};
        if (errno == ERANGE) return {behind, std::errc::result_out_of_range};
        value = static_cast<Number>(found);
        return {behind, std::errc()};
    } else
#endif
        return std::from_chars(first, last, value);
}

}  // namespace springtime
