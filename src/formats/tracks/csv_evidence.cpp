#include "formats/tracks/csv_evidence.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/quantile.h"
#include "core/text.h"
#include "formats/tracks/csv_cells.h"
#include "springtime/error.h"

namespace springtime {

namespace {

// Rows of the sample that differ from the one before: motion stands still in a duplicate. A missing
// number is like a missing number.
std::vector<std::size_t> distinct_rows(const CsvOpening& opening,
                                       const std::vector<std::size_t>& data)
{
    std::vector<std::size_t> rows;
    for (std::size_t row = 0; row < opening.sample_rows(); ++row) {
        const auto same = [&](std::size_t c) {
            const double now = opening.value(row, c), before = opening.value(rows.back(), c);
            return now == before || (std::isnan(now) && std::isnan(before));
        };
        if (rows.empty() || !std::all_of(data.begin(), data.end(), same)) rows.push_back(row);
    }
    return rows;
}

// ---- Velocities ----

// The correlation, about zero, of two series.
struct Correlation {
    double first = 0, second = 0, product = 0;  // sums of squares and of products

    void add(double a, double b)
    {
        first += a * a;
        second += b * b;
        product += a * b;
    }
    double value() const
    {
        return first == 0 || second == 0 ? 0 : product / std::sqrt(first * second);
    }
};

// How well, from 0 to 1, the second half of the columns are the velocities of the first: what a
// number grew by over `lag` rows goes with the sum of the other, of which the rows before count
// with `before` and those behind with 1 - before; and more so than with what the other grew by, as
// in points that fall together. 1 when nothing moves and all of the second half is zero.
double velocity_match(const CsvOpening& opening, const std::vector<std::size_t>& data,
                      const std::vector<std::size_t>& rows, std::size_t lag, double before)
{
    const std::size_t half = data.size() / 2;
    Correlation with_sum, with_growth;
    std::size_t count = 0;
    for (std::size_t i = 0; i < half; ++i) {
        const std::size_t x = data[i], v = data[half + i];
        for (std::size_t from = 0; from + lag < rows.size(); from += lag) {
            const auto growth = [&](std::size_t c) {
                return opening.value(rows[from + lag], c) - opening.value(rows[from], c);
            };
            double sum = 0;
            for (std::size_t r = from; r < from + lag; ++r) {
                sum += before * opening.value(rows[r], v) +
                       (1 - before) * opening.value(rows[r + 1], v);
            }
            if (std::isnan(sum + growth(x))) continue;
            ++count;
            with_sum.add(growth(x), sum);
            with_growth.add(growth(x), growth(v));
        }
    }
    if (count > 0 && with_sum.first == 0 && with_sum.second == 0) return 1;
    return with_sum.value() > with_growth.value() ? with_sum.value() : 0;
}

// ---- Time stamps ----

// A name without what rostopic puts before it.
std::string bare_name(std::string_view name)
{
    std::string bare = lower_case(trimmed(name, "%# \t"));
    constexpr std::string_view kRosPrefix = "field.";
    if (bare.starts_with(kRosPrefix)) bare.erase(0, kRosPrefix.size());
    return bare;
}

struct Stamps {
    std::size_t column = 0;
    bool header = false;       // the stamp of a header
    std::size_t standing = 0;  // steps between frames that differ in which it does not go on
    double roughness = 0;      // of the motion against it, in units of the coordinates
};

bool goes_on(const CsvOpening& opening, std::size_t column)
{
    if (opening.sample_rows() == 0) return false;
    const std::size_t last = opening.sample_rows() - 1;
    return !opening.has_text[column] && opening.is_ascending(column) &&
           opening.value(last, column) > opening.first_value(column);
}

// The median over rows of how far, on average, coordinates are from the line between the rows
// before and behind.
double roughness_of(const CsvOpening& opening, const std::vector<std::size_t>& data,
                    const std::vector<std::size_t>& rows, std::size_t column)
{
    std::vector<double> rough;
    for (std::size_t r = 1; r + 1 < rows.size(); ++r) {
        const double before = opening.value(rows[r - 1], column),
                     after = opening.value(rows[r + 1], column);
        const double part = (opening.value(rows[r], column) - before) / (after - before);
        // Noise alone leaves this much more where the row is not in the middle.
        const double noise = std::sqrt(1 + part * part + (1 - part) * (1 - part));
        double sum = 0, count = 0;
        for (const std::size_t c : data) {
            const double off = (1 - part) * opening.value(rows[r - 1], c) +
                               part * opening.value(rows[r + 1], c) - opening.value(rows[r], c);
            if (!std::isfinite(off)) continue;
            sum += std::abs(off);
            ++count;
        }
        if (count > 0) rough.push_back(sum / (count * noise));
    }
    return rough.empty() ? 0 : quantile(rough, 0.5);
}

Stamps look_at_stamps(const CsvOpening& opening, const std::vector<std::size_t>& data,
                      const std::vector<std::size_t>& rows, std::size_t column, bool header)
{
    Stamps stamps{column, header, 0, roughness_of(opening, data, rows, column)};
    for (std::size_t r = 1; r < rows.size(); ++r) {
        stamps.standing += !(opening.value(rows[r], column) > opening.value(rows[r - 1], column));
    }
    return stamps;
}

std::size_t wanted_column(const CsvOpening& opening, const std::string& wanted,
                          const std::vector<std::size_t>& candidates, const std::string& source)
{
    for (std::size_t c = 0; c < opening.column_count; ++c) {
        const bool named =
            c < opening.header.size() && bare_name(opening.header[c]) == bare_name(wanted);
        if (named) return c;
    }
    std::string there;
    for (const std::size_t c : candidates) {
        there += (there.empty() ? "" : ", ") + opening.column_text(c);
    }
    throw Error(Field{"time_column"}, "{} has no column '{}'; columns of time stamps: {}", source,
                shown(wanted), there.empty() ? "none" : there);
}

// Better than the other, and why: about the other, as the end of a sentence.
struct Choice {
    bool better = false;
    std::string reason;
};

Choice compare(const Stamps& a, const Stamps& b, const CsvOpening& opening, std::size_t frames)
{
    constexpr double kStands = 0.2, kSmoother = 0.95;
    const auto stands = [&](const Stamps& stamps) {
        return double(stamps.standing) > kStands * double(frames - 1);
    };
    if (stands(a) != stands(b)) {
        return {stands(b), fmt::format("{} stands still in {} of {} frames that differ",
                                       opening.column_text(b.column), b.standing, frames - 1)};
    }
    if (a.roughness < kSmoother * b.roughness) {
        return {true,
                fmt::format("motion is smoother by {:.0f} % than against {}",
                            100 * (1 - a.roughness / b.roughness), opening.column_text(b.column))};
    }
    if (b.roughness < kSmoother * a.roughness) return {};
    return {a.header && !b.header,
            fmt::format("{} says when a frame was logged, not when it was seen",
                        opening.column_text(b.column))};
}

}  // namespace

bool has_velocities(const CsvOpening& opening, const std::vector<std::size_t>& data)
{
    if (data.size() % 6 != 0) return false;
    const std::vector<std::size_t> rows = distinct_rows(opening, data);
    if (rows.size() < 2) return false;
    // Neighbouring rows of noisy places say little, distant ones more, unless velocities are
    // differences of the places themselves. Of 376 sheets that swing or fall, 4 to 200 rows at 30
    // to 120 Hz with 0.5 mm of noise, the trapezoidal rule alone recognises all but 2 % of those
    // with velocities (they hardly move) and all but 0.1 % of those without.
    constexpr double kLeastMatch = 0.8;
    const std::size_t distant = std::max<std::size_t>(1, rows.size() / 4);
    const auto match = [&](std::size_t lag, double before) {
        return velocity_match(opening, data, rows, lag, before) > kLeastMatch;
    };
    return match(1, 0.5) || match(1, 0) || match(1, 1) || match(distant, 0.5);
}

std::optional<std::size_t> time_column(const CsvOpening& opening,
                                       const std::vector<CsvColumn>& columns,
                                       const std::vector<std::size_t>& data,
                                       const std::string& wanted, const std::string& source,
                                       std::vector<std::string>& remarks)
{
    std::vector<std::size_t> candidates;
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const bool stamp = columns[c].role == CsvColumn::Role::stamp && goes_on(opening, c);
        if (stamp || columns[c].role == CsvColumn::Role::time) candidates.push_back(c);
    }
    if (!wanted.empty()) {
        const std::size_t column = wanted_column(opening, wanted, candidates, source);
        remarks.push_back(fmt::format("Time stamps: {}, as given.", opening.column_text(column)));
        return column;
    }
    if (candidates.empty()) return std::nullopt;
    const std::vector<std::size_t> rows = distinct_rows(opening, data);
    const auto look = [&](std::size_t c) {
        return look_at_stamps(opening, data, rows, c, columns[c].role == CsvColumn::Role::stamp);
    };
    Stamps best = look(candidates.front());
    std::string reason;
    for (std::size_t i = 1; i < candidates.size(); ++i) {
        const Stamps other = look(candidates[i]);
        const Choice change = compare(other, best, opening, rows.size()),
                     stay = compare(best, other, opening, rows.size());
        reason = change.better ? change.reason : stay.better ? stay.reason : "it is the first";
        if (change.better) best = other;
    }
    if (!reason.empty()) {
        remarks.push_back(fmt::format("Time stamps: {}, because {}; `time_column` chooses another.",
                                      opening.column_text(best.column), reason));
    }
    return best.column;
}

}  // namespace springtime
