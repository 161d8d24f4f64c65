#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <fstream>

#include "core/atomic_file.h"
#include "core/text.h"
#include "formats/png.h"
#include "springtime/error.h"
#include "springtime/files.h"

namespace springtime {

namespace {

using Range = MaterialField::Range;

constexpr int kMaxSide = 16384;

// Appends the numbers of one line and returns how many there were.
int append_numbers(std::vector<double>& values, std::string_view line, const std::string& path,
                   std::size_t line_number)
{
    int count = 0;
    for (std::size_t start = 0; start <= line.size(); ++count) {
        const auto comma = std::min(line.find(',', start), line.size());
        const std::string_view cell = trimmed(line.substr(start, comma - start));
        start = comma + 1;
        double value = 0;
        const char* last = cell.data() + cell.size();
        const auto [end, status] = std::from_chars(cell.data(), last, value);
        if (status != std::errc() || end != last) {
            throw Error(
                "{}: line {}, column {}: '{}' is not a number; give numbers with commas between",
                path, line_number, count + 1, cell);
        }
        values.push_back(value);
    }
    return count;
}

void check_row(const ValueMap& map, int count, const std::string& path, std::size_t line_number)
{
    if (map.rows > 0 && count != map.cols) {
        throw Error(
            "{}: line {} has {} numbers, but the lines before have {}; give each line as many",
            path, line_number, count, map.cols);
    }
    if (count > kMaxSide || map.rows >= kMaxSide) {
        throw Error("{}: more than {} numbers at line {}; a map has at most {} a side", path,
                    kMaxSide, line_number, kMaxSide);
    }
}

ValueMap read_table(const std::string& path)
{
    check_source(path);
    std::ifstream file(path);
    if (!file) throw Error("{}: cannot be opened; give the path of a CSV table", path);
    ValueMap map;
    std::string line;
    for (std::size_t line_number = 1; std::getline(file, line); ++line_number) {
        if (line_number == 1) line = without_byte_order_mark(line);
        if (trimmed(line).empty()) continue;
        const int count = append_numbers(map.values, line, path, line_number);
        check_row(map, count, path, line_number);
        map.cols = count;
        ++map.rows;
    }
    if (file.bad()) throw Error("{}: cannot be read; give the path of a CSV table", path);
    if (map.rows == 0) throw Error("{}: is empty; give one line of numbers for each row", path);
    return map;
}

ValueMap read_image(const std::string& path, const Range& range)
{
    ValueMap map = read_grey_png(path);
    for (double& value : map.values) {
        value = (1 - value) * range.from + value * range.to;
    }
    return map;
}

ValueMap read_map(const std::string& path, const std::optional<Range>& range)
{
    std::string kind = std::filesystem::path(path).extension().string();
    std::transform(kind.begin(), kind.end(), kind.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    if (kind == ".png") {
        if (!range) {
            throw Error("{}: an image needs the values of black and white; write map {} LOW-HIGH",
                        path, path);
        }
        return read_image(path, *range);
    }
    if (kind == ".csv") {
        if (range) {
            throw Error("{}: a table holds its own values; write map {} without {}-{}", path, path,
                        range->from, range->to);
        }
        return read_table(path);
    }
    throw Error("{}: unknown kind of map '{}'; give a .png image or a .csv table", path, kind);
}

}  // namespace

ValueMap read_value_map(const std::filesystem::path& path)
{
    std::string kind = path.extension().string();
    std::transform(kind.begin(), kind.end(), kind.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return kind == ".png" ? read_grey_png(path.string()) : read_map(path.string(), {});
}

MaterialField read_material(std::string_view text)
{
    return parse_material(text, read_map);
}

}  // namespace springtime
