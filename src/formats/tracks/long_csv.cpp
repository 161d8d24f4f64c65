#include <algorithm>
#include <array>
#include <limits>

#include "formats/tracks/csv_columns.h"
#include "formats/tracks/csv_evidence.h"
#include "formats/tracks/csv_readers.h"
#include "formats/tracks/point_index.h"
#include "formats/tracks/table_reader.h"
#include "springtime/error.h"

namespace springtime {

namespace {

using Role = CsvColumn::Role;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kMostPoints = 1 << 20;

// What a column gives of a row: 0 to 2 place, 3 to 5 velocity, and these.
enum Target { kFrame = 6, kTime = 7, kPoint = 8 };

struct LongPlan {
    TrackInfo info;
    CsvClock clock;
    PointIndex points;
    std::vector<int> target;  // for every column, or kPassedOver
    Target key = kFrame;      // what rows of one frame share
};

struct LongRow {
    std::size_t point = 0;
    std::array<double, 8> number{};  // by Target

    double key(const LongPlan& plan) const { return number[plan.key]; }
};

bool has_target(const LongPlan& plan, int target)
{
    return std::find(plan.target.begin(), plan.target.end(), target) != plan.target.end();
}

std::size_t column_of(const LongPlan& plan, int target)
{
    return std::size_t(std::find(plan.target.begin(), plan.target.end(), target) -
                       plan.target.begin());
}

int target_of(const CsvColumn& column)
{
    switch (column.role) {
        case Role::frame:
            return kFrame;
        case Role::time:
            return kTime;
        case Role::point:
            return kPoint;
        case Role::position:
            return column.axis;
        case Role::velocity:
            return 3 + column.axis;
        case Role::stamp:
        case Role::orientation:
        case Role::unknown:
            break;
    }
    return kPassedOver;
}

void set_targets_by_name(const CsvOpening& opening, const TrackHints& hints, LongPlan& plan)
{
    std::vector<CsvColumn> columns = read_column_names(opening.header);
    if (!hints.time_column.empty()) {
        const auto wanted = time_column(opening, columns, {}, hints.time_column, plan.info.source,
                                        plan.info.remarks);
        for (CsvColumn& column : columns) {
            if (column.role == Role::time) column.role = Role::unknown;
        }
        columns[*wanted].role = Role::time;
    }
    for (std::size_t c = 0; c < columns.size(); ++c) {
        int target = target_of(columns[c]);
        // The first counts: names of points may stand beside their numbers.
        if (target != kPassedOver && has_target(plan, target)) target = kPassedOver;
        plan.target.push_back(target);
        const bool is_place = target >= 0 && target < 3;
        if (is_place && columns[c].unit) {
            if (plan.info.unit && *plan.info.unit != *columns[c].unit) {
                throw Error("{}: {} is in another unit than the columns before; use one for all",
                            plan.info.source, opening.column_text(c));
            }
            plan.info.unit = columns[c].unit;
        }
        if (target == kTime) {
            plan.clock =
                CsvClock::of_times(columns[c].unit, opening.first_value(c), plan.info.remarks);
            plan.info.clock_zero = plan.clock.zero(opening.first_value(c));
        }
    }
}

// frame, point, x, y, z; a time behind the frame makes 6 columns, velocities 3 more.
void set_targets_by_count(const CsvOpening& opening, LongPlan& plan)
{
    const std::size_t count = opening.column_count;
    if (count != 5 && count != 6 && count != 8 && count != 9) {
        throw Error(
            "{}: {} columns; a long CSV without names of columns has frame,point,x,y,z"
            " or frame,time,point,x,y,z",
            plan.info.source, count);
    }
    const bool has_both = count % 3 == 0;
    const bool whole = opening.is_whole(0) && !(opening.first_value(0) > 1e11);
    plan.target.push_back(has_both || whole ? kFrame : kTime);
    if (has_both) plan.target.push_back(kTime);
    plan.target.push_back(kPoint);
    for (int i = 0; plan.target.size() < count; ++i) plan.target.push_back(i);
    if (has_target(plan, kTime)) {
        const double first = opening.first_value(column_of(plan, kTime));
        plan.clock = CsvClock::of_times(std::nullopt, first, plan.info.remarks);
    }
}

void check_targets(const LongPlan& plan)
{
    constexpr std::array<const char*, 6> kNames = {"x", "y", "z", "vx", "vy", "vz"};
    for (int i = 0; i < (plan.info.velocities ? 6 : 3); ++i) {
        if (has_target(plan, i)) continue;
        throw Error("{}: no column {}; a long CSV needs frame,point,x,y,z", plan.info.source,
                    kNames[std::size_t(i)]);
    }
    if (!has_target(plan, kFrame) && !has_target(plan, kTime)) {
        throw Error("{}: no column of frames or times; a long CSV needs frame,point,x,y,z",
                    plan.info.source);
    }
    if (!has_target(plan, kPoint)) {
        throw Error("{}: no column of points; a long CSV needs frame,point,x,y,z",
                    plan.info.source);
    }
}

// Goes through the whole file once, looking at names of points alone.
void find_points(LineReader& lines, const CsvOpening& opening, LongPlan& plan)
{
    const std::size_t point = column_of(plan, kPoint), key = column_of(plan, plan.key);
    std::size_t rows = 0, frames = 0;
    std::string frame;
    std::string_view line, name;
    while (lines.next(line)) {
        CellCursor cursor(line, opening.format);
        name = {};
        for (std::size_t c = 0; c <= std::max(point, key) && cursor.more(); ++c) {
            if (c != point && c != key) {
                cursor.skip();
                continue;
            }
            const std::string_view cell = cursor.take_text();
            if (c == point) name = cell;
            if (c == key && (frames == 0 || frame != cell)) {
                frame = cell;
                ++frames;
                plan.points.begin_frame();
            }
        }
        if (!name.empty()) plan.points.add(name);
        ++rows;
        if (plan.points.size() > kMostPoints) {
            throw Error("{}: more than {} different points; is {} what identifies a point?",
                        lines.place(), kMostPoints, opening.column_text(point));
        }
    }
    if (plan.points.size() == 0) {
        throw Error("{}: {} is blank throughout; give every row the name or number of its point",
                    lines.source(), opening.column_text(point));
    }
    // Frames hold all points, seen or not: such a file would grow beyond measure.
    constexpr double kLeastSeen = 0.001;
    if (double(rows) < kLeastSeen * double(frames) * double(plan.points.size())) {
        throw Error("{}: {} rows for {} points in {} frames; is {} what identifies a point?",
                    lines.source(), rows, plan.points.size(), frames, opening.column_text(point));
    }
    plan.points.finish();
    lines.go_to(opening.first_row);
}

class LongReader : public TrackReader {
  public:
    LongReader(LineReader lines, CsvOpening opening, LongPlan plan)
        : lines_(std::move(lines)), opening_(std::move(opening)), plan_(std::move(plan))
    {
        opening_.sample = {};
        seen_.assign(plan_.info.point_count, 0);
    }

