#include "learn/prior_solver.h"

#include "core/quantile.h"
#include "springtime/error.h"

namespace springtime {

namespace {

// A parameter whose information is below this share of the median of its kind is not seen.
constexpr double kUnseen = 1e-10;

double median_of(const std::vector<double>& values)
{
    return quantile(values, 0.5);
}

// Which parameters normal equations see, and what they say about a parameter of each kind on
// average. What is not seen has no part in that: a kind may be seen in few springs.
struct Sight {
    Sight(const Eigen::VectorXd& diagonal, int kinds);

    std::vector<double> typical;  // [kind]
    std::vector<char> seen;       // [unknown]
};

Sight::Sight(const Eigen::VectorXd& diagonal, int kinds) : seen(diagonal.size(), 0)
{
    std::vector<std::vector<double>> of_kind(kinds);
    for (Eigen::Index i = 0; i < diagonal.size(); ++i) {
        if (diagonal[i] > 0) of_kind[i % kinds].push_back(diagonal[i]);
    }
    for (const auto& values : of_kind) typical.push_back(values.empty() ? 1 : median_of(values));
    for (Eigen::Index i = 0; i < diagonal.size(); ++i) {
        seen[i] = diagonal[i] > kUnseen * typical[i % kinds];
    }
}

}  // namespace

BoundedSystem PriorSolver::system(const NormalBlocks& blocks, const PriorWeights& weights,
                                  std::vector<char>* seen) const
{
    BoundedSystem system = blocks.assemble();
    const Eigen::VectorXd diagonal = system.matrix.diagonal();
    const Sight sight(diagonal, kinds_);
    for (Eigen::Index i = 0; i < diagonal.size(); ++i) {
        for (Eigen::SparseMatrix<double>::InnerIterator entry(system.matrix, i); entry; ++entry) {
            const Eigen::Index j = entry.row();
            if (sight.seen[i] && sight.seen[j]) continue;
            if (sight.seen[j]) system.right[j] -= entry.value() * center_[i];
            entry.valueRef() = 0;
        }
        const double scale = sight.typical[i % kinds_];
        const double weight =
            springs_.is_damping(int(i % kinds_)) ? weights.damping : weights.stiffness;
        const double added = sight.seen[i] ? weight * scale : scale;
        system.matrix.coeffRef(i, i) += added;
        system.right[i] = (sight.seen[i] ? system.right[i] : 0) + added * center_[i];
    }
    if (seen) *seen = sight.seen;
    return system;
}

std::optional<PriorSolver::Solved> PriorSolver::solve(const NormalBlocks& blocks,
                                                      const PriorWeights& weights) const
{
    Solved solved;
    const BoundedSystem with_prior = system(blocks, weights, &solved.seen);
    try {
        solved.solution = solve_bounded(with_prior, solver_);
    } catch (const Failure&) {
        return std::nullopt;
    }
    return solved;
}

// A family that no motion moves has the median of all families, and a range of strain that no
// spring enters has the stiffness beside it.
void PriorSolver::center_on(const Solved& one, const Solved& other)
{
    const std::size_t count = springs_.spring_count();
    for (int k = 0; k < kinds_; ++k) {
        const auto median = [&](const auto& belongs, double otherwise) {
            std::vector<double> values;
            for (std::size_t i = k, s = 0; s < count; ++s, i += kinds_) {
                for (const Solved* half : {&one, &other}) {
                    if (!belongs(s) || !half->seen[i]) continue;
                    values.push_back(half->solution.value[static_cast<Eigen::Index>(i)]);
                }
            }
            return values.empty() ? otherwise : median_of(values);
        };
        const bool range = k > 0 && !springs_.is_damping(k);
        for (const SpringFamily family : kSpringFamilies) {
            const auto in_family = [&](std::size_t s) { return springs_.family[s] == family; };
            const double typical = median([](std::size_t) { return true; }, -1);
            const double center = median(in_family, typical);
            for (std::size_t s = 0; s < count; ++s) {
                if (!in_family(s)) continue;
                const auto first = static_cast<Eigen::Index>(s) * kinds_;
                center_[first + k] = center >= 0 ? center : range ? center_[first] : 0;
            }
        }
    }
}

}  // namespace springtime
