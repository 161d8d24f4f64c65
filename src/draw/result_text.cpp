#include <algorithm>
#include <cmath>

#include "draw/result_text.h"
#include "springtime/error.h"
#include "springtime/report.h"

namespace springtime {

namespace {

constexpr std::size_t kMostListed = 12;  // values of a list in one line
constexpr double kBarWidth = 40;

bool is_value(const Result& result)
{
    return !result.is_tree() && !result.is_list();
}

bool is_short_list(const Result& result)
{
    return result.is_list() && std::all_of(result.entries().begin(), result.entries().end(),
                                           [](const auto& entry) { return is_value(entry.value); });
}

std::optional<double> number_of(const Result& result)
{
    if (const double* value = result.get_if<double>()) return *value;
    if (const auto* value = result.get_if<std::int64_t>()) return double(*value);
    return {};
}

std::string number_text(double value, bool percent)
{
    if (!std::isfinite(value)) return "-";
    return percent ? fmt::format("{:.3g}", 100 * value) : fmt::format("{:.4g}", value);
}

bool is_sentence(const Result& result)
{
    const std::string* words = result.get_if<std::string>();
    return words && words->find(' ') != std::string::npos;
}

bool all_of(const Result& result, bool (*is_kind)(const Result&))
{
    return !result.entries().empty() &&
           std::all_of(result.entries().begin(), result.entries().end(),
                       [&](const Result::Entry& entry) {
                           return is_kind(entry.value) || entry.value.style().data_only ||
                                  (result.is_tree() && entry.value.is_nothing());
                       });
}

}  // namespace

std::string value_text(const Result& result)
{
    if (const bool* value = result.get_if<bool>()) return *value ? "yes" : "no";
    if (const auto* value = result.get_if<std::int64_t>()) return fmt::format("{}", *value);
    if (const auto* value = result.get_if<std::string>()) return *value;
    if (const double* value = result.get_if<double>()) {
        return number_text(*value, result.style().percent);
    }
    if (!result.is_list()) return "-";
    std::string text;
    for (std::size_t i = 0; i < std::min(kMostListed, result.entries().size()); ++i) {
        text += (i > 0 ? ", " : "") + value_text(result.entries()[i].value);
    }
    if (result.entries().size() > kMostListed) {
        text += fmt::format(" and {} more", result.entries().size() - kMostListed);
    }
    return text.empty() ? "none" : text;
}

std::string unit_of(const Result& result)
{
    return result.style().percent ? "%" : result.style().unit;
}

std::string label_of(const Result::Entry& entry)
{
    if (!entry.value.style().label.empty()) return entry.value.style().label;
    std::string text = entry.name;
    std::replace(text.begin(), text.end(), '_', ' ');
    return text;
}

bool is_shown(const Result& result)
{
    if (result.style().data_only || result.is_nothing()) return false;
    const auto& entries = result.entries();
    if (!entries.empty() && std::none_of(entries.begin(), entries.end(), [&](const auto& entry) {
            return is_shown(entry.value) || result.is_list();
        })) {
        return false;
    }
    if (!result.style().unless_zero) return true;
    const bool* on = result.get_if<bool>();
    const std::string* text = result.get_if<std::string>();
    if (on) return *on;
    if (text) return !text->empty();
    return is_value(result) ? number_of(result).value_or(0) != 0 : !result.entries().empty();
}

bool is_line(const Result& result)
{
    if (is_value(result)) return true;
    return is_short_list(result) && !result.style().interval && !all_of(result, is_sentence);
}

namespace {

// ---- Tables ----

using Rows = std::vector<const Result::Entry*>;

struct Column {
    std::string name, head;  // no name: the labels of the rows
    std::string unit;        // empty where the rows differ, which then say it themselves
    std::size_t width = 0;
    bool right = false;  // numbers
};

struct Table {
    Rows rows;
    std::vector<Column> columns;
    bool bars = false;
    std::size_t most = 24;  // rows that are shown
};

bool is_row(const Result& result)
{
    return result.is_tree() && std::all_of(result.entries().begin(), result.entries().end(),
                                           [](const Result::Entry& cell) {
                                               return is_value(cell.value) ||
                                                      is_short_list(cell.value) ||
                                                      cell.value.style().data_only;
                                           });
}

const Result* cell_of(const Result::Entry& row, const Column& column)
{
    const Result* cell = row.value.find(column.name);
    return cell && is_shown(*cell) ? cell : nullptr;
}

std::string cell_text(const Result::Entry& row, const Column& column)
{
    if (column.name.empty()) return label_of(row);
    const Result* cell = cell_of(row, column);
    if (!cell) return "-";
    const std::string unit = column.unit.empty() ? unit_of(*cell) : "";
    return value_text(*cell) + (unit.empty() ? "" : " " + unit);
}

// The unit that all rows share, if any.
std::string shared_unit(const Rows& rows, const Column& column)
{
    std::optional<std::string> unit;
    for (const Result::Entry* row : rows) {
        const Result* cell = cell_of(*row, column);
        if (!cell) continue;
        if (unit && *unit != unit_of(*cell)) return {};
        unit = unit_of(*cell);
    }
    return unit.value_or("");
}

void complete(Column& column, const Rows& rows)
{
    column.unit = shared_unit(rows, column);
    if (!column.unit.empty()) column.head += " [" + column.unit + "]";
    column.width = column.head.size();
    for (const Result::Entry* row : rows) {
        column.width = std::max(column.width, cell_text(*row, column).size());
    }
}

Table table_of(Rows rows, bool named)
{
    Table table{std::move(rows), {}};
    if (named) table.columns.push_back({});
    for (const Result::Entry* row : table.rows) {
        for (const Result::Entry& cell : row->value.entries()) {
            const auto same = [&](const Column& column) { return column.name == cell.name; };
            if (!is_shown(cell.value) ||
                std::any_of(table.columns.begin(), table.columns.end(), same)) {
                continue;
            }
            table.columns.push_back(
                {cell.name, label_of(cell), {}, 0, number_of(cell.value).has_value()});
        }
    }
    for (Column& column : table.columns) complete(column, table.rows);
    return table;
}

std::string padded(const std::string& text, const Column& column)
{
    return column.right ? fmt::format("{:>{}}", text, column.width)
                        : fmt::format("{:<{}}", text, column.width);
}

std::string without_end(std::string text)
{
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

// As long as the value, the longest being `most`.
std::string bar_of(double value, double most)
{
    const long filled = most > 0 ? std::lround(kBarWidth * value / most) : 0;
    return std::string(std::size_t(std::max(filled, 0L)), '#');
}

std::string more_text(std::size_t count, std::size_t shown, const std::string& indent)
{
    return count > shown ? fmt::format("{}and {} more\n", indent, count - shown) : "";
}

std::string table_text(const Table& table, const std::string& indent)
{
    const auto last = [&](const Result::Entry& row) {
        const Result* cell = cell_of(row, table.columns.back());
        return cell ? number_of(*cell).value_or(0) : 0;
    };
    double most = 0;
    for (const Result::Entry* row : table.rows) most = std::max(most, last(*row));
    std::string text = indent;
    for (const Column& column : table.columns) text += padded(column.head, column) + "  ";
    text = without_end(text) + "\n";
    const std::size_t shown = std::min(table.most, table.rows.size());
    for (std::size_t r = 0; r < shown; ++r) {
        std::string line = indent;
        for (const Column& column : table.columns) {
            line += padded(cell_text(*table.rows[r], column), column) + "  ";
        }
        if (table.bars) line += bar_of(last(*table.rows[r]), most);
        text += without_end(line) + "\n";
    }
    return text + more_text(table.rows.size(), shown, indent);
}

// About ten of many numbers, from the first to the last, as a table with bars.
Result sampled(const Result& curve)
{
    const std::size_t last = curve.entries().size() - 1, rows = std::min<std::size_t>(10, last);
    Result table = Result::list();
    for (std::size_t row = 0; row <= rows; ++row) {
        const std::size_t i = rows > 0 ? row * last / rows : 0;
        Result line = Result::tree();
        line.add("at", double(i) * *curve.style().interval, curve.style().interval_unit);
        line.add("value", curve.entries()[i].value, curve.style().unit);
        table.push(std::move(line));
    }
    table.bars();
    return table;
}

// Rows of numbers: every column as wide as the widest cell.
std::string matrix_text(const Result& matrix, const std::string& indent)
{
    std::size_t width = 0;
    const auto each = [&](const auto& visit) {
        for (const Result::Entry& row : matrix.entries()) {
            for (const Result::Entry& cell : row.value.entries()) visit(value_text(cell.value));
            visit("");
        }
    };
    each([&](const std::string& cell) { width = std::max(width, cell.size()); });
    std::string text;
    for (const Result::Entry& row : matrix.entries()) {
        text += indent;
        for (const Result::Entry& cell : row.value.entries()) {
            text += fmt::format("{:>{}}", value_text(cell.value), width + 2);
        }
        text += "\n";
    }
    return text;
}

// ---- Trees ----

std::string tree_text(const Result& tree, const std::string& outer);

Rows shown_rows(const Result& result)
{
    Rows rows;
    for (const Result::Entry& entry : result.entries()) {
        if (is_shown(entry.value)) rows.push_back(&entry);
    }
    return rows;
}

// What stands below a heading.
std::string body_text(const Result& child, const std::string& indent)
{
    if (child.style().interval && !child.entries().empty()) {
        return body_text(sampled(child), indent);
    }
    const Rows rows = shown_rows(child);
    if (all_of(child, is_row) && !rows.empty() && rows.front()->value.style().label.empty()) {
        Table table = table_of(rows, child.is_tree());
        table.bars = child.style().bars;
        table.most = child.style().rows;
        return table_text(table, indent);
    }
    if (child.is_list() && all_of(child, is_short_list)) return matrix_text(child, indent);
    if (child.is_tree()) {
        Result plain = child;
        return tree_text(plain.label(""), indent);
    }
    std::string text;
    for (std::size_t i = 0; i < std::min(rows.size(), child.style().rows); ++i) {
        const Result& item = rows[i]->value;
        text += item.is_tree() ? tree_text(item, indent) : indent + value_text(item) + "\n";
    }
    return text + more_text(rows.size(), child.style().rows, indent);
}

// How many entries from this one on are rows of one table: trees with the same values.
std::size_t alike(const Rows& entries, std::size_t first)
{
    const auto names = [](const Result& row) {
        std::vector<std::string> all;
        for (const Result::Entry& cell : row.entries()) all.push_back(cell.name);
        return all;
    };
    std::size_t end = first;
    while (end < entries.size() && is_row(entries[end]->value) &&
           !entries[end]->value.entries().empty() &&
           names(entries[end]->value) == names(entries[first]->value)) {
        ++end;
    }
    return end - first;
}

std::string tree_text(const Result& tree, const std::string& outer)
{
    const bool headed = !tree.style().label.empty();
    const std::string indent = outer + (headed ? "  " : "");
    std::string text = headed ? outer + tree.style().label + "\n" : "";
    const Rows entries = shown_rows(tree);
    std::size_t width = 0;
    for (const Result::Entry* entry : entries) {
        if (entry->value.style().words || !is_line(entry->value)) continue;
        width = std::max(width, label_of(*entry).size());
    }
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const Result& value = entries[i]->value;
        const std::size_t rows = alike(entries, i);
        if (value.style().words) {
            text += indent + value_text(value) + "\n";
        } else if (is_line(value)) {
            const std::string unit = unit_of(value);
            text += fmt::format("{}{:<{}}  {}{}\n", indent, label_of(*entries[i]), width,
                                value_text(value), unit.empty() ? "" : " " + unit);
        } else if (rows > 1) {
            const Rows some(entries.begin() + std::ptrdiff_t(i),
                            entries.begin() + std::ptrdiff_t(i + rows));
            text += table_text(table_of(some, true), indent);
            i += rows - 1;
        } else {
            text += indent + label_of(*entries[i]) + "\n" + body_text(value, indent + "  ");
        }
    }
    return text;
}

}  // namespace

std::string to_text(const Result& result)
{
    return tree_text(result, "");
}

}  // namespace springtime
