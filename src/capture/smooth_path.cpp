#include "capture/smooth_path.h"

#include <algorithm>
#include <array>

#include "core/quantile.h"

namespace springtime {

namespace {

// The `window` numbers in a sorted list nearest to `at`, which is one of them: from first to
// behind.
std::pair<std::size_t, std::size_t> nearest(const std::vector<std::size_t>& frames, std::size_t at,
                                            std::size_t window)
{
    std::size_t first = at, end = at + 1;
    while (end - first < std::min(window, frames.size())) {
        const bool right =
            first == 0 ||
            (end < frames.size() && frames[end] - frames[at] <= frames[at] - frames[first - 1]);
        right ? ++end : --first;
    }
    return {first, end};
}

// The value at 0 of the quadratic that fits weighted places best: sums of powers of time make three
// equations, solved by elimination. The mean where they are too few.
class LocalQuadratic {
  public:
    void add(double t, double weight, const Vec3d& x)
    {
        double power = weight;
        for (std::size_t k = 0; k < 5; ++k, power *= t) {
            sum_[k] += power;
            if (k < 3) right_[k] += power * x;
        }
    }
    Vec3d at_zero() const
    {
        std::array<std::array<double, 3>, 3> a{};
        std::array<Vec3d, 3> b = right_;
        for (std::size_t i = 0; i < 3; ++i) {
            for (std::size_t j = 0; j < 3; ++j) a[i][j] = sum_[i + j];
        }
        for (std::size_t i = 2; i > 0; --i) {  // the constant comes last
            if (!(a[i][i] > 1e-12 * sum_[2 * i])) return (1 / sum_[0]) * right_[0];
            for (std::size_t r = 0; r < i; ++r) {
                const double share = a[r][i] / a[i][i];
                for (std::size_t j = 0; j < 3; ++j) a[r][j] -= share * a[i][j];
                b[r] -= share * b[i];
            }
        }
        return (1 / a[0][0]) * b[0];
    }

  private:
    std::array<double, 5> sum_{};
    std::array<Vec3d, 3> right_{};
};

double bisquare(double share)
{
    const double left = std::max(0.0, 1 - share * share);
    return left * left;
}

double tricube(double share)
{
    const double left = std::max(0.0, 1 - share * share * share);
    return left * left * left;
}

}  // namespace

PointFrame smooth_robustly(const PointFrame& path, std::size_t window)
{
    constexpr int kRounds = 3;
    constexpr double kStray = 6;  // medians of the residual, and more count nothing
    std::vector<std::size_t> frames;
    for (std::size_t f = 0; f < path.size(); ++f) {
        if (is_seen(path[f])) frames.push_back(f);
    }
    PointFrame smooth = path;
    std::vector<double> trust(frames.size(), 1);
    for (int round = 0; round < kRounds && frames.size() > 3; ++round) {
        std::vector<double> off;
        for (std::size_t i = 0; i < frames.size(); ++i) {
            const auto [first, end] = nearest(frames, i, window);
            const double reach =
                1.15 * double(std::max(frames[i] - frames[first], frames[end - 1] - frames[i]));
            LocalQuadratic quadratic;
            for (std::size_t j = first; j < end; ++j) {
                const double t = double(frames[j]) - double(frames[i]);
                // A little is left of everything, so that something always is.
                const double weight = tricube(std::abs(t) / reach) * (1e-3 + trust[j]);
                quadratic.add(t, weight, path[frames[j]]);
            }
            smooth[frames[i]] = quadratic.at_zero();
            off.push_back(length(smooth[frames[i]] - path[frames[i]]));
        }
        const double limit = kStray * quantile(off, 0.5);
        for (std::size_t i = 0; i < frames.size() && limit > 0; ++i) {
            trust[i] = bisquare(off[i] / limit);
        }
    }
    return smooth;
}

}  // namespace springtime
