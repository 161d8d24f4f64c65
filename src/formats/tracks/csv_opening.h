#pragma once

#include "formats/tracks/csv_cells.h"
#include "formats/tracks/line_reader.h"

namespace springtime {

// What the first lines of a CSV show, before anybody says what its columns mean.
struct CsvOpening {
    CsvFormat format;
    std::vector<std::string> header;  // names of columns; empty without
    LineReader::Mark first_row;       // the first line of numbers
    std::size_t column_count = 0;

    // The first rows, row after row: NaN where a number is missing or something else stands.
    std::vector<double> sample;
    std::vector<bool> has_text;  // for every column of the sample
    std::size_t sample_rows() const { return sample.size() / column_count; }
    double value(std::size_t row, std::size_t column) const
    {
        return sample[row * column_count + column];
    }
    // The first number of a column in the sample, or NaN.
    double first_value(std::size_t column) const;
    // Only whole numbers in the sample of a column, and at least one.
    bool is_whole(std::size_t column) const;
    // Numbers of a column in the sample never descend.
    bool is_ascending(std::size_t column) const;

    // "column 3 ('x1')" for messages; columns count from 0 here and from 1 there.
    std::string column_text(std::size_t column) const;
};

// Leaves `lines` before the first row. Throws Error on a file without rows.
CsvOpening look_at_csv(LineReader& lines);

}  // namespace springtime
