#include "learn/interior_point.h"

#include <algorithm>
#include <cmath>

namespace springtime {

namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::VectorXd;

constexpr int kMostRounds = 80;        // some twenty are usual
constexpr double kSmallGap = 1e-12;    // of the gap and of the residual
constexpr double kShareOfWay = 0.995;  // to the nearest bound

// The largest share of a step that keeps all that have a bound above zero.
double way_to_bound(const ArrayXd& value, const ArrayXd& step, const ArrayXd& has_bound)
{
    double share = 1;
    for (Index i = 0; i < value.size(); ++i) {
        if (has_bound[i] > 0 && step[i] < 0) share = std::min(share, -value[i] / step[i]);
    }
    return share;
}

}  // namespace

InteriorPoint interior_point(
    const Eigen::SparseMatrix<double>& matrix, const VectorXd& right,
    const std::vector<char>& bounded, const VectorXd& start,
    const std::function<RightSideSolver(const VectorXd& added)>& with_added)
{
    ArrayXd has_bound = ArrayXd::Ones(right.size());
    for (std::size_t i = 0; i < bounded.size(); ++i) has_bound[Index(i)] = bounded[i] ? 1 : 0;
    const double bounds = has_bound.sum();
    // Far enough inside: a tenth of the usual size of the start, or of the right side, which has
    // the size of x since the diagonal is one.
    const bool from_zero = start.size() == 0 || start.isZero(0);
    const double inside = 0.1 * std::max((from_zero ? right : start).cwiseAbs().mean(), 1e-300);
    ArrayXd x = (has_bound > 0).select(start.array().max(inside), start.array());
    ArrayXd z = has_bound * (matrix * x.matrix() - right).array().max(inside);

    InteriorPoint point;
    for (int round = 0; round < kMostRounds; ++round) {
        const ArrayXd product = (matrix * x.matrix()).array();
        const ArrayXd residual = product - right.array() - z;
        const double gap = bounds > 0 ? (x * z * has_bound).sum() : 0;
        const double size = std::abs((x * right.array()).sum()) + std::abs((x * product).sum());
        const double small = kSmallGap * right.cwiseAbs().maxCoeff();
        const bool all_at_bounds = x.abs().maxCoeff() <= small;  // then the sizes vanish as well
        point.converged =
            (gap <= kSmallGap * size || all_at_bounds) && residual.abs().maxCoeff() <= small;
        if (point.converged) break;
        const ArrayXd ratio = (has_bound > 0).select(z / x, 0.0);
        const RightSideSolver solve = with_added(ratio);
        const double mean = gap / std::max(bounds, 1.0);
        // Steps with dz = (target - z dx) / x - z, where x z should become the target.
        const auto step = [&](const ArrayXd& target, ArrayXd& dx, ArrayXd& dz) {
            const ArrayXd over_x = (has_bound > 0).select(target / x, 0.0);
            dx = solve((over_x - z - residual).matrix()).array();
            dz = over_x - z - ratio * dx;
        };
        ArrayXd dx, dz;
        step(ArrayXd::Zero(x.size()), dx, dz);
        const double reach =
            std::min(way_to_bound(x, dx, has_bound), way_to_bound(z, dz, has_bound));
        const double reached =
            ((x + reach * dx) * (z + reach * dz) * has_bound).sum() / std::max(bounds, 1.0);
        const double center = std::pow(std::max(reached, 0.0) / std::max(mean, 1e-300), 3);
        step(has_bound * (center * mean - dx * dz), dx, dz);
        const double share = std::min(1.0, kShareOfWay * std::min(way_to_bound(x, dx, has_bound),
                                                                  way_to_bound(z, dz, has_bound)));
        x += share * dx;
        z += share * dz;
    }
    point.x = x;
    point.force = z;
    return point;
}

}  // namespace springtime
