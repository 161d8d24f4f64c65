#include <algorithm>
#include <array>
#include <unordered_map>

#include "formats/tracks/csv_columns.h"
#include "formats/tracks/csv_evidence.h"
#include "formats/tracks/csv_readers.h"
#include "springtime/error.h"

namespace springtime {

// ---- Columns that name coordinates ----

namespace {

using Role = CsvColumn::Role;

constexpr std::size_t kNone = std::size_t(-1);

// The columns of one point, kNone where there is none.
struct PointColumns {
    std::string name;
    std::array<std::size_t, 3> position = {kNone, kNone, kNone};
    std::array<std::size_t, 3> velocity = {kNone, kNone, kNone};
    std::array<std::size_t, 4> orientation = {kNone, kNone, kNone, kNone};

    std::size_t& place(const CsvColumn& column)
    {
        const auto axis = std::size_t(column.axis);
        return column.role == Role::position   ? position[axis]
               : column.role == Role::velocity ? velocity[axis]
                                               : orientation[axis];
    }
};

bool is_of_point(const CsvColumn& column)
{
    return column.role == Role::position || column.role == Role::velocity ||
           column.role == Role::orientation;
}

// Orientations count when every point has one, four columns each; others are passed over.
void pass_over_orientations(std::vector<CsvColumn>& columns)
{
    struct Count {
        int places = 0, parts = 0, axes = 0;
    };
    std::unordered_map<std::string, Count> counts;
    for (const CsvColumn& column : columns) {
        Count& count = counts[column.point];
        count.places += column.role == Role::position;
        count.parts += column.role == Role::orientation;
        if (column.role == Role::orientation) count.axes |= 1 << column.axis;
    }
    const bool whole = std::all_of(counts.begin(), counts.end(), [](const auto& point) {
        const auto& [places, parts, axes] = point.second;
        return (places == 3 && parts == 4 && axes == 15) || places + parts == 0;
    });
    for (CsvColumn& column : columns) {
        if (column.role == Role::orientation && !whole) column = {};
    }
}

// Columns x, y, z, x, y, z, ... or x, x, ..., y, y, ..., z, z, ...: the n-th of each axis and kind
// belongs to point n.
bool only_axes(const std::vector<CsvColumn>& columns)
{
    std::array<std::size_t, 3> count{};
    for (const CsvColumn& column : columns) {
        const bool coordinate = column.role == Role::position || column.role == Role::velocity;
        if (coordinate && !column.point.empty()) return false;
        if (column.role == Role::position) ++count[std::size_t(column.axis)];
    }
    return count[0] > 1;
}

void number_points(std::vector<CsvColumn>& columns)
{
    std::array<std::size_t, 6> seen{};
    for (CsvColumn& column : columns) {
        const bool velocity = column.role == Role::velocity;
        if (!velocity && column.role != Role::position) continue;
        column.point = std::to_string(++seen[std::size_t(column.axis) + (velocity ? 3 : 0)]);
    }
}

std::vector<PointColumns> gather_points(const std::vector<CsvColumn>& columns,
                                        const CsvOpening& opening, const std::string& source)
{
    std::vector<PointColumns> points;
    std::unordered_map<std::string, std::size_t> point_of;
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const CsvColumn& column = columns[c];
        if (!is_of_point(column)) continue;
        const auto [found, is_new] = point_of.try_emplace(column.point, points.size());
        if (is_new) points.push_back({column.point});
        std::size_t& place = points[found->second].place(column);
        if (place != kNone) {
            throw Error("{}: {} has the name of column {}; give every column a name of its own",
                        source, opening.column_text(c), place + 1);
        }
        place = c;
    }
    return points;
}

// All three or none; true for all.
bool is_whole(const std::array<std::size_t, 3>& place, const CsvOpening& opening, const char* what,
              const std::string& source)
{
    const auto present = std::count_if(place.begin(), place.end(),
                                       [](std::size_t column) { return column != kNone; });
    if (present == 0 || present == 3) return present == 3;
    const auto some = std::find_if(place.begin(), place.end(),
                                   [](std::size_t column) { return column != kNone; });
    const auto axis = std::find(place.begin(), place.end(), kNone) - place.begin();
    throw Error("{}: {} has no {} {} beside it; every point needs columns for x, y and z", source,
                opening.column_text(*some), what, "xyz"[axis]);
}

bool check_points(const std::vector<PointColumns>& points, const CsvOpening& opening,
                  const std::string& source)
{
    std::size_t with_velocity = 0;
    for (const PointColumns& point : points) {
        const bool velocity = is_whole(point.velocity, opening, "velocity along", source);
        if (!is_whole(point.position, opening, "position along", source)) {
            throw Error(
                "{}: {} is the velocity of a point without columns of its place; add them"
                " or remove the velocity",
                source, opening.column_text(point.velocity[0]));
        }
        with_velocity += velocity ? 1 : 0;
    }
    if (with_velocity != 0 && with_velocity != points.size()) {
        throw Error("{}: {} of {} points have velocities; give them for all or for none", source,
                    with_velocity, points.size());
    }
    return with_velocity != 0;
}

void set_unit(const std::vector<CsvColumn>& columns, const CsvOpening& opening,
              const std::string& source, TrackInfo& info)
{
    std::size_t first = kNone;
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const bool coordinate =
            columns[c].role == Role::position || columns[c].role == Role::velocity;
        if (!coordinate || !columns[c].unit) continue;
        if (first == kNone) first = c;
        if (*columns[c].unit != *columns[first].unit) {
            throw Error("{}: {} and {} are in different units; use one for all", source,
                        opening.column_text(first), opening.column_text(c));
        }
    }
    if (first != kNone) info.unit = columns[first].unit;
}

