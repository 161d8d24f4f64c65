#include <algorithm>

#include "formats/tracks/csv_columns.h"
#include "formats/tracks/csv_readers.h"
#include "springtime/error.h"

namespace springtime {

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
        return open_long_csv(std::move(lines), std::move(opening));
    }
    TablePlan plan = is_named ? plan_named_csv(opening, source)
                              : plan_unnamed_csv(opening, hints.layout, source);
    return make_table_reader(std::move(lines), std::move(opening), std::move(plan));
}

}  // namespace springtime
