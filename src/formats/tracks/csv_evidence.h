#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/tracks/csv_columns.h"
#include "formats/tracks/csv_opening.h"

// What the numbers of the first rows say of columns whose names leave it open.
namespace springtime {

// Whether the second half of the columns are the velocities of the first half: what a number grew
// by goes with the other, taken at the row before (forward differences), at the row behind
// (backward differences) or between both, from row to row or over many rows.
bool has_velocities(const CsvOpening& opening, const std::vector<std::size_t>& data);

// The column of time stamps that is the clock of the frames. Where there are several, one that
// stands still between frames that differ is none. Of the others it is the one against which the
// coordinates in `data` move more smoothly; where they do alike, the stamp of a header, which says
// when a frame was seen and not when it was logged. `wanted` names one instead; may
// be empty. What was chosen of several, and why, is added to `remarks`. None when the
// file has none. Throws Error when `wanted` is not there.
std::optional<std::size_t> time_column(const CsvOpening& opening,
                                       const std::vector<CsvColumn>& columns,
                                       const std::vector<std::size_t>& data,
                                       const std::string& wanted, const std::string& source,
                                       std::vector<std::string>& remarks);

}  // namespace springtime
