#include <algorithm>
#include <array>
#include <charconv>

#include "formats/tracks/csv_columns.h"
#include "formats/tracks/csv_readers.h"
#include "springtime/error.h"

// Layout of the export, format versions 1.2x of Motive 1 to 3:
//
//   Format Version,1.23,Take Name,...,Export Frame Rate,120.000000,...,Length Units,Meters,...
//   (blank)
//   ,Type,Marker,Marker,Marker,...            what a column belongs to
//   ,Name,Cloth:a,Cloth:a,Cloth:a,...
//   ,ID,"4CF0...","4CF0...",...
//   ,Parent,...                               in later versions
//   ,,Position,Position,Position,...          what is measured of it
//   Frame,Time (Seconds),X,Y,Z,...            a column TimeCode may follow
//   0,0.000000,0.1,1.2,0.3,...                blank cells for markers not seen
//
// Early versions leave the second column blank: then rows come in the order type, name, ID.
namespace springtime {

namespace {

constexpr CsvFormat kFormat{',', false};
constexpr std::size_t kMostHeaderRows = 20;

using Cells = std::vector<std::string>;

struct MotiveHeader {
    Cells about, type, name, measure, axis;  // about: keys and values; the others by column
};

std::string cell_of(const Cells& row, std::size_t column)
{
    return column < row.size() ? row[column] : std::string();
}

// What stands behind `key` in the first row.
std::string value_of(const MotiveHeader& header, const std::string& key)
{
    const auto found = std::find(header.about.begin(), header.about.end(), key);
    if (found == header.about.end() || found + 1 == header.about.end()) return {};
    return found[1];
}

void name_row(Cells row, std::size_t unlabelled, MotiveHeader& header)
{
    const std::string label = lower_case(cell_of(row, 1));
    if (label == "type" || (label.empty() && unlabelled == 0 && header.type.empty())) {
        header.type = std::move(row);
    } else if (label == "name" || (label.empty() && unlabelled == 1 && header.name.empty())) {
        header.name = std::move(row);
    } else if (label.empty()) {
        header.measure = std::move(row);  // the last one counts: IDs come before
    }
}

MotiveHeader read_header(LineReader& lines)
{
    MotiveHeader header;
    std::string_view line;
    lines.next(line);
    header.about = split_cells(line, kFormat);
    std::size_t unlabelled = 0;
    for (std::size_t row = 0; row < kMostHeaderRows && lines.next(line); ++row) {
        Cells cells = split_cells(line, kFormat);
        if (lower_case(cells[0]) == "frame") {
            header.axis = std::move(cells);
            break;
        }
        const bool labelled = !cell_of(cells, 1).empty();
        name_row(std::move(cells), unlabelled, header);
        if (!labelled) ++unlabelled;
    }
    const char* missing = header.axis.empty()      ? "Frame,Time (Seconds),X,Y,Z"
                          : header.type.empty()    ? ",Type"
                          : header.name.empty()    ? ",Name"
                          : header.measure.empty() ? ",,Position"
                                                   : nullptr;
    if (missing) {
        throw Error(
            "{}: starts like an export of Motive, but has no row {}...; export it again"
            " with header information",
            lines.source(), missing);
    }
    return header;
}

void set_unit(const MotiveHeader& header, TrackInfo& info)
{
    const std::string word = value_of(header, "Length Units");
    const std::optional<double> unit = length_unit(word);
    const bool metric = unit && (*unit == 1 || *unit == 0.01 || *unit == 0.001);
    if (!word.empty() && !metric) {
        throw Error("{}: Length Units are '{}'; export Meters, Centimeters or Millimeters",
                    info.source, shown(word));
    }
    if (metric) info.unit = unit;
}

void set_rate(const MotiveHeader& header, TrackInfo& info)
{
    for (const char* key : {"Export Frame Rate", "Capture Frame Rate"}) {
        double rate = 0;
        const std::string text = value_of(header, key);
        if (read_number(text, kFormat, rate) != CellKind::number) continue;
        if (!(rate > 0)) {
            throw Error("{}: {} is '{}'; a positive number is needed", info.source, key,
                        shown(text));
        }
        info.rate = rate;
        return;
    }
}

// One point: three columns after each other.
struct Marker {
    std::string name;
    std::size_t column;
};

bool is_unlabelled(const std::string& type, const std::string& name)
{
    return lower_case(type).starts_with("unlabeled") || lower_case(name).starts_with("unlabeled");
}

// The markers of one type with a name, and how many there are without.
struct Markers {
    std::vector<Marker> named;
    std::size_t unlabelled = 0;
};

Markers find_markers(const MotiveHeader& header, const std::string& wanted,
                     const std::string& source)
{
    Markers found;
    for (std::size_t c = 2; c < header.axis.size(); ++c) {
        const std::string type = cell_of(header.type, c), name = cell_of(header.name, c);
        const bool is_free = is_unlabelled(type, name);
        if (type != wanted && !(is_free && wanted == "Marker")) continue;
        if (cell_of(header.measure, c) != "Position" || header.axis[c] != "X") continue;
        if (is_free) {
            ++found.unlabelled;
            continue;
        }
        for (const std::size_t other : {c + 1, c + 2}) {
            if (cell_of(header.name, other) == name &&
                cell_of(header.axis, other) == (other == c + 1 ? "Y" : "Z")) {
                continue;
            }
            throw Error(
                "{}: marker '{}' has X in column {}, but not Y and Z behind it; export"
                " positions of markers in full",
                source, shown(name), c + 1);
        }
        found.named.push_back({name, c});
    }
    return found;
}

void remark_others(const MotiveHeader& header, const std::string& used, std::size_t unlabelled,
                   TrackInfo& info)
{
    Cells kinds;
    for (std::size_t c = 2; c < header.axis.size(); ++c) {
        const std::string kind = cell_of(header.type, c);
        const bool known = kind.empty() || kind == used ||
                           std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
        if (!known && !is_unlabelled(kind, "")) kinds.push_back(kind);
    }
    for (const std::string& kind : kinds) {
        info.remarks.push_back("Passed over: columns of type " + shown(kind) + ".");
    }
    if (unlabelled > 0) {
        info.remarks.push_back(fmt::format(
            "Passed over: {} unlabeled marker{}; label them in Motive where they belong to the"
            " cloth.",
            unlabelled, unlabelled == 1 ? "" : "s"));
    }
}

std::size_t time_column(const MotiveHeader& header, const std::string& source)
{
    for (std::size_t c = 1; c < header.axis.size(); ++c) {
        if (read_column_name(header.axis[c]).role == CsvColumn::Role::time) return c;
    }
    throw Error("{}: no column 'Time (Seconds)' beside 'Frame'; export it again with times",
                source);
}

TablePlan plan_motive(const MotiveHeader& header, const std::string& source)
{
    TablePlan plan;
    TrackInfo& info = plan.info;
    info.format = "Motive CSV";
    info.source = source;
    info.up = 'y';
    info.times = true;
    set_unit(header, info);
    set_rate(header, info);
    Markers markers = find_markers(header, "Marker", source);
    std::string used = "Marker";
    if (markers.named.empty()) {
        // Where a rigid body expects its markers: better than nothing.
        used = "Rigid Body Marker";
        markers.named = find_markers(header, used, source).named;
    }
    if (markers.named.empty()) {
        throw Error(
            "{}: no labeled markers, but {} unlabeled; label them in Motive and export"
            " with Markers",
            source, markers.unlabelled);
    }
    remark_others(header, used, markers.unlabelled, info);
    info.point_count = markers.named.size();
    plan.target.assign(header.axis.size(), kPassedOver);
    for (std::size_t p = 0; p < markers.named.size(); ++p) {
        info.names.push_back(markers.named[p].name);
        for (int axis = 0; axis < 3; ++axis) {
            plan.target[markers.named[p].column + std::size_t(axis)] =
                plan.position_target(p, axis);
        }
    }
    plan.clock = CsvClock::of_times(1.0, 0, info.remarks);
    plan.target[time_column(header, source)] = plan.clock_target();
    return plan;
}

}  // namespace

bool looks_like_motive(LineReader& lines)
{
    std::string_view line;
    if (!lines.next(line)) return false;
    const LineReader::Mark start = lines.mark();
    const std::string first(CellCursor(line, kFormat).take_text());
    lines.go_to(start);
    return first == "Format Version";
}

std::unique_ptr<TrackReader> open_motive_csv(LineReader lines)
{
    const MotiveHeader header = read_header(lines);
    CsvOpening opening;
    opening.format = kFormat;
    opening.column_count = header.axis.size();
    for (std::size_t c = 0; c < header.axis.size(); ++c) {
        const std::string name = cell_of(header.name, c);
        opening.header.push_back(c < 2 || name.empty() ? header.axis[c]
                                                       : name + " " + header.axis[c]);
    }
    TablePlan plan = plan_motive(header, lines.source());
    std::string_view line;
    if (!lines.next(line)) {
        throw Error("{}: an export of Motive without frames; export a range that has some",
                    lines.source());
    }
    opening.first_row = lines.mark();
    lines.go_to(opening.first_row);
    return make_table_reader(std::move(lines), std::move(opening), std::move(plan));
}

}  // namespace springtime
