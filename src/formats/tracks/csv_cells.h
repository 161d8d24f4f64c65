#pragma once

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

// The cells of one line of a CSV.
namespace springtime {

struct CsvFormat {
    char separator = ',';  // ',', ';', TAB, or ' ' for any number of blanks
    bool decimal_comma = false;
};

// Which format lines have that belong to one file.
CsvFormat find_format(const std::vector<std::string>& lines);

enum class CellKind { number, missing, text, infinite, out_of_range };

// What a cell without blanks and quotes around it holds; a missing one makes `value` NaN, and
// only a number changes it otherwise.
CellKind read_number(std::string_view cell, const CsvFormat& format, double& value);

// A cell as people should see it in a message: short, and without control characters.
std::string shown(std::string_view cell);

// Goes through the cells of a line without making any.
class CellCursor {
  public:
    CellCursor(std::string_view line, const CsvFormat& format) : format_(format)
    {
        at_ = line.data();
        end_ = at_ + line.size();
        if (format_.separator == ' ') skip_blanks();
        // Blanks at the end are not a further cell.
        while (format_.separator == ' ' && end_ > at_ && is_blank(end_[-1])) --end_;
    }

    // False behind the last cell. A line that ends with a separator has a blank cell behind it.
    bool more() const { return more_; }

    // The next cell without blanks and quotes around it, which takes no quick look at it.
    std::string_view take_text();
    void skip()
    {
        while (at_ < end_ && !is_separator(*at_)) {
            if (*at_ == '"') return void(take_text());
            ++at_;
        }
        leave();
    }
    // The number in the next cell. True for most: a finite number with nothing around it. Otherwise
    // the cell is still the next one.
    bool take_number(double& value)
    {
        const auto [behind, status] = std::from_chars(at_, end_, value);
        if (status != std::errc() || (behind != end_ && !is_separator(*behind)) ||
            !std::isfinite(value)) {
            return false;
        }
        at_ = behind;
        leave();
        return true;
    }

  private:
    static bool is_blank(char c) { return c == ' ' || c == '\t'; }
    bool is_separator(char c) const
    {
        return c == format_.separator || (format_.separator == ' ' && c == '\t');
    }
    void skip_blanks()
    {
        while (at_ < end_ && is_blank(*at_)) ++at_;
    }
    // From the end of a cell to the start of the next.
    void leave()
    {
        if (at_ == end_) {
            more_ = false;
        } else if (++at_; format_.separator == ' ') {
            skip_blanks();
        }
    }

    CsvFormat format_;
    const char *at_, *end_;
    bool more_ = true;
};

// All cells of a line, without blanks and quotes around them.
std::vector<std::string> split_cells(std::string_view line, const CsvFormat& format);

std::string lower_case(std::string_view text);

}  // namespace springtime