    const TrackInfo& info() const override { return plan_.info; }
    double share() const override { return lines_.share(); }

    bool next(TrackFrame& frame) override
    {
        if (!has_row_ && !read_row()) return false;
        const std::size_t count = 3 * plan_.info.point_count;
        frame.position.assign(count, kNaN);
        frame.velocity.assign(plan_.info.velocities ? count : 0, kNaN);
        frame.time = plan_.clock.read(row_.number[plan_.info.times ? kTime : kFrame]);
        const double key = row_.key(plan_);
        first_line_ = lines_.mark().number;
        do {
            put_row(frame);
        } while (read_row() && row_.key(plan_) == key);
        if (has_row_ && row_.key(plan_) < key) {
            throw Error("{}: {} goes back from {} to {}; sort the rows by it", lines_.place(),
                        opening_.column_text(column_of(plan_, plan_.key)), key, row_.key(plan_));
        }
        clear_partly_missing(frame);
        return true;
    }

  private:
    bool read_row()
    {
        std::string_view line;
        has_row_ = lines_.next(line);
        if (!has_row_) return false;
        CellCursor cursor(line, opening_.format);
        for (std::size_t c = 0; c < plan_.target.size(); ++c) {
            if (!cursor.more()) fail_cell_count(line, opening_, lines_);
            const int target = plan_.target[c];
            if (target == kPassedOver) {
                cursor.skip();
            } else if (target == kPoint) {
                read_point(cursor.take_text(), c);
            } else {
                double& number = row_.number[std::size_t(target)];
                if (cursor.take_number(number)) continue;
                number = need_number(cursor.take_text(), opening_, c, lines_);
                if (target >= kFrame && std::isnan(number)) fail_blank(c);
            }
        }
        while (cursor.more()) {
            if (!cursor.take_text().empty()) fail_cell_count(line, opening_, lines_);
        }
        return true;
    }

