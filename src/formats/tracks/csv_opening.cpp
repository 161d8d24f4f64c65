#include "formats/tracks/csv_opening.h"

#include <algorithm>
#include <limits>

#include "springtime/error.h"

namespace springtime {

namespace {

// Lines that have to agree on their separator, or this many bytes of them.
constexpr std::size_t kFormatLines = 8, kFormatBytes = 1 << 20;
// Rows of the sample, or this many numbers.
constexpr std::size_t kSampleRows = 200, kSampleNumbers = 1 << 22;
constexpr std::size_t kMostColumns = 1 << 22;  // more fit into no line of reasonable numbers

bool is_text(const std::string& cell, const CsvFormat& format)
{
    double ignored = 0;
    return read_number(cell, format, ignored) == CellKind::text;
}

// 0, 1, 2, ... is how a table without names of columns is often exported, with a blank above a
// column of row numbers. Many of them, so that no row of a few numbers is lost.
bool counts_columns(const std::vector<std::string>& cells)
{
    const std::size_t first = cells[0].empty() ? 1 : 0;
    if (cells.size() < (first == 1 ? 4 : 10)) return false;
    for (std::size_t c = first; c < cells.size(); ++c) {
        if (cells[c] != std::to_string(c - first)) return false;
    }
    return true;
}

// Names in at least half of the cells: a single word among numbers is the name of a point.
bool is_header(const std::vector<std::string>& cells, const CsvFormat& format)
{
    const auto texts = std::count_if(cells.begin(), cells.end(),
                                     [&](const auto& cell) { return is_text(cell, format); });
    const auto blanks = std::count(cells.begin(), cells.end(), "");
    return texts > 0 && 2 * texts >= std::ptrdiff_t(cells.size()) - blanks;
}

// Also gives the comment before the first line.
CsvFormat format_of_start(LineReader& lines, LineReader::Mark& first, std::string& comment)
{
    std::vector<std::string> start;
    std::string_view line;
    std::size_t bytes = 0;
    while (start.size() < kFormatLines && bytes < kFormatBytes && lines.next(line)) {
        if (start.empty()) {
            first = lines.mark();
            comment = lines.comment();
        }
        start.emplace_back(line);
        bytes += line.size();
    }
    if (start.empty()) {
        throw Error("{}: has no rows; a line of numbers for every frame is needed", lines.source());
    }
    lines.go_to(first);
    return find_format(start);
}

// One row into the sample; false when it has another number of cells.
bool add_to_sample(std::string_view line, CsvOpening& opening)
{
    CellCursor cursor(line, opening.format);
    const std::size_t begin = opening.sample.size();
    for (std::size_t c = 0; c < opening.column_count; ++c) {
        double value = std::numeric_limits<double>::quiet_NaN();
        if (!cursor.more()) {
            opening.sample.resize(begin);
            return false;
        }
        if (!cursor.take_number(value)) {
            const std::string_view cell = cursor.take_text();
            value = std::numeric_limits<double>::quiet_NaN();
            if (read_number(cell, opening.format, value) == CellKind::text) {
                opening.has_text[c] = true;
            }
        }
        opening.sample.push_back(value);
    }
    return true;
}

void read_sample(LineReader& lines, CsvOpening& opening)
{
    opening.has_text.assign(opening.column_count, false);
    std::string_view line;
    for (std::size_t row = 0; row < kSampleRows && opening.sample.size() < kSampleNumbers; ++row) {
        if (!lines.next(line) || !add_to_sample(line, opening)) break;
    }
    lines.go_to(opening.first_row);
}

// A separator behind the last number of every line is not a further column.
void drop_blank_end(CsvOpening& opening)
{
    const std::size_t last = opening.column_count - 1;
    const bool blank = opening.column_count > 1 && opening.header.empty() &&
                       !opening.has_text[last] && std::isnan(opening.first_value(last)) &&
                       !std::isnan(opening.first_value(last - 1));
    if (!blank) return;
    std::vector<double> kept;
    for (std::size_t row = 0; row < opening.sample_rows(); ++row) {
        const auto begin = opening.sample.begin() + std::ptrdiff_t(row * (last + 1));
        kept.insert(kept.end(), begin, begin + std::ptrdiff_t(last));
    }
    opening.sample = std::move(kept);
    opening.has_text.pop_back();
    opening.column_count = last;
}

}  // namespace

double CsvOpening::first_value(std::size_t column) const
{
    for (std::size_t row = 0; row < sample_rows(); ++row) {
        if (!std::isnan(value(row, column))) return value(row, column);
    }
    return std::numeric_limits<double>::quiet_NaN();
}

bool CsvOpening::is_whole(std::size_t column) const
{
    bool found = false;
    for (std::size_t row = 0; row < sample_rows(); ++row) {
        const double number = value(row, column);
        if (std::isnan(number)) continue;
        if (number != std::floor(number)) return false;
        found = true;
    }
    return found && !has_text[column];
}

bool CsvOpening::is_ascending(std::size_t column) const
{
    double before = -std::numeric_limits<double>::infinity();
    for (std::size_t row = 0; row < sample_rows(); ++row) {
        if (value(row, column) < before) return false;
        if (!std::isnan(value(row, column))) before = value(row, column);
    }
    return true;
}

std::string CsvOpening::column_text(std::size_t column) const
{
    const std::string number = "column " + std::to_string(column + 1);
    if (column >= header.size() || header[column].empty()) return number;
    return number + " ('" + shown(header[column]) + "')";
}

CsvOpening look_at_csv(LineReader& lines)
{
    CsvOpening opening;
    std::string comment;
    opening.format = format_of_start(lines, opening.first_row, comment);
    std::string_view line;
    lines.next(line);
    std::vector<std::string> cells = split_cells(line, opening.format);
    if (cells.size() > kMostColumns) {
        throw Error("{}: {} columns; at most {} are read, one line for every frame", lines.place(),
                    cells.size(), kMostColumns);
    }
    opening.column_count = cells.size();
    const bool counts = counts_columns(cells);
    if (counts || is_header(cells, opening.format)) {
        if (!counts) opening.header = std::move(cells);
        if (!lines.next(line)) {
            throw Error(
                "{}: has names of columns but no rows; a line of numbers for every frame"
                " is needed",
                lines.source());
        }
        opening.first_row = lines.mark();
    } else {
        // NumPy and others write the names of columns as a comment.
        std::vector<std::string> names = split_cells(comment, opening.format);
        if (names.size() == cells.size() && is_header(names, opening.format)) {
            opening.header = std::move(names);
        }
    }
    lines.go_to(opening.first_row);
    read_sample(lines, opening);
    drop_blank_end(opening);
    return opening;
}

}  // namespace springtime
