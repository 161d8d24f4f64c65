#include "io/tracks/point_index.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numeric>

#include "io/tracks/csv_cells.h"

namespace springtime {

namespace {

// The name that all spellings of a whole number share; others are their own.
std::string plain_name(std::string_view cell)
{
    constexpr double kMostExact = 1e15;
    double value = 0;
    const bool number = read_number(cell, CsvFormat{}, value) == CellKind::number;
    if (!number || value != std::floor(value) || std::abs(value) > kMostExact) {
        return std::string(cell);
    }
    return std::to_string(static_cast<long long>(value));
}

// What all names begin with.
std::size_t shared_beginning(const std::vector<std::string>& names)
{
    std::size_t length = names.empty() ? 0 : names[0].size();
    for (const std::string& name : names) {
        length = std::min(length, name.size());
        length = std::size_t(
            std::mismatch(name.begin(), name.begin() + std::ptrdiff_t(length), names[0].begin())
                .first -
            name.begin());
    }
    // Digits in it belong to the numbers: P10 and P11 are 10 and 11.
    while (length > 0 && std::isdigit(static_cast<unsigned char>(names[0][length - 1]))) --length;
    return length;
}

bool as_number(std::string_view text, long long& value)
{
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    return status == std::errc() && end == text.data() + text.size();
}

}  // namespace

void PointIndex::add(std::string_view cell)
{
    if (!names_.empty() && find(cell) != kNone) return;
    std::string name = plain_name(cell);
    const auto [found, is_new] = index_.try_emplace(name, names_.size());
    if (is_new) {
        names_.push_back(name);
        cell_.emplace_back(cell);
        follow_.push_back(0);
    }
    if (name != cell) index_.try_emplace(std::string(cell), found->second);
    last_ = found->second;
}

void PointIndex::finish()
{
    // Numbers, or numbers behind one word: their order does not depend on who is seen first.
    const std::size_t word = shared_beginning(names_);
    std::vector<long long> number(names_.size());
    for (std::size_t i = 0; i < names_.size(); ++i) {
        const std::string_view name = names_[i];
        if (!as_number(name, number[i]) && !as_number(name.substr(word), number[i])) return;
    }
    std::vector<std::size_t> order(names_.size()), rank(names_.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return number[a] < number[b]; });
    std::vector<std::string> names(names_.size()), cells(names_.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        rank[order[i]] = i;
        names[i] = std::move(names_[order[i]]);
        cells[i] = std::move(cell_[order[i]]);
    }
    names_ = std::move(names);
    cell_ = std::move(cells);
    for (auto& entry : index_) entry.second = rank[entry.second];
    std::fill(follow_.begin(), follow_.end(), std::size_t(0));
    last_ = 0;
}

std::size_t PointIndex::find(std::string_view cell)
{
    const std::size_t guess = follow_[last_];
    if (cell_[guess] == cell) return last_ = guess;
    const std::size_t found = look_up(cell);
    if (found != kNone) {
        follow_[last_] = found;
        cell_[found] = cell;
        last_ = found;
    }
    return found;
}

std::size_t PointIndex::look_up(std::string_view cell)
{
    const auto found = index_.find(cell);
    return found == index_.end() ? kNone : found->second;
}

}  // namespace springtime
