#include "learn/noisy_regions.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/quantile.h"
#include "learn/element_neighbours.h"
#include "learn/mesh_surrogate.h"

namespace springtime {

namespace {

// Clusters of values to begin with. More find small regions and take longer.
constexpr int kFirstTriangles = 8, kFirstHinges = 4;
// Separate stretches of motion, at most, that tell how far scores scatter.
constexpr int kGroups = 32;
// What a neighbour in another region costs, as a log-likelihood. With 1, lone elements that hardly
// move stand out here and there.
constexpr double kBesideAnother = 4;

// Numbers the labels that occur from zero on.
int renumber(std::vector<int>& labels)
{
    std::vector<int> number;
    for (int& label : labels) {
        if (std::size_t(label) >= number.size()) number.resize(std::size_t(label) + 1, -1);
        number[std::size_t(label)] = 0;
    }
    int count = 0;
    for (int& n : number) {
        if (n == 0) n = count++;
    }
    for (int& label : labels) label = number[std::size_t(label)];
    return count;
}

// Points with weights in clusters by Lloyd's algorithm, from quantiles of the first coordinate.
std::vector<int> weighted_means(const Eigen::MatrixXd& points, const Eigen::VectorXd& weights,
                                int count)
{
    constexpr int kMostRounds = 100;
    const auto n = std::size_t(points.rows());
    count = std::min(count, int(n));
    std::vector<Eigen::Index> order(n);
    std::iota(order.begin(), order.end(), Eigen::Index(0));
    std::stable_sort(order.begin(), order.end(),
                     [&](Eigen::Index a, Eigen::Index b) { return points(a, 0) < points(b, 0); });
    Eigen::MatrixXd centers(count, points.cols());
    for (int c = 0; c < count; ++c) {
        const std::size_t place = (2 * std::size_t(c) + 1) * n / (2 * std::size_t(count));
        centers.row(c) = points.row(order[place]);
    }
    std::vector<int> labels(n, -1);
    for (int round = 0; round < kMostRounds; ++round) {
        bool moved = false;
        for (std::size_t i = 0; i < n; ++i) {
            Eigen::Index nearest = 0;
            (centers.rowwise() - points.row(index_of(i)))
                .rowwise()
                .squaredNorm()
                .minCoeff(&nearest);
            moved = moved || labels[i] != int(nearest);
            labels[i] = int(nearest);
        }
        if (!moved) break;
        Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(count, points.cols());
        Eigen::VectorXd total = Eigen::VectorXd::Zero(count);
        for (std::size_t i = 0; i < n; ++i) {
            sums.row(labels[i]) += weights[index_of(i)] * points.row(index_of(i));
            total[labels[i]] += weights[index_of(i)];
        }
        for (int c = 0; c < count; ++c) {
            if (total[c] > 0) centers.row(c) = sums.row(c) / total[c];
        }
    }
    return labels;
}

// How much of the squares the best values explain.
double explained(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& right)
{
    constexpr double kRidge = 1e-9;
    Eigen::MatrixXd definite = matrix;
    definite.diagonal() *= 1 + kRidge;
    return right.dot(definite.ldlt().solve(right));
}

}  // namespace

// ---- Partition

Partition::Partition(const Unknowns& unknowns, const Cloth& cloth, Regions regions)
    : regions_(std::move(regions)), shared_(unknowns.size())
{
    regions_.count = 1;
    for (const Element element : kElements) {
        std::vector<int>& of = regions_.of[std::size_t(element)];
        counts_[std::size_t(element)] = renumber(of);
        regions_.count = std::max(regions_.count, counts_[std::size_t(element)]);
    }
    for (std::size_t k = 0; k < unknowns.parameters().size(); ++k) {
        const Parameter& parameter = unknowns.parameters()[k];
        const Element element = parameter.kind->element;
        const bool one = element == Element::hinge && parameter.is_damping();
        const std::vector<int>& of = regions_.of[std::size_t(element)];
        for (std::size_t e = 0; e < element_count(cloth, element); ++e) {
            shared_[unknowns.number(k, e)] = kind_.size() + (one ? 0 : std::size_t(of[e]));
        }
        kind_.insert(kind_.end(), one ? 1 : std::size_t(count(element)), k);
    }
}

Eigen::VectorXd Partition::expand(const Eigen::VectorXd& shared) const
{
    Eigen::VectorXd values(index_of(shared_.size()));
    for (std::size_t i = 0; i < shared_.size(); ++i) {
        values[index_of(i)] = shared[index_of(shared_[i])];
    }
    return values;
}

Eigen::MatrixXd Partition::reduce(const Eigen::MatrixXd& of_elements) const
{
    Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(index_of(size()), of_elements.cols());
    for (std::size_t i = 0; i < shared_.size(); ++i) {
        sums.row(index_of(shared_[i])) += of_elements.row(index_of(i));
    }
    return sums;
}

// ---- NoisyRegions

NoisyRegions::NoisyRegions(const DisplacementBalance& balance, const Cloth& cloth,
                           const Eigen::VectorXd& diagonal)
    : balance_(balance), cloth_(cloth), diagonal_(diagonal), blocks_(balance.blocks())
{
    for (const Element element : {Element::triangle, Element::hinge}) {
        auto& beside = beside_[std::size_t(element)];
        beside.resize(element_count(cloth, element));
        for (const auto& [a, b] : neighbouring_elements(cloth, element)) {
            beside[a].push_back(b);
            beside[b].push_back(a);
        }
    }
}

NoisyRegions::System NoisyRegions::system(const Partition& partition, const Part& part) const
{
    const Eigen::MatrixXd both = balance_.shared_system(part, partition.shared(), partition.size());
    return {both.leftCols(both.rows()), both.col(both.rows())};
}

// Sums of squares of noise in the matrix are what as much noise again adds to them. Of what is seen
// in any direction, this share is left at least: where noise rules, what it took cannot be known.
NoisyRegions::System NoisyRegions::corrected(const Partition& partition, const Part& part) const
{
    constexpr double kLeast = 0.3, kRidge = 1e-9;
    System once = system(partition, part);
    const System twice = system(partition, {true, part.fold});
    once.matrix.diagonal() *= 1 + kRidge;
    const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> shares(
        2 * once.matrix - twice.matrix, once.matrix);
    const Eigen::MatrixXd ways = once.matrix * shares.eigenvectors();
    const Eigen::VectorXd left = shares.eigenvalues().cwiseMax(kLeast);
    return {ways * left.asDiagonal() * ways.transpose(), 2 * once.right - twice.right};
}

Eigen::VectorXd NoisyRegions::bounded(const Partition& partition, const System& system) const
{
    constexpr double kRidge = 1e-9;
    System free = system;
    free.matrix.diagonal() *= 1 + kRidge;
    for (;;) {
        const Eigen::VectorXd values = free.matrix.ldlt().solve(free.right);
        Eigen::Index worst = -1;
        for (Eigen::Index i = 0; i < values.size(); ++i) {
            const std::size_t kind = partition.kind(std::size_t(i));
            const bool bound = balance_.unknowns().parameters()[kind].kind->lower_bound >= 0;
            if (bound && values[i] < 0) worst = i;
        }
        if (worst < 0) return values;
        free.matrix.row(worst).setZero();  // held at zero
        free.matrix.col(worst).setZero();
        free.matrix(worst, worst) = 1;
        free.right[worst] = 0;
    }
}

Eigen::VectorXd NoisyRegions::solve(const Partition& partition, const Part& part) const
{
    return partition.expand(bounded(partition, corrected(partition, part)));
}

// By the logarithms of what is stiff, weighed by how much the motion says about them.
std::vector<int> NoisyRegions::first_clusters(Element element, const Eigen::VectorXd& values) const
{
    constexpr double kFarthest = 3;  // from the median: what was hardly seen has any value
    const Unknowns& unknowns = balance_.unknowns();
    std::vector<std::size_t> kinds;
    for (std::size_t k = 0; k < unknowns.parameters().size(); ++k) {
        const Parameter& parameter = unknowns.parameters()[k];
        if (parameter.kind->element == element && !parameter.is_damping()) kinds.push_back(k);
    }
    const std::size_t count = element_count(cloth_, element);
    Eigen::MatrixXd points(index_of(count), index_of(kinds.size()));
    Eigen::VectorXd weights = Eigen::VectorXd::Constant(index_of(count), 1);
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        std::vector<double> of_kind, known;
        for (std::size_t e = 0; e < count; ++e) {
            const Eigen::Index unknown = index_of(unknowns.number(kinds[i], e));
            of_kind.push_back(values[unknown]);
            known.push_back(diagonal_[unknown]);
        }
        const double usual = std::max(quantile(of_kind, 0.5), 1e-300);
        const double usually_known = std::max(quantile(known, 0.5), 1e-300);
        const double scale = usual * std::sqrt(usually_known);
        for (std::size_t e = 0; e < count; ++e) {
            const double log = std::log(std::max(of_kind[e], 1e-6 * usual) / usual);
            points(index_of(e), index_of(i)) = scale * std::clamp(log, -kFarthest, kFarthest);
            weights[index_of(e)] = std::min(weights[index_of(e)], known[e] / usually_known + 1e-9);
        }
    }
    const bool triangles = element == Element::triangle;
    return weighted_means(points, weights, triangles ? kFirstTriangles : kFirstHinges);
}

