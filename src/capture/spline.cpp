#include "capture/spline.h"

#include <algorithm>

#include "core/assert.h"

namespace springtime {

// Second derivatives solve a tridiagonal system (continuous slopes); they are zero at both ends.
Spline::Spline(std::vector<double> time, std::vector<std::vector<double>> numbers)
    : time_(std::move(time)), numbers_(std::move(numbers))
{
    SPRINGTIME_ASSERT(time_.size() >= 2 && time_.size() == numbers_.size());
    const std::size_t count = time_.size(), width = numbers_.front().size();
    bend_.assign(count, std::vector<double>(width, 0));
    std::vector<double> diagonal(count, 1), above(count, 0);
    for (std::size_t i = 1; i + 1 < count; ++i) {
        const double left = time_[i] - time_[i - 1], right = time_[i + 1] - time_[i];
        const double factor = i > 1 ? left / diagonal[i - 1] : 0;
        diagonal[i] = 2 * (left + right) - factor * above[i - 1];
        above[i] = right;
        for (std::size_t c = 0; c < width; ++c) {
            bend_[i][c] = 6 * ((numbers_[i + 1][c] - numbers_[i][c]) / right -
                               (numbers_[i][c] - numbers_[i - 1][c]) / left) -
                          factor * bend_[i - 1][c];
        }
    }
    for (std::size_t i = count - 2; i > 0; --i) {
        for (std::size_t c = 0; c < width; ++c) {
            bend_[i][c] = (bend_[i][c] - above[i] * bend_[i + 1][c]) / diagonal[i];
        }
    }
}

std::vector<double> Spline::at(double time) const
{
    time = std::clamp(time, time_.front(), time_.back());
    const auto behind = std::upper_bound(time_.begin() + 1, time_.end() - 1, time);
    const auto after = std::size_t(behind - time_.begin());
    const double step = time_[after] - time_[after - 1];
    const double b = (time - time_[after - 1]) / step, a = 1 - b;
    const double before_share = step * step / 6 * (a * a * a - a),
                 after_share = step * step / 6 * (b * b * b - b);
    std::vector<double> value(numbers_.front().size());
    for (std::size_t c = 0; c < value.size(); ++c) {
        value[c] = a * numbers_[after - 1][c] + b * numbers_[after][c] +
                   before_share * bend_[after - 1][c] + after_share * bend_[after][c];
    }
    return value;
}

}  // namespace springtime
