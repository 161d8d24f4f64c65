#include "io/obj_lines.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "springtime/error.h"

namespace springtime {

std::string ObjPlace::text() const
{
    return fmt::format("{}:{}", source, line);
}

std::string_view next_word(std::string_view& line)
{
    line.remove_prefix(std::min(line.find_first_not_of(kObjBlank), line.size()));
    const std::string_view word = line.substr(0, line.find_first_of(kObjBlank));
    line.remove_prefix(word.size());
    return word;
}

std::array<double, 3> obj_point(std::string_view rest, bool gaps, const ObjPlace& where)
{
    std::array<double, 3> point{};
    for (int axis = 0; axis < 3; ++axis) {
        const std::string_view word = next_word(rest);
        const std::string_view digits = word.substr(word.starts_with('+'));
        double& value = point[std::size_t(axis)];
        const auto [end, status] =
            std::from_chars(digits.data(), digits.data() + digits.size(), value);
        const bool number = status == std::errc() && end == digits.data() + digits.size();
        if (number && (std::isfinite(value) || (gaps && std::isnan(value)))) continue;
        throw Error("{}: {} of a point is '{}'; a finite number is needed", where.text(),
                    "xyz"[axis], word);
    }
    return point;
}

std::vector<int> obj_face(std::string_view rest, long above, long all, const ObjPlace& where)
{
    std::vector<int> corners;
    for (auto word = next_word(rest); !word.empty(); word = next_word(rest)) {
        const std::string_view digits = word.substr(0, word.find('/'));
        long index = 0;
        const auto [end, status] =
            std::from_chars(digits.data(), digits.data() + digits.size(), index);
        const bool number = status == std::errc() && end == digits.data() + digits.size();
        if (!number || index == 0 || index < -above || index > all) {
            throw Error(
                "{}: a face has corner '{}'; a point from 1 to {}, or from -1 to -{}, is needed",
                where.text(), word, all, above);
        }
        corners.push_back(int(index > 0 ? index - 1 : above + index));
    }
    if (corners.size() < 3) {
        throw Error("{}: a face has {} corners; 3 are needed", where.text(), corners.size());
    }
    return corners;
}

}  // namespace springtime
