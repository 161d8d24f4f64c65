#include "formats/tracks/point_index.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>

#include "formats/tracks/csv_cells.h"

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
    const std::size_t before = last_, expected = follower();
    if (find(cell) == kNone) {
        std::string name = plain_name(cell);
        const auto [found, is_new] = index_.try_emplace(name, names_.size());
        if (is_new) {
            names_.push_back(name);
            cell_.emplace_back(cell);
            follow_.push_back(kNone);
        }
        if (name != cell) index_.try_emplace(std::string(cell), found->second);
        follower() = found->second;
        last_ = found->second;
    }
    if (before != kNone && last_ != expected && last_ != before) note_pair(before, last_);
}

void PointIndex::note_pair(std::size_t first, std::size_t second)
{
    if (!ordered_) return;
    pairs_.emplace_back(std::uint32_t(first), std::uint32_t(second));
    if (pairs_.size() >= many_pairs_) unite_pairs();
}

// Points that come in one order have few different neighbours, even where some are missing.
void PointIndex::unite_pairs()
{
    constexpr std::size_t kMostNeighbours = 16;
    std::sort(pairs_.begin(), pairs_.end());
    pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
    many_pairs_ = 2 * pairs_.size() + 4096;
    if (pairs_.size() <= kMostNeighbours * names_.size() + 4096) return;
    ordered_ = false;
    pairs_ = {};
}

// Takes the first-added point of those that no other must precede, again and again (Kahn 1962).
// Fewer than all where frames contradict each other.
std::vector<std::size_t> PointIndex::order_of_frames()
{
    unite_pairs();
    if (!ordered_) return {};
    std::vector<std::size_t> first_pair(names_.size() + 1), awaited(names_.size());
    for (const auto& [first, second] : pairs_) {
        ++first_pair[first + 1];
        ++awaited[second];
    }
    std::partial_sum(first_pair.begin(), first_pair.end(), first_pair.begin());
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    for (std::size_t p = 0; p < awaited.size(); ++p) {
        if (awaited[p] == 0) ready.push(p);
    }
    std::vector<std::size_t> order;
    while (!ready.empty()) {
        const std::size_t point = ready.top();
        ready.pop();
        order.push_back(point);
        for (std::size_t i = first_pair[point]; i < first_pair[point + 1]; ++i) {
            if (--awaited[pairs_[i].second] == 0) ready.push(pairs_[i].second);
        }
    }
    return order;
}

void PointIndex::finish()
{
    // Numbers, or numbers behind one word: their order does not depend on who is seen first.
    const std::size_t word = shared_beginning(names_);
    std::vector<long long> number(names_.size());
    bool numbers = true;
    for (std::size_t i = 0; i < names_.size() && numbers; ++i) {
        const std::string_view name = names_[i];
        numbers = as_number(name, number[i]) || as_number(name.substr(word), number[i]);
    }
    std::vector<std::size_t> order;
    if (numbers) {
        order.resize(names_.size());
        std::iota(order.begin(), order.end(), std::size_t(0));
        std::sort(order.begin(), order.end(),
                  [&](std::size_t a, std::size_t b) { return number[a] < number[b]; });
    } else {
        order = order_of_frames();
    }
    if (order.size() == names_.size()) reorder(order);
    pairs_ = {};
    std::fill(follow_.begin(), follow_.end(), kNone);
    opener_ = last_ = kNone;
}

void PointIndex::reorder(const std::vector<std::size_t>& order)
{
    std::vector<std::size_t> rank(names_.size());
    std::vector<std::string> names(names_.size()), cells(names_.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        rank[order[i]] = i;
        names[i] = std::move(names_[order[i]]);
        cells[i] = std::move(cell_[order[i]]);
    }
    names_ = std::move(names);
    cell_ = std::move(cells);
    for (auto& entry : index_) entry.second = rank[entry.second];
}

std::size_t PointIndex::find(std::string_view cell)
{
    const std::size_t guess = follower();
    if (guess != kNone && cell_[guess] == cell) return last_ = guess;
    const std::size_t found = look_up(cell);
    if (found != kNone) {
        follower() = found;
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