    void read_point(std::string_view cell, std::size_t column)
    {
        if (cell.empty()) fail_blank(column);
        row_.point = plan_.points.find(cell);
        if (row_.point == PointIndex::kNone) {
            throw Error("{}: point '{}' was not there a moment ago; is the file still written?",
                        lines_.place(), shown(cell));
        }
    }

    void put_row(TrackFrame& frame)
    {
        const std::size_t point = row_.point;
        double* position = frame.position.data() + 3 * point;
        double* velocity = frame.velocity.empty() ? nullptr : frame.velocity.data() + 3 * point;
        const double* number = row_.number.data();
        const auto same = [](const double* a, const double* b) {
            return std::equal(a, a + 3, b, [](double p, double q) {
                return p == q || (std::isnan(p) && std::isnan(q));
            });
        };
        const bool again = seen_[point] >= first_line_;
        if (again && !(same(number, position) && (!velocity || same(number + 3, velocity)))) {
            throw Error(
                "{}: point '{}' is in this frame already, in line {}, at another place;"
                " keep one of the rows",
                lines_.place(), shown(plan_.points.names()[point]), seen_[point]);
        }
        std::copy(number, number + 3, position);
        if (velocity) std::copy(number + 3, number + 6, velocity);
        seen_[point] = lines_.mark().number;
    }

    [[noreturn]] void fail_blank(std::size_t column) const
    {
        throw Error("{}: {} is blank; every row needs it", lines_.place(),
                    opening_.column_text(column));
    }

    LineReader lines_;
    CsvOpening opening_;
    LongPlan plan_;
    LongRow row_;                    // read but not given yet
    bool has_row_ = false;           // there is one
    std::size_t first_line_ = 0;     // of the frame
    std::vector<std::size_t> seen_;  // for every point, the line that last had it
};

// Two rows after each other in one frame that name different points.
bool repeats_frames(const CsvOpening& opening, std::size_t key, std::size_t point)
{
    if (!opening.is_ascending(key) || !opening.is_whole(point)) return false;
    for (std::size_t row = 1; row < opening.sample_rows(); ++row) {
        if (opening.value(row, key) == opening.value(row - 1, key) &&
            opening.value(row, point) != opening.value(row - 1, point)) {
            return true;
        }
    }
    return false;
}

bool header_is_long(const CsvOpening& opening)
{
    bool has_point = false;
    std::size_t positions = 0;
    for (const CsvColumn& column : read_column_names(opening.header)) {
        has_point = has_point || column.role == Role::point;
        if (column.role != Role::position) continue;
        ++positions;
        if (!column.point.empty()) return false;
    }
    return has_point && positions <= 3;
}

}  // namespace

bool looks_long(const CsvOpening& opening)
{
    if (!opening.header.empty()) return header_is_long(opening);
    const std::size_t count = opening.column_count;
    if (count != 5 && count != 6 && count != 8 && count != 9) return false;
    const std::size_t point = count % 3 == 0 ? 2 : 1;
    return opening.has_text[point] || repeats_frames(opening, 0, point);
}

std::unique_ptr<TrackReader> open_long_csv(LineReader lines, CsvOpening opening,
                                           const TrackHints& hints)
{
    LongPlan plan;
    plan.info.format = "long CSV";
    plan.info.source = lines.source();
    plan.clock = CsvClock::of_frames();
    if (opening.header.empty()) {
        set_targets_by_count(opening, plan);
    } else {
        set_targets_by_name(opening, hints, plan);
    }
    for (const int velocity : {3, 4, 5}) {
        plan.info.velocities = plan.info.velocities || has_target(plan, velocity);
    }
    check_targets(plan);
    plan.info.times = plan.clock.has_times();
    plan.key = has_target(plan, kFrame) ? kFrame : kTime;
    find_points(lines, opening, plan);
    plan.info.point_count = plan.points.size();
    plan.info.names = plan.points.names();
    return std::make_unique<LongReader>(std::move(lines), std::move(opening), std::move(plan));
}

}  // namespace springtime