// Times before numbers of frames.
void set_clock(const std::vector<CsvColumn>& columns, const CsvOpening& opening,
               const TrackHints& hints, TablePlan& plan)
{
    std::vector<std::size_t> data;
    for (std::size_t c = 0; c < columns.size(); ++c) {
        if (columns[c].role == Role::position) data.push_back(c);
    }
    const std::optional<std::size_t> time =
        time_column(opening, columns, data, hints.time_column, plan.info.source, plan.info.remarks);
    if (time) return plan.count_by_times(opening, *time, columns[*time].unit);
    for (std::size_t c = 0; c < columns.size(); ++c) {
        if (columns[c].role == Role::frame) return plan.count_by_frames(c);
    }
}

void remark_unknown(const std::vector<CsvColumn>& columns, const CsvOpening& opening,
                    TrackInfo& info)
{
    std::size_t count = 0, first = 0;
    for (std::size_t c = 0; c < columns.size(); ++c) {
        if (columns[c].role != Role::unknown && columns[c].role != Role::point) continue;
        if (opening.header[c].empty() && c + 1 == columns.size()) continue;
        if (count++ == 0) first = c;
    }
    if (count == 1) {
        info.remarks.push_back("Passed over: " + opening.column_text(first) + ".");
    } else if (count > 1) {
        info.remarks.push_back(fmt::format("Passed over: {} columns, the first of them {}.", count,
                                           opening.column_text(first)));
    }
}

// x, y, z of the first point are neighbours.
bool is_wide(const PointColumns& point)
{
    const auto [least, most] = std::minmax_element(point.position.begin(), point.position.end());
    return *most - *least == 2;
}

}  // namespace

TablePlan plan_named_csv(const CsvOpening& opening, const TrackHints& hints,
                         const std::string& source)
{
    std::vector<CsvColumn> columns = read_column_names(opening.header);
    pass_over_orientations(columns);
    const bool numbered = only_axes(columns);
    if (numbered) number_points(columns);
    const std::vector<PointColumns> points = gather_points(columns, opening, source);
    TablePlan plan;
    TrackInfo& info = plan.info;
    info.source = source;
    info.velocities = check_points(points, opening, source);
    info.orientations = points.front().orientation[0] != kNone;  // all have one or none
    if (hints.with_velocities && !info.velocities) {
        throw Error(Field{"with_velocities"},
                    "{}: names of columns say what they are, and none is a velocity; leave it out, "
                    "or name them (vx1, vy1, vz1, ...)",
                    source);
    }
    info.point_count = points.size();
    info.format = is_wide(points.front()) ? "wide CSV" : "grid CSV";
    plan.target.assign(columns.size(), kPassedOver);
    for (std::size_t p = 0; p < points.size(); ++p) {
        // A single point may have no name but its axes.
        const bool named = !numbered && (points.size() > 1 || !points[p].name.empty());
        if (named) info.names.push_back(points[p].name);
        for (int axis = 0; axis < 3; ++axis) {
            const auto a = std::size_t(axis);
            plan.target[points[p].position[a]] = plan.position_target(p, axis);
            if (info.velocities) {
                plan.target[points[p].velocity[a]] = plan.velocity_target(p, axis);
            }
        }
        for (int axis = 0; info.orientations && axis < 4; ++axis) {
            plan.target[points[p].orientation[std::size_t(axis)]] =
                plan.orientation_target(p, axis);
        }
    }
    set_unit(columns, opening, source, info);
    set_clock(columns, opening, hints, plan);
    remark_unknown(columns, opening, info);
    return plan;
}

// ---- Which kind of CSV it is ----

namespace {

void check_layout(const std::string& layout)
{
    for (const char* known : {"auto", "wide", "long", "blocks"}) {
        if (layout == known) return;
    }
    throw Error("layout '{}': not known; give wide, long, blocks or auto", layout);
}

bool names_coordinates(const CsvOpening& opening)
{
    const std::vector<CsvColumn> columns = read_column_names(opening.header);
    return std::any_of(columns.begin(), columns.end(), [](const CsvColumn& column) {
        return column.role == CsvColumn::Role::position;
    });
}

}  // namespace

std::unique_ptr<TrackReader> open_csv_tracks(const std::filesystem::path& path,
                                             const TrackHints& hints)
{
    check_layout(hints.layout);
    LineReader lines(path);
    const std::string source = path.string();
    if (looks_like_motive(lines)) return open_motive_csv(std::move(lines));
    CsvOpening opening = look_at_csv(lines);
    const bool is_named = names_coordinates(opening);
    // Names of columns know better than a hint, which is for files without.
    const bool hinted = !is_named && hints.layout != "auto";
    if (hinted ? hints.layout == "long" : looks_long(opening)) {
        return open_long_csv(std::move(lines), std::move(opening), hints);
    }
    TablePlan plan = is_named ? plan_named_csv(opening, hints, source)
                              : plan_unnamed_csv(opening, hints, source);
    return make_table_reader(std::move(lines), std::move(opening), std::move(plan));
}

}  // namespace springtime
