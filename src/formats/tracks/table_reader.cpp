#include "formats/tracks/table_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "springtime/error.h"

namespace springtime {

// ---- Time ----

CsvClock CsvClock::of_frames()
{
    CsvClock clock;
    clock.from_first_ = true;
    return clock;
}

CsvClock CsvClock::of_times(std::optional<double> unit, double first,
                            std::vector<std::string>& remarks)
{
    CsvClock clock;
    clock.has_times_ = true;
    // In seconds 1e11 is the year 5138, so larger ones count something smaller.
    if (!unit && first > 1e15) {
        unit = 1e-9;
        remarks.push_back("Times are so large that they were taken for nanoseconds.");
    } else if (!unit && first > 1e11) {
        unit = 1e-3;
        remarks.push_back("Times are so large that they were taken for milliseconds.");
    }
    clock.unit_ = unit.value_or(1);
    // Nanoseconds since 1970 in seconds would leave a double only tenths of microseconds.
    clock.from_first_ = clock.unit_ < 1e-7;
    return clock;
}

double CsvClock::read(double value)
{
    if (!from_first_) return unit_ * value;
    if (!first_) first_ = value;
    return unit_ * (value - *first_);
}

void TablePlan::count_by_times(const CsvOpening& opening, std::size_t column,
                               std::optional<double> unit)
{
    const double first = opening.first_value(column);
    clock = CsvClock::of_times(unit, first, info.remarks);
    info.times = true;
    info.clock_zero = clock.zero(first);
    target[column] = clock_target();
}

void TablePlan::count_by_frames(std::size_t column)
{
    clock = CsvClock::of_frames();
    target[column] = clock_target();
}

// ---- Rows ----

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

double need_number(std::string_view cell, const CsvOpening& opening, std::size_t column,
                   const LineReader& lines)
{
    double value = kNaN;
    switch (read_number(cell, opening.format, value)) {
        case CellKind::number:
        case CellKind::missing:
            return value;
        case CellKind::infinite:
            throw Error("{}: {} is infinite ('{}'); leave cells of missing points blank",
                        lines.place(), opening.column_text(column), shown(cell));
        case CellKind::out_of_range:
            throw Error("{}: {} is '{}', beyond what a double holds; correct it or leave it blank",
                        lines.place(), opening.column_text(column), shown(cell));
        case CellKind::text:
            break;
    }
    throw Error("{}: {} is '{}'; a number is needed, or a blank cell where it is missing",
                lines.place(), opening.column_text(column), shown(cell));
}

void fail_cell_count(std::string_view line, const CsvOpening& opening, const LineReader& lines)
{
    std::size_t cells = 0;
    for (CellCursor cursor(line, opening.format); cursor.more(); ++cells) cursor.skip();
    throw Error(
        "{}: {} cells, but {} has {}; every row needs the same columns, blank where a"
        " point is missing",
        lines.place(), cells, opening.header.empty() ? "the first row" : "the header",
        opening.column_count);
}

bool clear_partly_missing(TrackFrame& frame)
{
    bool any = false;
    for (std::size_t i = 0; i < frame.position.size(); i += 3) {
        double* x = frame.position.data() + i;
        const bool missing = std::isnan(x[0] + x[1] + x[2]);
        if (missing) std::fill(x, x + 3, kNaN);
        any = any || !missing;
        if (frame.velocity.empty()) continue;
        double* v = frame.velocity.data() + i;
        if (missing || std::isnan(v[0] + v[1] + v[2])) std::fill(v, v + 3, kNaN);
    }
    return any;
}

// ---- Tables ----

namespace {

class TableReader : public TrackReader {
  public:
    TableReader(LineReader lines, CsvOpening opening, TablePlan plan)
        : lines_(std::move(lines)), opening_(std::move(opening)), plan_(std::move(plan))
    {
        opening_.sample = {};
        numbers_.assign(std::size_t(plan_.clock_target()) + 1, kNaN);
        has_clock_ = std::find(plan_.target.begin(), plan_.target.end(), plan_.clock_target()) !=
                     plan_.target.end();
    }

    const TrackInfo& info() const override { return plan_.info; }
    double share() const override { return lines_.share(); }

    bool next(TrackFrame& frame) override
    {
        std::string_view line;
        while (lines_.next(line)) {
            read_row(line);
            const double* velocity = numbers_.data() + 3 * plan_.info.point_count;
            const double* orientation = numbers_.data() + plan_.orientation_target(0, 0);
            frame.position.assign(std::as_const(numbers_).data(), velocity);
            frame.velocity.assign(velocity, orientation);
            frame.orientation.assign(orientation,
                                     std::as_const(numbers_).data() + plan_.clock_target());
            const bool empty = !clear_partly_missing(frame);
            if (has_clock_ && std::isnan(numbers_.back())) {
                if (empty) continue;  // a row of gaps alone says nothing, not even when
                fail_without_time();
            }
            frame.time = has_clock_ ? plan_.clock.read(numbers_.back()) : double(frames_);
            ++frames_;
            return true;
        }
        return false;
    }

  private:
    void read_row(std::string_view line)
    {
        CellCursor cursor(line, opening_.format);
        const std::size_t count = plan_.target.size();
        for (std::size_t c = 0; c < count; ++c) {
            if (!cursor.more()) fail_cell_count(line, opening_, lines_);
            const int target = plan_.target[c];
            if (target == kPassedOver) {
                cursor.skip();
            } else if (!cursor.take_number(numbers_[std::size_t(target)])) {
                numbers_[std::size_t(target)] =
                    need_number(cursor.take_text(), opening_, c, lines_);
            }
        }
        while (cursor.more()) {
            if (!cursor.take_text().empty()) fail_cell_count(line, opening_, lines_);
        }
    }

    [[noreturn]] void fail_without_time() const
    {
        const auto at = std::find(plan_.target.begin(), plan_.target.end(), plan_.clock_target());
        throw Error("{}: {} is blank, but every row needs its {}; fill it in or remove the row",
                    lines_.place(), opening_.column_text(std::size_t(at - plan_.target.begin())),
                    plan_.info.times ? "time" : "number of the frame");
    }

    LineReader lines_;
    CsvOpening opening_;
    TablePlan plan_;
    std::vector<double> numbers_;  // of one row, in the order of plan_.target
    bool has_clock_ = false;
    std::size_t frames_ = 0;
};

}  // namespace

std::unique_ptr<TrackReader> make_table_reader(LineReader lines, CsvOpening opening, TablePlan plan)
{
    return std::make_unique<TableReader>(std::move(lines), std::move(opening), std::move(plan));
}

}  // namespace springtime
