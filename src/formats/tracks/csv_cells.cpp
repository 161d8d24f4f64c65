#include "formats/tracks/csv_cells.h"
#include "core/text.h"

#include <algorithm>
#include <array>
#include <limits>

namespace springtime {

namespace {

constexpr std::string_view kSpace = " \t";

bool has_outside_quotes(std::string_view line, char wanted)
{
    bool quoted = false;
    for (const char c : line) {
        if (c == '"') quoted = !quoted;
        if (c == wanted && !quoted) return true;
    }
    return false;
}

// Between commas decimals have a comma when cells with one are in quotes, none has a point, and one
// cannot be thousands: "0,25" or "1200,2", but "1,200" could be either.
bool quotes_decimals(const std::vector<std::string>& lines)
{
    constexpr std::string_view kDigits = "0123456789";
    bool found = false;
    for (const std::string& line : lines) {
        for (CellCursor cursor(line, {',', false}); cursor.more();) {
            std::string_view cell = cursor.take_text();
            double value = 0;
            if (read_number(cell, {',', true}, value) != CellKind::number) continue;
            if (cell.find('.') != cell.npos) return false;
            const auto comma = cell.find(',');
            if (comma == cell.npos) continue;
            const auto behind = cell.substr(comma + 1).find_first_not_of(kDigits);
            const std::size_t decimals = std::min(behind, cell.size() - comma - 1);
            cell = cell.substr(0, comma);
            const auto first = cell.find_first_of(kDigits);
            const bool below_one = first != cell.npos && cell[first] == '0';
            found = found || decimals != 3 || below_one || cell.size() - first > 3;
        }
    }
    return found;
}

// Words that programs write for a number that is not there.
bool is_missing(std::string_view cell)
{
    if (cell.empty()) return true;
    if (cell.size() > 4) return false;
    const std::string word = lower_case(cell);
    return word == "nan" || word == "-nan" || word == "null" || word == "na" || word == "n/a" ||
           word == "none";
}

}  // namespace

std::string lower_case(std::string_view text)
{
    std::string lower(text);
    for (char& c : lower) {
        if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
    }
    return lower;
}

CsvFormat find_format(const std::vector<std::string>& lines)
{
    // A semicolon or TAB comes first: beside them a comma may be that of decimals.
    for (const char separator : {';', '\t', ','}) {
        if (std::all_of(lines.begin(), lines.end(), [&](const std::string& line) {
                return has_outside_quotes(line, separator);
            })) {
            return {separator, separator != ',' || quotes_decimals(lines)};
        }
    }
    return {' ', false};
}

CellKind read_number(std::string_view cell, const CsvFormat& format, double& value)
{
    if (is_missing(cell)) {
        value = std::numeric_limits<double>::quiet_NaN();
        return CellKind::missing;
    }
    std::array<char, 64> dotted;  // longer ones are no numbers of any program
    if (format.decimal_comma && cell.size() <= dotted.size() &&
        std::count(cell.begin(), cell.end(), ',') == 1) {
        std::replace_copy(cell.begin(), cell.end(), dotted.begin(), ',', '.');
        cell = {dotted.data(), cell.size()};
    }
    if (cell.size() > 1 && cell[0] == '+' && cell[1] != '-') cell.remove_prefix(1);
    double found = 0;
    const auto [end, status] = std::from_chars(cell.data(), cell.data() + cell.size(), found);
    if (end != cell.data() + cell.size() || status == std::errc::invalid_argument) {
        return CellKind::text;
    }
    if (status == std::errc::result_out_of_range) return CellKind::out_of_range;
    if (std::isinf(found)) return CellKind::infinite;
    value = found;
    return std::isnan(found) ? CellKind::missing : CellKind::number;
}

std::string shown(std::string_view cell)
{
    constexpr std::size_t kLongest = 40;
    std::string text(cell.substr(0, kLongest));
    for (char& c : text) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    }
    return cell.size() > kLongest ? text + "..." : text;
}

std::string_view CellCursor::take_text()
{
    const char* begin = at_;
    bool quoted = false;
    while (at_ < end_ && (quoted || !is_separator(*at_))) {
        if (*at_ == '"') quoted = !quoted;
        ++at_;
    }
    std::string_view cell(begin, std::size_t(at_ - begin));
    leave();
    cell = trimmed(cell, kSpace);
    if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') {
        cell = trimmed(cell.substr(1, cell.size() - 2), kSpace);
    }
    return cell;
}

std::vector<std::string> split_cells(std::string_view line, const CsvFormat& format)
{
    std::vector<std::string> cells;
    CellCursor cursor(line, format);
    while (cursor.more()) cells.emplace_back(cursor.take_text());
    return cells;
}

}  // namespace springtime
