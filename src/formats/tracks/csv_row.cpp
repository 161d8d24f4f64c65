#include "formats/tracks/csv_row.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "springtime/error.h"

namespace springtime {

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

}  // namespace springtime
