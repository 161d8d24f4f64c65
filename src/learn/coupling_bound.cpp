#include "learn/coupling_bound.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace springtime {

namespace {

// A little stiffness is left in every direction.
constexpr double kMostCoupled = 0.95;

// The smallest eigenvalue of the symmetric matrix with zeros on its diagonal and a, b, c beside it:
// of the roots of x^3 - (a^2 + b^2 + c^2) x - 2 a b c, by Viete.
double least_eigenvalue(double a, double b, double c)
{
    const double third = (a * a + b * b + c * c) / 3;
    if (third == 0) return 0;
    const double cosine = std::clamp(a * b * c / (third * std::sqrt(third)), -1.0, 1.0);
    return 2 * std::sqrt(third) * std::cos(std::acos(cosine) / 3 + 2 * std::numbers::pi / 3);
}

using SpringsByEnds = std::map<std::pair<int, int>, std::size_t>;

SpringsByEnds edges_of_springs(const SpringSet& springs)
{
    SpringsByEnds found;
    for (std::size_t s = 0; s < springs.spring_count(); ++s) {
        found[std::minmax(springs.ends[s][0], springs.ends[s][1])] = s;
    }
    return found;
}

}  // namespace

CouplingBound::CouplingBound(const Cloth& cloth) : share_(cloth.springs.spring_count(), 0)
{
    if (cloth.couplings.coupling_count() == 0) return;
    const SpringsByEnds springs = edges_of_springs(cloth.springs);
    std::map<std::array<int, 3>, std::size_t> by_corners;
    for (std::size_t i = 0; i < cloth.couplings.coupling_count(); ++i) {
        std::array<int, 3> corners = cloth.couplings.corners[i];
        const auto [apex, one, other] = corners;
        std::sort(corners.begin(), corners.end());
        const auto [triangle, is_new] = by_corners.try_emplace(corners, triangles_.size());
        if (is_new) triangles_.emplace_back();
        // An edge is known by the corner across it.
        const auto edge_across = [&](int corner) {
            const auto at = std::find(corners.begin(), corners.end(), corner);
            return std::size_t(at - corners.begin());
        };
        Triangle& found = triangles_[triangle->second];
        found.pairs.push_back({i, edge_across(other), edge_across(one)});
        for (const auto& [end, across] : {std::pair{one, other}, {other, one}}) {
            const auto spring = springs.find(std::minmax(apex, end));
            if (spring != springs.end()) found.springs[edge_across(across)] = spring->second;
        }
    }
    for (const Triangle& triangle : triangles_) {
        for (const auto& spring : triangle.springs) {
            if (spring) share_[*spring] += 1;
        }
    }
    for (double& share : share_) share = share > 0 ? 1 / share : 0;
    const std::vector<Parameter> parameters = learned_parameters(cloth);
    for (std::size_t k = 0; k < parameters.size(); ++k) {
        const Element element = parameters[k].kind->element;
        if (element == Element::spring && !parameters[k].is_damping()) stiffness_.push_back(k);
        if (element == Element::coupling) coupling_ = k;
    }
}

void CouplingBound::apply(ParameterValues& values) const
{
    if (!coupling_) return;
    std::vector<double>& couplings = values[*coupling_];
    for (const Triangle& triangle : triangles_) {
        std::array<double, 3> root{};  // of the stiffness of the edges
        for (std::size_t i = 0; i < 3; ++i) {
            if (!triangle.springs[i]) continue;
            const std::size_t spring = *triangle.springs[i];
            double least = HUGE_VAL;
            for (const std::size_t k : stiffness_) least = std::min(least, values[k][spring]);
            root[i] = std::sqrt(share_[spring] * least);
        }
        std::array<double, 3> beside{};  // by the edge that a pair leaves out
        for (const auto& [coupling, i, j] : triangle.pairs) {
            const double size = root[i] * root[j];
            beside[3 - i - j] = size > 0 ? couplings[coupling] / size : 0;
        }
        const double least = least_eigenvalue(beside[0], beside[1], beside[2]);
        const double factor = std::min(1.0, kMostCoupled / std::max(-least, kMostCoupled));
        for (const auto& [coupling, i, j] : triangle.pairs) {
            couplings[coupling] *= root[i] * root[j] > 0 ? factor : 0;
        }
    }
}

}  // namespace springtime