// Of one kind of element, those two clusters are joined that cost the motion least, and so on. The
// matrix of joined clusters is a sum of that of the finest ones.
std::vector<Regions> NoisyRegions::joined(Element element, const Partition& finest,
                                          const System& all) const
{
    const Unknowns& unknowns = balance_.unknowns();
    const auto explained_by = [&](const Partition& partition) {
        Eigen::MatrixXd map =
            Eigen::MatrixXd::Zero(index_of(partition.size()), index_of(finest.size()));
        for (std::size_t i = 0; i < unknowns.size(); ++i) {
            map(index_of(partition.shared()[i]), index_of(finest.shared()[i])) = 1;
        }
        return explained(map * all.matrix * map.transpose(), map * all.right);
    };
    Partition now = finest;
    std::vector<Regions> of_count{now.regions()};
    while (now.count(element) > 1) {
        double most = -std::numeric_limits<double>::infinity();
        std::optional<Partition> best;
        for (int a = 0; a < now.count(element); ++a) {
            for (int b = 0; b < a; ++b) {
                Regions regions = now.regions();
                std::vector<int>& labels = regions.of[std::size_t(element)];
                std::replace(labels.begin(), labels.end(), a, b);
                const Partition pair(unknowns, cloth_, regions);
                const double value = explained_by(pair);
                if (!best || value > most) best = pair;
                most = std::max(most, value);
            }
        }
        now = *best;
        of_count.insert(of_count.begin(), now.regions());
    }
    return of_count;
}

