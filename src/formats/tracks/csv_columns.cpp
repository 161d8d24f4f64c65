#include "formats/tracks/csv_columns.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/text.h"
#include "formats/tracks/csv_cells.h"

namespace springtime {

namespace {

using Role = CsvColumn::Role;

constexpr std::string_view kBetweenWords = " _.:-/\t";

struct Unit {
    std::string_view word;
    double size;
};
constexpr std::array<Unit, 19> kLengths = {{{"m", 1},
                                            {"meter", 1},
                                            {"meters", 1},
                                            {"metre", 1},
                                            {"metres", 1},
                                            {"cm", 0.01},
                                            {"centimeter", 0.01},
                                            {"centimeters", 0.01},
                                            {"centimetre", 0.01},
                                            {"centimetres", 0.01},
                                            {"mm", 0.001},
                                            {"millimeter", 0.001},
                                            {"millimeters", 0.001},
                                            {"millimetre", 0.001},
                                            {"millimetres", 0.001},
                                            {"in", 0.0254},
                                            {"inch", 0.0254},
                                            {"inches", 0.0254},
                                            {"ft", 0.3048}}};
constexpr std::array<Unit, 15> kTimes = {{{"s", 1},
                                          {"sec", 1},
                                          {"secs", 1},
                                          {"second", 1},
                                          {"seconds", 1},
                                          {"ms", 1e-3},
                                          {"msec", 1e-3},
                                          {"milliseconds", 1e-3},
                                          {"us", 1e-6},
                                          {"\xc2\xb5s", 1e-6},  // micro sign
                                          {"usec", 1e-6},
                                          {"microseconds", 1e-6},
                                          {"ns", 1e-9},
                                          {"nsec", 1e-9},
                                          {"nanoseconds", 1e-9}}};

template <std::size_t size>
std::optional<double> unit_of(const std::array<Unit, size>& units, std::string_view word)
{
    const std::string lower = lower_case(word);
    for (const Unit& unit : units) {
        if (unit.word == lower) return unit.size;
    }
    return std::nullopt;
}

template <std::size_t size>
bool is_one_of(std::string_view word, const std::array<std::string_view, size>& words)
{
    return std::find(words.begin(), words.end(), word) != words.end();
}

constexpr std::array<std::string_view, 10> kFrameWords = {
    "frame",   "frames", "framenumber", "frameno", "frameindex",
    "frameid", "f",      "seq",         "step",    "sample"};
constexpr std::array<std::string_view, 8> kTimeWords = {
    "time", "t", "timestamp", "stamp", "seconds", "sec", "elapsed", "elapsedtime"};
constexpr std::array<std::string_view, 14> kPointWords = {
    "point",      "pointid",  "id",     "marker", "markerid",  "markername", "landmark",
    "landmarkid", "particle", "vertex", "node",   "pointname", "name",       "label"};
constexpr std::array<std::string_view, 4> kPositionWords = {"position", "pos", "p", "coordinate"};
constexpr std::array<std::string_view, 4> kVelocityWords = {"velocity", "vel", "v", "speed"};
// Three columns of these are not a place.
constexpr std::array<std::string_view, 14> kOtherWords = {
    "rot",     "rotation",     "quat",  "quaternion", "orientation", "euler", "angle",
    "angular", "acceleration", "accel", "acc",        "force",       "error", "normal"};

Role role_of_word(std::string_view name)
{
    std::string word;
    for (const char c : lower_case(name)) {
        if (kBetweenWords.find(c) == std::string_view::npos && c != '%' && c != '#') word += c;
    }
    if (is_one_of(word, kFrameWords)) return Role::frame;
    if (is_one_of(word, kTimeWords)) return Role::time;
    return is_one_of(word, kPointWords) ? Role::point : Role::unknown;
}

std::string_view first_word(std::string_view name)
{
    return name.substr(0, name.find_first_of(kBetweenWords));
}

std::string_view last_word(std::string_view name)
{
    const auto at = name.find_last_of(kBetweenWords);
    return at == std::string_view::npos ? name : name.substr(at + 1);
}

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// "x", "vx", "px" or "tx", a translation, make a role and an axis.
bool read_axis(std::string_view word, CsvColumn& column)
{
    const std::string lower = lower_case(word);
    if (lower.empty() || lower.size() > 2) return false;
    if (lower.size() == 2 && std::string_view("vpt").find(lower[0]) == std::string_view::npos) {
        return false;
    }
    const auto axis = std::string_view("xyz").find(lower.back());
    if (axis == std::string_view::npos) return false;
    column.axis = int(axis);
    column.role = lower.size() == 2 && lower[0] == 'v' ? Role::velocity : Role::position;
    return true;
}

// The axis at the end of a name, as in "p1_x" and "p1x", or at its start, as in "x1" and "x[1]".
bool read_axis_and_point(std::string_view name, CsvColumn& column)
{
    std::string_view word = last_word(name);
    if (read_axis(word, column)) {
        column.point = trimmed(name.substr(0, name.size() - word.size()), kBetweenWords);
        return true;
    }
    for (const std::size_t length : {2, 1}) {
        if (name.size() > length && is_digit(name[name.size() - length - 1]) &&
            read_axis(name.substr(name.size() - length), column)) {
            column.point = name.substr(0, name.size() - length);
            return true;
        }
    }
    const auto behind = std::min(name.find_first_of("0123456789[( _.:-/\t"), name.size());
    if (!read_axis(name.substr(0, behind), column)) return false;
    name = trimmed(name.substr(behind), kBetweenWords);
    if (name.size() > 2 && (name.front() == '[' || name.front() == '(') &&
        (name.back() == ']' || name.back() == ')')) {
        name = name.substr(1, name.size() - 2);
    }
    column.point = name;
    return true;
}

// Drops "pos", "velocity" and their like from the end of a point's name or from the start.
std::string_view without_kind(std::string_view name, bool at_end, bool& is_velocity)
{
    const std::string_view word = at_end ? last_word(name) : first_word(name);
    const std::string lower = lower_case(word);
    const bool velocity = is_one_of(lower, kVelocityWords);
    if (!velocity && !is_one_of(lower, kPositionWords)) return name;
    is_velocity = is_velocity || velocity;
    name = at_end ? name.substr(0, name.size() - word.size()) : name.substr(word.size());
    return trimmed(name, kBetweenWords);
}

CsvColumn read_coordinate(std::string_view name)
{
    CsvColumn column;
    bool is_velocity = false;
    const std::string_view bare = without_kind(name, false, is_velocity);
    // A point itself may be called p or v, as in "v_1_x"; in "v_x_1" it is not.
    const bool is_point = first_word(name).size() == 1 && !read_axis(first_word(bare), column) &&
                          !(bare.size() > 1 && is_digit(bare[1]));
    if (bare.size() == name.size() || is_point || !read_axis_and_point(bare, column)) {
        is_velocity = false;
        if (!read_axis_and_point(name, column)) return {};
    }
    const std::string point = column.point;
    if (last_word(point).size() > 1) {
        column.point = std::string(without_kind(point, true, is_velocity));
    }
    if (is_velocity) column.role = Role::velocity;
    for (std::string_view rest = point; !rest.empty();) {
        const std::string_view word = first_word(rest);
        if (is_one_of(lower_case(word), kOtherWords)) return {};
        rest = trimmed(rest.substr(word.size()), kBetweenWords);
    }
    return column;
}

// "qx" or "orientation.x" and so on to w, the scalar part.
CsvColumn read_orientation(std::string_view name)
{
    constexpr std::array<std::string_view, 6> kKinds = {"orientation", "quaternion", "quat",
                                                        "rotation",    "rot",        "q"};
    const std::string_view word = last_word(name);
    std::string lower = lower_case(word);
    std::string_view point = trimmed(name.substr(0, name.size() - word.size()), kBetweenWords);
    if (lower.size() == 2 && lower[0] == 'q') {
        lower.erase(0, 1);
    } else {
        const std::string_view kind = last_word(point);
        if (!is_one_of(lower_case(kind), kKinds)) return {};
        point = trimmed(point.substr(0, point.size() - kind.size()), kBetweenWords);
    }
    const auto axis = std::string_view("xyzw").find(lower);
    if (lower.size() != 1 || axis == std::string_view::npos) return {};
    CsvColumn column;
    column.role = Role::orientation;
    column.axis = int(axis);
    column.point = point;
    return column;
}

// The unit in brackets at the end, or behind the last underscore; `name` loses it.
std::string_view take_unit(std::string_view& name)
{
    const char last = name.empty() ? ' ' : name.back();
    const auto open = last == ')' ? name.rfind('(') : last == ']' ? name.rfind('[') : name.npos;
    const auto behind = open != name.npos ? open : name.rfind('_');
    if (behind == name.npos || behind == 0) return {};
    const std::string_view unit =
        name.substr(behind + 1, name.size() - behind - (open != name.npos ? 2 : 1));
    name = trimmed(name.substr(0, behind), kBetweenWords);
    return unit;
}

std::optional<double> column_unit(Role role, std::string_view word)
{
    if (role == Role::time || role == Role::stamp) return unit_of(kTimes, word);
    if (role == Role::position) return length_unit(word);
    const auto slash = word.rfind('/');
    if (role == Role::velocity && slash != word.npos && word.substr(slash + 1) == "s") {
        return length_unit(word.substr(0, slash));
    }
    return std::nullopt;
}

CsvColumn read_without_unit(std::string_view name)
{
    constexpr std::array<std::string_view, 3> kStampWords = {"stamp", "timestamp", "time"};
    CsvColumn column;
    column.role = role_of_word(name);
    if (column.role == Role::unknown) column = read_coordinate(name);
    if (column.role == Role::unknown) column = read_orientation(name);
    if (column.role == Role::unknown && is_one_of(lower_case(last_word(name)), kStampWords)) {
        column.role = Role::stamp;
    }
    return column;
}

}  // namespace

std::optional<double> length_unit(std::string_view word)
{
    return unit_of(kLengths, word);
}

CsvColumn read_column_name(std::string_view name)
{
    constexpr std::string_view kRosPrefix = "field.";  // rostopic echo -p
    if (name.starts_with(kRosPrefix)) name.remove_prefix(kRosPrefix.size());
    std::string_view stem = name;
    const std::string_view word = take_unit(stem);
    CsvColumn column = read_without_unit(stem);
    column.unit = word.empty() ? std::nullopt : column_unit(column.role, word);
    // "x_m" may be the x of a point m.
    const bool ambiguous = name.ends_with("_m") && column.point.empty();
    if (column.unit && !ambiguous) return column;
    column = read_without_unit(name);
    // rostopic writes nanoseconds, and marks the line of names with a percent sign.
    if (column.role == Role::time && name.starts_with('%')) column.unit = 1e-9;
    return column;
}

std::vector<CsvColumn> read_column_names(const std::vector<std::string>& header)
{
    std::vector<CsvColumn> columns(header.size());
    std::transform(header.begin(), header.end(), columns.begin(), read_column_name);
    return columns;
}

}  // namespace springtime
