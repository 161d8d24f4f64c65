#include "learn/identification_errors.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace springtime {

namespace {

// What lies in different stretches of motion counts as independent: in different rollouts, which
// are cut when there are too few of them. Scores are summed into at most so many groups of
// stretches. Few are enough, since springs are averaged over, and cuts are no good: on 6 x 6
// particles, with one rollout of 4 s to learn from, intervals of 95 % hold 87 % of the stiffnesses
// with 4 stretches and 78 % with 8; with 7 rollouts of 3 s it is 94 % uncut and 92 % cut in two.
constexpr std::size_t kFewestStretches = 4;
constexpr std::size_t kMostStretchGroups = 64;
// However much of what is known of a parameter comes from one group, this share is from others.
constexpr double kLeastShareOfOthers = 0.05;

}  // namespace

// The scores of all groups of stretches at the solution.
NormalBlocks::Scores ErrorEstimate::scores(const Scheme& scheme, const NormalBlocks& blocks,
                                           const Eigen::VectorXd& solution) const
{
    const std::size_t rollouts = reader_.rollouts().size();
    const std::size_t cuts = (kFewestStretches + rollouts - 1) / rollouts;
    const int groups = static_cast<int>(std::min(kMostStretchGroups, rollouts * cuts));
    const double looks = scheme.instruments == Instruments::none ? 1 : 2;
    const double of_place = looks * blocks.work_per_place();
    const auto group_of_place = [&](std::size_t r, const Piece& piece) {
        const std::size_t frames = reader_.frame_count(reader_.rollouts()[r]);
        std::vector<int> group;
        for (std::size_t i = 0; i < piece.place_count(); ++i) {
            const std::size_t stretch = r * cuts + piece.frame_of(i) * cuts / frames;
            group.push_back(static_cast<int>(stretch % std::size_t(groups)));
        }
        return group;
    };
    const auto done = [&](const Piece& piece) {
        work_.add(of_place * double(piece.place_count()));
    };
    if (ranks_) return ranks_->scores(scheme, blocks, solution, groups, group_of_place, done);
    NormalBlocks::Scores sum(blocks.unknown_count(), groups);
    for (std::size_t r = 0; r < rollouts; ++r) {
        for (const Piece& piece : reader_.pieces(scheme, r)) {
            const std::vector<int> group = group_of_place(r, piece);
            reader_.with_rows(scheme, piece, [&](const BalancePair& rows) {
                sum.add(blocks.scores(rows, solution, group, groups, reader_.threads()));
            });
            done(piece);
        }
    }
    return sum;
}

// The inverse of the information matrix says how errors are shared out; how large they are is
// calibrated by how much the scores of separate stretches of motion scatter, which knows about
// correlated rows. A stretch pulls the solution towards itself, so that its score is too small, by
// the root of the share that other stretches have in the information (the correction that Bell and
// McCaffrey 2002 call CR2, by the diagonal).
StandardErrors ErrorEstimate::errors(const Scheme& scheme, const BoundedSystem& system,
                                     const NormalBlocks::Scores& sum,
                                     const std::vector<char>& seen) const
{
    const Unknowns& unknowns = solver_.unknowns();
    const FactoredSystem factored(system.matrix,
                                  {&solver_.elimination(), nullptr, reader_.threads(), &work_});
    const Eigen::ArrayXd information = system.matrix.diagonal();
    const Eigen::ArrayXXd of_others =
        (1 - sum.information.array().colwise() / information).max(kLeastShareOfOthers);
    const Eigen::VectorXd scatter =
        factored.solve(sum.of_group.array() / of_others.sqrt()).rowwise().squaredNorm();
    const Eigen::VectorXd inverse = factored.inverse_diagonal();
    StandardErrors errors;
    errors.parameters = parameters_of(reader_.cloth());
    for (std::size_t k = 0; k < errors.parameters.size(); ++k) {
        std::vector<double>& values = errors.parameters[k];
        double ratio = 0, count = 0;
        for (std::size_t e = 0; e < values.size(); ++e) {
            const auto i = static_cast<Eigen::Index>(unknowns.number(k, e));
            values[e] = std::numeric_limits<double>::infinity();
            if (!seen[i] || std::isinf(inverse[i])) continue;
            ratio += scatter[i] / inverse[i];
            count += 1;
        }
        if (count == 0) continue;
        const double variance = ratio / count;  // of a row that stands for itself alone [N^2]
        for (std::size_t e = 0; e < values.size(); ++e) {
            const auto i = static_cast<Eigen::Index>(unknowns.number(k, e));
            if (seen[i]) values[e] = unknowns.scale(k, e) * std::sqrt(variance * inverse[i]);
        }
        if (k > 0) continue;
        const double weight_of_window =
            scheme.form == BalanceForm::force ? 1 : reader_.test_function(scheme).integral;
        errors.force = std::sqrt(variance * reader_.row_interval(scheme)) / weight_of_window;
    }
    return errors;
}

namespace {

// Elements of the first type of which no parameter was seen.
std::vector<int> elements_unseen(const Cloth& cloth, const Unknowns& unknowns,
                                 const std::vector<char>& seen)
{
    std::vector<int> unseen;
    const Element first = unknowns.parameters()[0].kind->element;
    for (std::size_t e = 0; e < element_count(cloth, first); ++e) {
        bool any = false;
        for (std::size_t k = 0; k < unknowns.parameters().size(); ++k) {
            const bool of_element = unknowns.parameters()[k].kind->element == first;
            any = any || (of_element && seen[unknowns.number(k, e)]);
        }
        if (!any) unseen.push_back(static_cast<int>(e));
    }
    return unseen;
}

}  // namespace

void ErrorEstimate::add(const Scheme& scheme, const NormalBlocks& blocks,
                        const PriorWeights& weights, const Eigen::VectorXd& solution,
                        Identification& result) const
{
    std::vector<char> seen;
    const BoundedSystem system = solver_.system(blocks, weights, &seen);
    const NormalBlocks::Scores sum = scores(scheme, blocks, solution);
    result.equation_count = blocks.row_count();
    result.equation_error = std::sqrt(sum.squares / double(std::max(result.equation_count, 1L)));
    result.unexplained = std::sqrt(sum.squares / std::max(blocks.squares(), 1e-300));
    result.cloth.errors = errors(scheme, system, sum, seen);
    result.unseen = elements_unseen(reader_.cloth(), solver_.unknowns(), seen);
}

}  // namespace springtime
