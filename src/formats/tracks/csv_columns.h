#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What the names of columns say.
namespace springtime {

struct CsvColumn {
    // A stamp is a time by the last word of its name alone: "header.stamp".
    enum class Role { unknown, frame, time, stamp, point, position, velocity, orientation };

    Role role = Role::unknown;
    int axis = 0;                // 0 to 2, of a position or velocity; 3 is w of an orientation
    std::string point;           // whose, "" when the name is the axis alone
    std::optional<double> unit;  // in [m], [s] or [m/s], where the name says so
};

// "x1 [mm]", "p1_x", "left.vx", "Time (Seconds)", "frame", "marker" and their like.
CsvColumn read_column_name(std::string_view name);

// All names of a header.
std::vector<CsvColumn> read_column_names(const std::vector<std::string>& header);

// [m] of "mm", "Millimeters" and so on.
std::optional<double> length_unit(std::string_view word);

}  // namespace springtime
