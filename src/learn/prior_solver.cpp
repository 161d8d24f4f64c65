#include "learn/prior_solver.h"

#include <numeric>

#include "core/quantile.h"
#include "learn/element_neighbours.h"
#include "springtime/error.h"

namespace springtime {

namespace {

// A parameter whose information is below this share of the median of its kind is not seen.
constexpr double kUnseen = 1e-10;

double median_of(const std::vector<double>& values)
{
    return quantile(values, 0.5);
}

}  // namespace

Sight::Sight(const Eigen::VectorXd& diagonal, const Unknowns& unknowns) : seen(diagonal.size(), 0)
{
    ParameterValues positive(unknowns.parameters().size());
    for (Eigen::Index i = 0; i < diagonal.size(); ++i) {
        if (diagonal[i] > 0) positive[unknowns.parameter_of(i)].push_back(diagonal[i]);
    }
    for (const auto& values : positive) typical.push_back(values.empty() ? 1 : median_of(values));
    for (Eigen::Index i = 0; i < diagonal.size(); ++i) {
        seen[i] = diagonal[i] > kUnseen * typical[unknowns.parameter_of(i)];
    }
}

double weight_of(const Parameter& parameter, const PriorWeights& weights)
{
    const bool damping = parameter.is_damping();
    if (parameter.kind->element == Element::hinge) {
        return damping ? weights.bending_damping : weights.bending;
    }
    return damping ? weights.damping : weights.stiffness;
}

NeighbouringUnknowns::NeighbouringUnknowns(const Cloth& cloth, const Unknowns& unknowns)
    : degree(unknowns.parameters().size(), 0)
{
    for (const Element type : {Element::triangle, Element::hinge}) {
        const auto elements = neighbouring_elements(cloth, type);
        for (std::size_t k = 0; k < unknowns.parameters().size(); ++k) {
            if (unknowns.parameters()[k].kind->element != type) continue;
            for (const auto& [a, b] : elements) {
                const std::array both{unknowns.number(k, a), unknowns.number(k, b)};
                if (both[0] != both[1]) pairs.push_back(both);
            }
            degree[k] = 2 * double(elements.size()) / double(element_count(cloth, type));
        }
    }
}

// Neighbours that are not seen follow those that are, and hardly pull at them.
BoundedSystem PriorSolver::system(const NormalBlocks& blocks, const PriorWeights& weights,
                                  std::vector<char>* seen) const
{
    constexpr double kFollow = 1e-6, kBeside = 1e-9;  // of the usual information
    BoundedSystem system = blocks.assemble();
    const Eigen::VectorXd diagonal = system.matrix.diagonal();
    const Sight sight(diagonal, unknowns_);
    for (Eigen::Index i = 0; i < diagonal.size(); ++i) {
        for (Eigen::SparseMatrix<double>::InnerIterator entry(system.matrix, i); entry; ++entry) {
            const Eigen::Index j = entry.row();
            if (sight.seen[i] && sight.seen[j]) continue;
            if (sight.seen[j]) system.right[j] -= entry.value() * center_[i];
            entry.valueRef() = 0;
        }
    }
    std::vector<Eigen::Triplet<double>> prior;
    for (Eigen::Index i = 0; i < diagonal.size(); ++i) {
        const std::size_t k = unknowns_.parameter_of(i);
        const double scale = sight.typical[k];
        const bool has_neighbours = neighbours_.degree[k] > 0 && !neighbours_.pairs.empty();
        const double weight = has_neighbours ? kBeside * weight_of(unknowns_.parameter(i), weights)
                                             : weight_of(unknowns_.parameter(i), weights);
        const double unseen = has_neighbours ? kBeside * kFollow : 1;
        const double added = scale * (sight.seen[i] ? weight : unseen);
        prior.emplace_back(i, i, added);
        system.right[i] = (sight.seen[i] ? system.right[i] : 0) + added * center_[i];
    }
    for (const auto& [a, b] : neighbours_.pairs) {
        const std::size_t k = unknowns_.parameter_of(a);
        const bool both = sight.seen[a] && sight.seen[b];
        const double pull = sight.typical[k] / neighbours_.degree[k] *
                            (both ? weight_of(unknowns_.parameter(a), weights) : kFollow);
        const auto i = static_cast<int>(a), j = static_cast<int>(b);
        prior.emplace_back(i, i, pull);
        prior.emplace_back(j, j, pull);
        prior.emplace_back(i, j, -pull);
        prior.emplace_back(j, i, -pull);
    }
    Eigen::SparseMatrix<double> added(system.matrix.rows(), system.matrix.cols());
    added.setFromTriplets(prior.begin(), prior.end());
    system.matrix += added;
    for (Eigen::Index i = 0; i < diagonal.size(); ++i) {
        system.bounded.push_back(unknowns_.parameter(i).kind->lower_bound >= 0);
    }
    if (seen) *seen = sight.seen;
    return system;
}

std::optional<PriorSolver::Solved> PriorSolver::solve(const NormalBlocks& blocks,
                                                      const PriorWeights& weights,
                                                      const std::vector<bool>& held, int threads,
                                                      Work& work) const
{
    Solved solved;
    const BoundedSystem with_prior = system(blocks, weights, &solved.seen);
    try {
        solved.solution = solve_bounded(
            with_prior, {&elimination_, held.empty() ? nullptr : &held, threads, &work});
    } catch (const Failure&) {
        return std::nullopt;
    }
    return solved;
}

// A family that no motion moves has the median of all families, and a range of strain that no
// spring enters has the stiffness beside it.
void PriorSolver::center_on(const Solved& one, const Solved& other)
{
    const auto index = [&](std::size_t parameter, std::size_t element) {
        return static_cast<Eigen::Index>(unknowns_.number(parameter, element));
    };
    for (std::size_t k = 0; k < unknowns_.parameters().size(); ++k) {
        const Parameter& parameter = unknowns_.parameters()[k];
        const auto median = [&](const std::vector<std::size_t>& elements) {
            std::vector<double> values;
            for (const std::size_t e : elements) {
                for (const Solved* half : {&one, &other}) {
                    if (half->seen[index(k, e)]) {
                        values.push_back(half->solution.value[index(k, e)]);
                    }
                }
            }
            return values.empty() ? std::optional<double>() : median_of(values);
        };
        std::vector<std::size_t> all(element_count(cloth_, parameter.kind->element));
        std::iota(all.begin(), all.end(), std::size_t(0));
        const std::optional<double> typical = median(all);
        for (const auto& [name, members] : families_of(cloth_, parameter.kind->element)) {
            const std::optional<double> own = median(members);
            const std::optional<double> center = own ? own : typical;
            for (const std::size_t e : members) {
                const double beside = parameter.in_range() ? center_[index(0, e)] : 0;
                center_[index(k, e)] = center.value_or(beside);
            }
        }
    }
}

}  // namespace springtime
