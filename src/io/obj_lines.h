#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

// The lines of Wavefront OBJ files, for those who read them.
namespace springtime {

constexpr std::string_view kObjBlank = " \t\r";

// The next word of a line, which is cut off it; empty at the end.
std::string_view next_word(std::string_view& line);

// Calls take(first word, rest of the line, number of the line).
template <class Take>
void for_each_obj_line(std::string_view text, Take take)
{
    for (std::size_t number = 1; !text.empty(); ++number) {
        const auto end = text.find('\n') < text.size() ? text.find('\n') : text.size();
        std::string_view line = text.substr(0, end);
        const std::string_view word = next_word(line);
        take(word, line, number);
        text.remove_prefix(end < text.size() ? end + 1 : end);
    }
}

// Where a line stands; put into words only for a message.
struct ObjPlace {
    std::string_view source;
    std::size_t line;
    std::string text() const;  // "cloth.obj:12"
};

// x, y and z of what follows a `v`. Throws Error naming `where` for what is no number, and for one
// that is not finite unless `gaps`, when NaN says that a point was not seen.
std::array<double, 3> obj_point(std::string_view rest, bool gaps, const ObjPlace& where);

// The corners of what follows an `f`, counted from zero. In the file they count from one, or
// backwards from the last of the `above` points before the line. Throws Error naming `where` for a
// corner that is not among `all` points, and for less than three.
std::vector<int> obj_face(std::string_view rest, long above, long all, const ObjPlace& where);

}  // namespace springtime