NoisyRegions::Clusters NoisyRegions::clusters(const Part& part, const Eigen::VectorXd& values) const
{
    Regions first = one_region(cloth_);
    for (const Element element : {Element::triangle, Element::hinge}) {
        if (element_count(cloth_, element) == 0) continue;
        first.of[std::size_t(element)] = first_clusters(element, values);
    }
    const Partition finest(balance_.unknowns(), cloth_, first);
    const System all = corrected(finest, part);
    return {joined(Element::triangle, finest, all), joined(Element::hinge, finest, all)};
}

Partition NoisyRegions::partition(const Clusters& clusters, int triangles, int hinges) const
{
    const auto of = [](const std::vector<Regions>& by_count, int count) -> const Regions& {
        return by_count[std::min(std::size_t(count), by_count.size()) - 1];
    };
    Regions regions = of(clusters.triangles, triangles);
    regions.of[std::size_t(Element::hinge)] =
        of(clusters.hinges, hinges).of[std::size_t(Element::hinge)];
    return {balance_.unknowns(), cloth_, regions};
}

// Minus the gradient of half the squares without those of noise, for separate stretches of motion.
Eigen::MatrixXd NoisyRegions::scores(const Eigen::VectorXd& values, const Part& part) const
{
    return 2 * balance_.scores(part, values, kGroups) -
           balance_.scores({true, part.fold}, values, kGroups);
}

