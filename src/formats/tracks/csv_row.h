#pragma once

#include "formats/tracks/csv_opening.h"
#include "formats/tracks/track_reader.h"

// What all readers of CSV make of the cells of a row.
namespace springtime {

// The number in a cell that has to hold one, or NaN where it is missing; `column` counts from 0.
double need_number(std::string_view cell, const CsvOpening& opening, std::size_t column,
                   const LineReader& lines);

// Throws Error: a row with another number of cells than the rest.
[[noreturn]] void fail_cell_count(std::string_view line, const CsvOpening& opening,
                                  const LineReader& lines);

// A point without one coordinate is nowhere, and one without a place has no velocity. True if any
// point is left.
bool clear_partly_missing(TrackFrame& frame);

}  // namespace springtime
