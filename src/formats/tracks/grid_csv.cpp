#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "formats/tracks/csv_columns.h"
#include "formats/tracks/csv_evidence.h"
#include "formats/tracks/csv_readers.h"
#include "springtime/error.h"

namespace springtime {

namespace {

using Role = CsvColumn::Role;

// Columns of coordinates whose order is to be found, and the one that holds the time.
struct UnnamedColumns {
    std::vector<std::size_t> data;
    std::optional<std::size_t> frame, time;
    std::optional<double> time_unit;  // [s]
};

enum class Layout { wide, blocks };

// Where among `count` points' columns a coordinate is.
std::size_t place_of(Layout layout, std::size_t count, std::size_t point, std::size_t axis)
{
    return layout == Layout::wide ? 3 * point + axis : axis * count + point;
}

// A header may name time and frame and only number the rest: data0, data1, ...
UnnamedColumns columns_of_header(const CsvOpening& opening, const TrackHints& hints,
                                 const std::string& source, std::vector<std::string>& remarks)
{
    UnnamedColumns found;
    const std::vector<CsvColumn> names = read_column_names(opening.header);
    for (std::size_t c = 0; c < names.size(); ++c) {
        const std::string& name = opening.header[c];
        if (names[c].role == Role::frame && !found.frame) {
            found.frame = c;
        } else if (names[c].role == Role::time || names[c].role == Role::stamp) {
            continue;
        } else if (!name.empty() && name.back() >= '0' && name.back() <= '9' &&
                   !opening.has_text[c]) {
            found.data.push_back(c);
        }
    }
    if (found.data.size() < 3) {
        throw Error(
            "{}: no coordinates among the columns, the first of which is '{}'; name them"
            " x1,y1,z1,x2,... or frame,point,x,y,z",
            source, shown(opening.header[0]));
    }
    found.time = time_column(opening, names, found.data, hints.time_column, source, remarks);
    if (found.time) {
        found.time_unit = names[*found.time].unit;
        std::erase(found.data, *found.time);
    }
    return found;
}

// 3 N numbers, with a frame or time before them, or both.
UnnamedColumns columns_without_header(const CsvOpening& opening)
{
    UnnamedColumns found;
    const std::size_t leading = opening.column_count % 3;
    if (leading == 1) {
        (opening.is_whole(0) && !(opening.first_value(0) > 1e11) ? found.frame : found.time) = 0;
    } else if (leading == 2) {
        const bool frame_first = opening.is_whole(0) || !opening.is_whole(1);
        found.frame = frame_first ? 0 : 1;
        found.time = frame_first ? 1 : 0;
    }
    for (std::size_t c = leading; c < opening.column_count; ++c) found.data.push_back(c);
    return found;
}

void check_columns(const UnnamedColumns& columns, const CsvOpening& opening,
                   const std::string& source)
{
    for (const auto& leading : {columns.frame, columns.time}) {
        if (!leading || opening.is_ascending(*leading)) continue;
        if (!opening.header.empty()) continue;
        throw Error(
            "{}: {} columns, which is not a multiple of 3, and {} does not ascend as frames"
            " or times do; x, y and z are needed for every point",
            source, opening.column_count, opening.column_text(*leading));
    }
    if (columns.data.size() % 3 != 0 || columns.data.empty()) {
        throw Error(
            "{}: {} columns of coordinates; x, y and z are needed for every point, which"
            " makes a multiple of 3",
            source, columns.data.size());
    }
}

// Small for the right reading of one row. Two things are peculiar to it: neighbours in the list are
// near each other on a sheet, and each axis has a mean and a spread of its own (a sheet is flat),
// while a wrong reading mixes the axes. The first is the logarithm of the mean distance between
// consecutive points, the second the mean one of the standard deviations; both change alike with
// the unit. NaN when points are missing throughout.
double disorder(const CsvOpening& opening, const UnnamedColumns& columns, std::size_t count,
                Layout layout, std::size_t row)
{
    const auto at = [&](std::size_t point, std::size_t axis) {
        return opening.value(row, columns.data[place_of(layout, count, point, axis)]);
    };
    double distances = 0, total = 0;
    std::size_t steps = 0;
    for (std::size_t p = 0; p + 1 < count; ++p) {
        const double distance =
            std::hypot(at(p + 1, 0) - at(p, 0), at(p + 1, 1) - at(p, 1), at(p + 1, 2) - at(p, 2));
        if (std::isnan(distance)) continue;
        distances += distance;
        ++steps;
    }
    std::array<double, 3> variance{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        double sum = 0, squares = 0, found = 0;
        for (std::size_t p = 0; p < count; ++p) {
            const double x = at(p, axis);
            if (std::isnan(x)) continue;
            ++found;
            sum += x;
            squares += x * x;
        }
        variance[axis] = std::max(0.0, squares / found - (sum / found) * (sum / found));
        total += variance[axis];
    }
    const double least = 1e-6 * total;  // perfectly flat is not infinitely likely
    double spreads = 0;
    for (const double v : variance) spreads += 0.5 * std::log(v + least) / 3;
    return std::log(distances / double(steps)) + spreads;
}

// Which reading of the first rows has less disorder; none when they leave it open.
std::optional<Layout> likely_layout(const CsvOpening& opening, const UnnamedColumns& columns,
                                    std::size_t count)
{
    constexpr std::size_t kRows = 20;
    double lead = 0;  // of blocks
    std::size_t used = 0;
    for (std::size_t row = 0; row < opening.sample_rows() && used < kRows; ++row) {
        const double difference = disorder(opening, columns, count, Layout::wide, row) -
                                  disorder(opening, columns, count, Layout::blocks, row);
        if (!std::isfinite(difference)) continue;
        lead += difference;
        ++used;
    }
    if (used == 0 || lead == 0) return std::nullopt;
    return lead > 0 ? Layout::blocks : Layout::wide;
}

Layout choose_layout(const CsvOpening& opening, const UnnamedColumns& columns,
                     const TrackHints& hints, TrackInfo& info)
{
    const std::string& layout = hints.layout;
    const char* velocities = info.velocities ? ", then velocities" : "";
    if (layout == "wide" || layout == "blocks" || info.point_count == 1) {
        if (info.velocities && !hints.with_velocities) {
            info.remarks.push_back(
                "The second half of the columns was taken for velocities; name the columns if it is"
                " not.");
        }
        return layout == "blocks" ? Layout::blocks : Layout::wide;
    }
    const std::optional<Layout> found = likely_layout(opening, columns, info.point_count);
    const Layout chosen = found.value_or(Layout::wide);
    info.remarks.push_back(fmt::format(
        "Columns have no names{}: they were taken for {} points, {}{}; give `csv_layout` {}"
        " or name the columns if that is wrong.",
        found ? "" : " and the first rows do not show their order", info.point_count,
        chosen == Layout::wide ? "x, y, z of one after the other" : "all x, then all y, then all z",
        velocities, chosen == Layout::wide ? "blocks" : "wide"));
    return chosen;
}

// Time, place and quaternion in eight columns.
bool are_poses(const CsvOpening& opening)
{
    constexpr double kUnit = 1e-2;
    if (!opening.header.empty() || opening.column_count != 8) return false;
    for (std::size_t row = 0; row < opening.sample_rows(); ++row) {
        double squares = 0;
        for (std::size_t c = 4; c < 8; ++c)
            squares += opening.value(row, c) * opening.value(row, c);
        if (!(std::abs(squares - 1) < kUnit)) return false;
    }
    return true;
}

TablePlan plan_poses(const CsvOpening& opening, const std::string& source)
{
    TablePlan plan;
    plan.info.source = source;
    plan.info.format = "CSV of poses";
    plan.info.point_count = 1;
    plan.info.orientations = true;
    plan.target = {kPassedOver, 0, 1, 2, 3, 4, 5, 6};
    plan.count_by_times(opening, 0, std::nullopt);
    return plan;
}

}  // namespace

TablePlan plan_unnamed_csv(const CsvOpening& opening, const TrackHints& hints,
                           const std::string& source)
{
    if (hints.poses && are_poses(opening)) return plan_poses(opening, source);
    if (opening.header.empty() && !hints.time_column.empty()) {
        throw Error(Field{"time_column"},
                    "{}: its columns have no names; leave it out, or name them in the first line",
                    source);
    }
    TablePlan plan;
    TrackInfo& info = plan.info;
    const UnnamedColumns columns = opening.header.empty()
                                       ? columns_without_header(opening)
                                       : columns_of_header(opening, hints, source, info.remarks);
    check_columns(columns, opening, source);
    if (hints.with_velocities && columns.data.size() % 6 != 0) {
        throw Error(Field{"with_velocities"},
                    "{}: {} columns of coordinates; positions and velocities of every point make a "
                    "multiple of 6",
                    source, columns.data.size());
    }
    info.source = source;
    info.velocities = hints.with_velocities || has_velocities(opening, columns.data);
    info.point_count = columns.data.size() / (info.velocities ? 6 : 3);
    const Layout chosen = choose_layout(opening, columns, hints, info);
    info.format = chosen == Layout::wide ? "wide CSV" : "grid CSV";
    plan.target.assign(opening.column_count, kPassedOver);
    const std::size_t half = 3 * info.point_count;
    for (std::size_t p = 0; p < info.point_count; ++p) {
        for (int axis = 0; axis < 3; ++axis) {
            const std::size_t place = place_of(chosen, info.point_count, p, std::size_t(axis));
            plan.target[columns.data[place]] = plan.position_target(p, axis);
            if (info.velocities) {
                plan.target[columns.data[half + place]] = plan.velocity_target(p, axis);
            }
        }
    }
    if (columns.time) {
        plan.count_by_times(opening, *columns.time, columns.time_unit);
    } else if (columns.frame) {
        plan.count_by_frames(*columns.frame);
    }
    return plan;
}

}  // namespace springtime
