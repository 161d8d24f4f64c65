#pragma once

#include "formats/tracks/open_tracks.h"
#include "formats/tracks/table_reader.h"

// The kinds of CSV, each in a file of its own; csv_tracks.cpp chooses.
namespace springtime {

// One line for every frame, and columns that say in their names whose coordinate they are.
TablePlan plan_named_csv(const CsvOpening& opening, const TrackHints& hints,
                         const std::string& source);

// One line for every frame, and columns without such names: wide or in blocks, with or without
// velocities, as hints say or the numbers look.
TablePlan plan_unnamed_csv(const CsvOpening& opening, const TrackHints& hints,
                           const std::string& source);

// One line for every point of every frame.
bool looks_long(const CsvOpening& opening);
std::unique_ptr<TrackReader> open_long_csv(LineReader lines, CsvOpening opening,
                                           const TrackHints& hints);

// The export of OptiTrack Motive.
bool looks_like_motive(LineReader& lines);
std::unique_ptr<TrackReader> open_motive_csv(LineReader lines);

}  // namespace springtime
