#include "formats/tracks/table_reader.h"

#include <algorithm>
#include <limits>

#include "formats/tracks/csv_row.h"
#include "springtime/error.h"

namespace springtime {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

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
            const std::size_t count = 3 * plan_.info.point_count;
            const double* numbers = numbers_.data();
            frame.position.assign(numbers, numbers + count);
            frame.velocity.assign(numbers + count, numbers + numbers_.size() - 1);
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