// With the score s of an element and the matrix H of its own unknowns, a change d of its values
// explains d s - d H d / 2 more, in units of a log-likelihood.
NoisyRegions::Moves NoisyRegions::moves(Element element, const Partition& now,
                                        const Eigen::VectorXd& shared,
                                        const Eigen::VectorXd& scores, double unit) const
{
    const Unknowns& unknowns = balance_.unknowns();
    const std::vector<int>& labels = now.regions().of[std::size_t(element)];
    std::vector<std::size_t> kinds;
    for (std::size_t k = 0; k < unknowns.parameters().size(); ++k) {
        const Parameter& parameter = unknowns.parameters()[k];
        const bool one = element == Element::hinge && parameter.is_damping();
        if (parameter.kind->element == element && !one) kinds.push_back(k);
    }
    Moves found{std::vector<double>(labels.size(), 0), labels};
    for (std::size_t e = 0; e < labels.size(); ++e) {
        for (int other = 0; other < now.count(element); ++other) {
            if (other == labels[e]) continue;
            // Shared unknowns of a kind stand side by side, as regions do.
            const auto change = [&](std::size_t k) {
                const Eigen::Index at = index_of(now.shared()[unknowns.number(k, e)]);
                return shared[at + other - labels[e]] - shared[at];
            };
            double more = 0;
            for (const std::size_t k : kinds) {
                const std::size_t i = unknowns.number(k, e);
                double bend = 0;
                for (const std::size_t l : kinds) {
                    bend += blocks_.at(i, unknowns.number(l, e)) * change(l);
                }
                more += change(k) * (scores[index_of(i)] - 0.5 * bend) / unit;
            }
            for (const std::size_t n : beside_[std::size_t(element)][e]) {
                more += kBesideAnother * ((labels[n] == other) - (labels[n] == labels[e]));
            }
            if (more <= found.gain[e]) continue;
            found.gain[e] = more;
            found.wanted[e] = other;
        }
    }
    return found;
}

Partition NoisyRegions::refine(const Partition& partition, const Part& part) const
{
    constexpr int kMostRounds = 10;
    const double share = part.fold ? 0.5 : 1;  // of the information
    Partition now = partition;
    for (int round = 0; round < kMostRounds; ++round) {
        const Eigen::VectorXd shared = bounded(now, corrected(now, part));
        const Eigen::MatrixXd of_stretches = scores(now.expand(shared), part);
        // Windows overlap and noise is not white in displacements: so much more than the
        // information do scores scatter.
        const Eigen::VectorXd squares = of_stretches.rowwise().squaredNorm();
        std::vector<double> ratios;
        for (Eigen::Index i = 0; i < squares.size(); ++i) {
            if (diagonal_[i] > 0) ratios.push_back(squares[i] / (share * diagonal_[i]));
        }
        const double unit = ratios.empty() ? 1 : std::max(quantile(ratios, 0.5), 1e-300);
        Regions regions = now.regions();
        int moved = 0;
        for (const Element element : {Element::triangle, Element::hinge}) {
            if (now.count(element) < 2) continue;
            const auto& beside = beside_[std::size_t(element)];
            const Moves found = moves(element, now, shared, of_stretches.rowwise().sum(), unit);
            for (std::size_t e = 0; e < found.gain.size(); ++e) {
                // Of neighbours that would both move, one does: the other may not need to then.
                const auto less = [&](std::size_t n) {
                    return found.gain[n] < found.gain[e] ||
                           (found.gain[n] == found.gain[e] && n > e);
                };
                const bool goes =
                    found.gain[e] > 0 && std::all_of(beside[e].begin(), beside[e].end(), less);
                if (goes) regions.of[std::size_t(element)][e] = found.wanted[e];
                moved += goes;
            }
        }
        if (moved == 0) break;
        now = Partition(balance_.unknowns(), cloth_, regions);
    }
    return now;
}

// The inverse of the matrix says how errors are shared out, and the scatter of separate stretches
// how large they are.
NoisyRegions::Answer NoisyRegions::answer(const Partition& partition) const
{
    const System all = corrected(partition, {});
    Answer found;
    found.values = partition.expand(bounded(partition, all));
    const auto ldlt = all.matrix.ldlt();
    const Eigen::MatrixXd of_stretches = partition.reduce(scores(found.values, {}));
    const Eigen::VectorXd mean = of_stretches.rowwise().mean();
    const Eigen::VectorXd seen = ldlt.solve(of_stretches.colwise() - mean).rowwise().squaredNorm();
    const Eigen::Index size = seen.size();
    const Eigen::VectorXd inverse = ldlt.solve(Eigen::MatrixXd::Identity(size, size)).diagonal();
    const double ratio = (seen.array() / inverse.array()).mean();
    found.variances = partition.expand(ratio * inverse);
    return found;
}

}  // namespace springtime
