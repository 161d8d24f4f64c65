#include "learn/noisy_mesh.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/random.h"
#include "learn/displacement_balance.h"
#include "learn/element_neighbours.h"
#include "learn/mesh_surrogate.h"
#include "learn/noisy_regions.h"
#include "learn/prior_solver.h"

namespace springtime {

namespace {

using Part = DisplacementBalance::Part;

// Half width of the test functions [frames]. On the reference sheet with 1 mm of noise, 6, 8, 14
// and 24 frames leave relative errors of 0.12, 0.10, 0.11 and 0.20 in shear stiffness.
constexpr int kHalfWidth = 8;
constexpr std::size_t kMostBytes = std::size_t(1) << 30;
constexpr std::size_t kFewBytes = std::size_t(1) << 27;
// Weights of the pull between neighbours that are tried. Bending damping drowns in noise: it is
// nearly one number for the sheet.
constexpr std::array kPulls{0.03, 0.3, 3.0};
constexpr double kBendingDamping = 1e3;
// Neighbours that differ by more than this share pull less at each other: seams stay sharp.
constexpr double kSeam = 0.05;
constexpr int kMostIterations = 30;
constexpr double kTolerance = 3e-4;  // of the residual, in the norm of the preconditioner
constexpr int kRounds = 3;           // of weighing by what was found
// What an identification usually needs, in products with the matrix; seen, not counted.
constexpr double kUsualWork = 350, kWorkOfTurn = 35;
constexpr int kTurns = 5;  // of the homogeneous start

// Draws neighbours on the mesh towards each other.
class NeighbourPull {
  public:
    NeighbourPull(const Cloth& cloth, const Unknowns& unknowns, const Eigen::VectorXd& diagonal);

    void set(const PriorWeights& weights, const Eigen::VectorXd* found);
    Eigen::VectorXd multiply(const Eigen::VectorXd& x) const;
    const Eigen::VectorXd& diagonal() const { return diagonal_; }
    bool sees(std::size_t unknown) const { return sight_.seen[unknown]; }

  private:
    struct Pair {
        Eigen::Index a, b;
        double usual;  // information about such a parameter, by neighbour
        double pull = 0;
    };
    const Unknowns& unknowns_;
    Sight sight_;
    std::vector<Pair> pairs_;
    Eigen::VectorXd alone_;  // keeps what has no neighbours definite
    Eigen::VectorXd diagonal_;
};

NeighbourPull::NeighbourPull(const Cloth& cloth, const Unknowns& unknowns,
                             const Eigen::VectorXd& diagonal)
    : unknowns_(unknowns), sight_(diagonal, unknowns), alone_(diagonal.size())
{
    constexpr double kAlone = 1e-9;
    for (Eigen::Index i = 0; i < diagonal.size(); ++i) {
        alone_[i] = kAlone * sight_.typical[unknowns.parameter_of(std::size_t(i))];
    }
    const NeighbouringUnknowns neighbours(cloth, unknowns);
    for (const auto& [a, b] : neighbours.pairs) {
        const std::size_t k = unknowns.parameter_of(a);
        pairs_.push_back({index_of(a), index_of(b), sight_.typical[k] / neighbours.degree[k]});
    }
}

void NeighbourPull::set(const PriorWeights& weights, const Eigen::VectorXd* found)
{
    diagonal_ = alone_;
    for (Pair& pair : pairs_) {
        const Parameter& parameter = unknowns_.parameter(std::size_t(pair.a));
        pair.pull = weight_of(parameter, weights) * pair.usual;
        if (found && !parameter.is_damping()) {
            const double a = (*found)[pair.a], b = (*found)[pair.b];
            const double differs = (a - b) / std::max(0.5 * (std::abs(a) + std::abs(b)), 1e-300);
            pair.pull /= std::sqrt(1 + differs * differs / (kSeam * kSeam));
        }
        diagonal_[pair.a] += pair.pull;
        diagonal_[pair.b] += pair.pull;
    }
}

Eigen::VectorXd NeighbourPull::multiply(const Eigen::VectorXd& x) const
{
    Eigen::VectorXd result = alone_.cwiseProduct(x);
    for (const Pair& pair : pairs_) {
        const double pull = pair.pull * (x[pair.a] - x[pair.b]);
        result[pair.a] += pull;
        result[pair.b] -= pull;
    }
    return result;
}

// Solves (H + prior) x = right by conjugate gradients, from x on; entries that are held stay.
void solve_part(const DisplacementBalance& balance, const NeighbourPull& prior, const Part& part,
                const Eigen::VectorXd& diagonal, const Eigen::VectorXd& right,
                const std::vector<char>& held, int iterations, Eigen::VectorXd& x)
{
    const auto clear_held = [&](Eigen::VectorXd& vector) {
        for (std::size_t i = 0; i < held.size(); ++i) {
            if (held[i]) vector[index_of(i)] = 0;
        }
    };
    const auto apply = [&](const Eigen::VectorXd& at) {
        return Eigen::VectorXd(balance.multiply(part, at) + prior.multiply(at));
    };
    const Eigen::ArrayXd scale = 1 / (diagonal + prior.diagonal()).array();
    Eigen::VectorXd left = right - apply(x);
    clear_held(left);
    Eigen::VectorXd direction = (scale * left.array()).matrix();
    double size = left.dot(direction);
    Eigen::VectorXd scaled_right = (scale.sqrt() * right.array()).matrix();
    const double small = kTolerance * kTolerance * scaled_right.squaredNorm();
    for (int i = 0; i < iterations && size > small; ++i) {
        Eigen::VectorXd product = apply(direction);
        clear_held(product);
        const double step = size / direction.dot(product);
        x += step * direction;
        left -= step * product;
        const Eigen::VectorXd next = (scale * left.array()).matrix();
        const double now = left.dot(next);
        direction = next + now / size * direction;
        size = now;
    }
}

// What noise took from values, if as much noise again makes `noisier` of them. No more than twice:
// where noise rules, what it took cannot be known.
Eigen::VectorXd put_back(Eigen::VectorXd values, const Eigen::VectorXd& noisier)
{
    for (Eigen::Index i = 0; i < values.size(); ++i) {
        values[i] += std::clamp(values[i] - noisier[i], -0.5 * values[i], values[i]);
    }
    return values;
}

class NoisyMesh {
  public:
    NoisyMesh(const BalanceReader& reader, const IdentifyOptions& options, const Scheme& scheme,
              std::size_t most_bytes, Work& work)
        : options_(options),
          reader_(reader),
          balance_(reader, options.regions, scheme, most_bytes, work)
    {
    }

    const DisplacementBalance& balance() const { return balance_; }
    void weigh(const Cloth& cloth);
    // Starts from the homogeneous cloth.
    void begin(const Cloth& homogeneous);
    Eigen::VectorXd solved(const Part& part, int iterations) const;
    double predicted(int iterations);
    // One turn of homogeneous(): weighs by a cloth and solves for the next.
    Cloth turn(const Cloth& cloth);
    void choose_prior();
    void refine();
    void find_regions(const RegionSearch& search);
    Identification result(const Scheme& scheme) const;

  private:
    Eigen::VectorXd values_of_cloth(const Cloth& cloth) const;
    Cloth cloth_of(const Eigen::VectorXd& values) const;
    bool hold_negative(Eigen::VectorXd& values);
    PriorWeights weights(double pull) const;
    RegionChoice choose_regions(const NoisyRegions& finder, const RegionSearch& search) const;
    Eigen::VectorXd bootstrapped() const;
    StandardErrors errors(double force) const;

    const IdentifyOptions& options_;
    const BalanceReader& reader_;
    DisplacementBalance balance_;
    std::optional<NeighbourPull> prior_;
    PriorWeights chosen_;
    Eigen::VectorXd diagonal_, start_, found_;
    std::vector<char> held_;
    std::optional<RegionChoice> regions_;
    Eigen::VectorXd variances_;  // of what regions share
};

PriorWeights NoisyMesh::weights(double pull) const
{
    const double damping = options_.prior ? pull : kBendingDamping;
    return {pull, pull, pull, damping};
}

Eigen::VectorXd NoisyMesh::values_of_cloth(const Cloth& cloth) const
{
    const Unknowns& unknowns = balance_.unknowns();
    Eigen::VectorXd values = Eigen::VectorXd::Zero(index_of(unknowns.size()));
    for (std::size_t k = 0; k < unknowns.parameters().size(); ++k) {
        const std::vector<double>& of = values_of(cloth, unknowns.parameters()[k]);
        for (std::size_t e = 0; e < of.size(); ++e) {
            values[index_of(unknowns.number(k, e))] = of[e] / unknowns.scale(k, e);
        }
    }
    return values;
}

Cloth NoisyMesh::cloth_of(const Eigen::VectorXd& values) const
{
    const Unknowns& unknowns = balance_.unknowns();
    Cloth cloth = reader_.cloth();
    for (std::size_t k = 0; k < unknowns.parameters().size(); ++k) {
        std::vector<double>& of = values_of(cloth, unknowns.parameters()[k]);
        for (std::size_t e = 0; e < of.size(); ++e) {
            of[e] = unknowns.scale(k, e) * values[index_of(unknowns.number(k, e))];
        }
    }
    return cloth;
}

void NoisyMesh::weigh(const Cloth& cloth)
{
    balance_.weigh(cloth);
    diagonal_ = balance_.diagonal();
    prior_.emplace(reader_.cloth(), balance_.unknowns(), diagonal_);
    prior_->set(chosen_, found_.size() > 0 ? &found_ : nullptr);
}

void NoisyMesh::begin(const Cloth& homogeneous)
{
    start_ = values_of_cloth(homogeneous);
    held_.assign(std::size_t(start_.size()), 0);
    chosen_ = weights(options_.prior.value_or(kPulls[1]));
}

Eigen::VectorXd NoisyMesh::solved(const Part& part, int iterations) const
{
    Eigen::VectorXd x = found_.size() > 0 ? found_ : start_;
    const Eigen::VectorXd diagonal = (part.fold ? 0.5 : 1.0) * diagonal_;
    solve_part(balance_, *prior_, part, diagonal, balance_.right(part), held_, iterations, x);
    return x;
}

Cloth NoisyMesh::turn(const Cloth& cloth)
{
    constexpr double kLeast = 0.2;  // of what it was: noise can make damping negative
    begin(cloth);
    weigh(cloth);
    const Eigen::VectorXd next = solved({}, kMostIterations);
    return cloth_of(next.cwiseMax(kLeast * start_));
}

// The squared displacements that each half leaves of the other.
double NoisyMesh::predicted(int iterations)
{
    double sum = 0;
    for (const std::size_t fold : {std::size_t(0), std::size_t(1)}) {
        const Eigen::VectorXd found = solved({false, fold}, iterations);
        sum += balance_.squares({false, 1 - fold}, &found).displacements;
    }
    return sum;
}

void NoisyMesh::choose_prior()
{
    constexpr int kIterations = 20;
    if (options_.prior) return;
    const Eigen::VectorXd seams = solved({}, kMostIterations);
    double least = std::numeric_limits<double>::infinity();
    PriorWeights best = chosen_;
    for (std::size_t i = 0; i < kPulls.size(); ++i) {
        chosen_ = weights(kPulls[i]);
        prior_->set(chosen_, &seams);
        const double left = predicted(kIterations);
        if (left < least) best = chosen_;
        least = std::min(least, left);
    }
    chosen_ = best;
    prior_->set(chosen_, &seams);
}

// Values below zero are held there. Whether there are new ones.
bool NoisyMesh::hold_negative(Eigen::VectorXd& values)
{
    bool any = false;
    for (Eigen::Index i = 0; i < values.size(); ++i) {
        const bool bounded = balance_.unknowns().parameter(std::size_t(i)).kind->lower_bound >= 0;
        if (!bounded || values[i] > 0) continue;
        any = any || !held_[std::size_t(i)];
        held_[std::size_t(i)] = 1;
        values[i] = 0;
    }
    return any;
}

// Each round weighs by what the last one found. Noise takes from every answer what as much noise
// again takes from it once more (simulation and extrapolation, Cook and Stefanski 1994).
void NoisyMesh::refine()
{
    for (int round = 0; round < kRounds; ++round) {
        if (round > 0) weigh(cloth_of(found_));
        found_ = solved({}, kMostIterations);
        if (hold_negative(found_)) found_ = solved({}, kMostIterations / 3);
        found_ = found_.cwiseMax(0);
    }
    found_ = put_back(found_, solved({true, {}}, kMostIterations));
}

// Regions are found in one half, from the values that it gives to single elements, and judged by
// the other half. The fewest that are not clearly worse than the best are taken: one standard
// error, by separate stretches of motion.
RegionChoice NoisyMesh::choose_regions(const NoisyRegions& finder, const RegionSearch& search) const
{
    constexpr int kIterations = 20, kGroups = 32, kMostHinges = 3;
    struct Candidate {
        int triangles, hinges;
        Eigen::VectorXd left = Eigen::VectorXd::Zero(kGroups);
    };
    const auto not_worse = [](const Candidate& a, const Candidate& b) {
        const Eigen::VectorXd more = a.left - b.left;
        const auto used = double((b.left.array() != 0).count());
        const double scatter = more.squaredNorm() - more.sum() * more.sum() / used;
        return more.sum() <= std::sqrt(std::max(0.0, scatter) * used / std::max(1.0, used - 1));
    };
    const std::array<Part, 2> halves{Part{false, 0}, Part{false, 1}};
    std::array<Eigen::VectorXd, 2> single;
    std::array<NoisyRegions::Clusters, 2> clusters;
    Candidate elements{0, 0};
    // Noise takes more from elements that move little, so values that have lost most suit noisy
    // motion best. What noise adds is taken off.
    const auto left_of = [&](const Part& half, const Eigen::VectorXd& values) {
        return Eigen::VectorXd(2 * balance_.squares_by_stretch(half, values, kGroups) -
                               balance_.squares_by_stretch({true, half.fold}, values, kGroups));
    };
    for (const int half : {0, 1}) {
        single[half] = put_back(solved(halves[half], kIterations).cwiseMax(0),
                                solved({true, halves[half].fold}, kIterations));
        clusters[half] = finder.clusters(halves[half], single[half]);
        elements.left += left_of(halves[1 - half], single[half]);
    }
    const auto candidate = [&](int triangles, int hinges, bool refined) {
        Candidate of{triangles, hinges};
        for (const int half : {0, 1}) {
            Partition partition = finder.partition(clusters[half], triangles, hinges);
            if (refined) partition = finder.refine(partition, halves[half]);
            of.left += left_of(halves[1 - half], finder.solve(partition, halves[half]));
        }
        return of;
    };
    const auto simplest = [&](const std::vector<Candidate>& tried) {
        const auto best = std::min_element(tried.begin(), tried.end(), [](const auto& a, auto& b) {
            return a.left.sum() < b.left.sum();
        });
        return *std::find_if(tried.begin(), tried.end(),
                             [&](const Candidate& a) { return not_worse(a, *best); });
    };
    std::vector<Candidate> tried;
    for (int h = 1; h <= kMostHinges; ++h) tried.push_back(candidate(search.most, h, false));
    const int hinges = simplest(tried).hinges;
    tried.clear();
    for (int t = search.least; t <= search.most; ++t) {
        tried.push_back(candidate(t, hinges, t > 1 || hinges > 1));
        const std::size_t n = tried.size();
        if (n > 1 && not_worse(tried[n - 2], tried[n - 1])) break;
    }
    const Candidate by_region = simplest(tried);
    // Where a number is asked for, single elements are out of question.
    const bool asked = search.least == search.most;
    const bool regions = asked || not_worse(by_region, elements);
    const double all = balance_.squares({}).displacements;
    const auto share = [&](const Candidate& of) {
        return std::sqrt(std::max(0.0, of.left.sum()) / all);
    };
    return {regions ? by_region.triangles : 0, regions ? by_region.hinges : 0, share(by_region),
            share(elements)};
}

void NoisyMesh::find_regions(const RegionSearch& search)
{
    const NoisyRegions finder(balance_, reader_.cloth(), diagonal_);
    regions_ = choose_regions(finder, search);
    if (regions_->triangles == 0) return;
    Partition partition = finder.refine(
        finder.partition(finder.clusters({}, found_), regions_->triangles, regions_->hinges), {});
    weigh(cloth_of(finder.solve(partition, {})));
    const NoisyRegions anew(balance_, reader_.cloth(), diagonal_);
    partition = anew.refine(partition, {});
    const NoisyRegions::Answer answer = anew.answer(partition);
    found_ = answer.values;
    variances_ = answer.variances;
    regions_->triangles = partition.count(Element::triangle);
    regions_->hinges = partition.count(Element::hinge);
}

// How far the answer scatters: solutions for random signs of the scores of separate stretches (a
// wild bootstrap by clusters), as if no value were held at zero. What was added for the bias
// doubles the variance.
Eigen::VectorXd NoisyMesh::bootstrapped() const
{
    constexpr int kGroups = 32, kDraws = 6, kIterations = 15;
    const Eigen::MatrixXd scores = balance_.scores({}, found_, kGroups);
    const Eigen::VectorXd mean = scores.rowwise().mean();
    Eigen::VectorXd variance = Eigen::VectorXd::Zero(found_.size());
    for (int draw = 0; draw < kDraws; ++draw) {
        Random random = Random::stream(2, std::uint64_t(draw));
        Eigen::VectorXd right = Eigen::VectorXd::Zero(found_.size());
        for (int g = 0; g < kGroups; ++g) {
            right += (random.uniform() < 0.5 ? -1.0 : 1.0) * (scores.col(g) - mean);
        }
        Eigen::VectorXd change = Eigen::VectorXd::Zero(found_.size());
        solve_part(balance_, *prior_, {}, diagonal_, right, {}, kIterations, change);
        variance += 2 * change.cwiseAbs2() / kDraws;
    }
    return variance;
}

// Those of single elements are averaged over neighbours.
StandardErrors NoisyMesh::errors(double force) const
{
    const bool shared = variances_.size() > 0;
    const Eigen::VectorXd variance = shared ? variances_ : bootstrapped();
    const Unknowns& unknowns = balance_.unknowns();
    StandardErrors errors;
    errors.force = force;
    errors.parameters = parameters_of(reader_.cloth());
    for (std::size_t k = 0; k < errors.parameters.size(); ++k) {
        std::vector<double>& values = errors.parameters[k];
        for (std::size_t e = 0; e < values.size(); ++e) {
            values[e] = variance[index_of(unknowns.number(k, e))];
        }
        const Element element = unknowns.parameters()[k].kind->element;
        if (!shared) smooth(values, neighbours_of(reader_.cloth(), element));
        for (std::size_t e = 0; e < values.size(); ++e) {
            values[e] = unknowns.scale(k, e) * std::sqrt(values[e]);
            if (!shared && !prior_->sees(unknowns.number(k, e))) {
                values[e] = std::numeric_limits<double>::infinity();
            }
        }
    }
    return errors;
}

Identification NoisyMesh::result(const Scheme& scheme) const
{
    Identification result;
    result.form = BalanceForm::weak;
    result.instruments = scheme.instruments;
    result.displacements = true;
    result.window = scheme.half_width * reader_.interval();
    result.prior = chosen_;
    result.regions = regions_;
    result.cloth = cloth_of(found_);
    result.equation_count = balance_.equation_count();
    const auto left = balance_.squares({}, &found_), all = balance_.squares({});
    // As much noise again adds what noise has added already. The rest is not explained.
    const auto noisier = balance_.squares({true, {}}, &found_);
    const double rest = std::max(0.0, 2 * left.displacements - noisier.displacements);
    result.equation_error = std::sqrt(left.forces / std::max(1.0, double(result.equation_count)));
    result.unexplained = std::sqrt(rest / all.displacements);
    const Unknowns& unknowns = balance_.unknowns();
    result.held_count.assign(unknowns.parameters().size(), 0);
    for (std::size_t k = 0; k < unknowns.parameters().size(); ++k) {
        for (const double value : values_of(result.cloth, unknowns.parameters()[k])) {
            result.held_count[k] += value == 0;
        }
    }
    const double per_window = std::sqrt(reader_.row_interval(scheme));
    result.cloth.errors =
        errors(result.equation_error * per_window / reader_.test_function(scheme).integral);
    for (std::size_t e = 0; e < element_count(reader_.cloth(), Element::triangle); ++e) {
        bool any = false;
        for (std::size_t k = 0; k < unknowns.parameters().size(); ++k) {
            if (variances_.size() > 0) any = true;  // a region is seen
            const bool triangle = unknowns.parameters()[k].kind->element == Element::triangle;
            any = any || (triangle && prior_->sees(unknowns.number(k, e)));
        }
        if (!any) result.unseen.push_back(static_cast<int>(e));
    }
    return result;
}

std::optional<Scheme> scheme_for(const BalanceReader& reader, const IdentifyOptions& options,
                                 const NoiseEstimate& noise)
{
    Scheme scheme{BalanceForm::weak, Instruments::noise, kHalfWidth, noise.level};
    if (options.window) scheme.half_width = int(std::lround(*options.window / reader.interval()));
    for (std::size_t r = 0; r < reader.rollouts().size(); ++r) {
        if (!reader.pieces(scheme, r).empty()) return scheme;
    }
    return std::nullopt;
}

// The best homogeneous cloth by displacements, from few of the windows. It starts at the stiffness
// with which the hanging sheet stretches by a twentieth, and weighs by what it finds. What follows
// is expected to take `products_after` products with a matrix of `bytes_after`.
std::optional<Cloth> homogeneous_start(const BalanceReader& reader, const IdentifyOptions& options,
                                       const Scheme& scheme, Work& work, double products_after,
                                       std::size_t bytes_after)
{
    constexpr double kUsualStrain = 0.05, kUsualBending = 1e-4, kSecond = 1e-3;
    const Cloth& like = reader.cloth();
    IdentifyOptions together = options;
    together.regions = one_region(like);
    together.prior = 0;
    Cloth cloth = like;
    const double width = std::min(like.sheet.length, like.sheet.width);
    const double stiffness = like.sheet.mass * 9.81 / (2 * kUsualStrain * width);
    for (const Parameter& parameter : learned_parameters(cloth)) {
        const bool hinge = parameter.kind->element == Element::hinge;
        const double value = stiffness * (hinge ? kUsualBending * width * width : 1) *
                             (parameter.is_damping() ? kSecond : 1);
        for (double& of : values_of(cloth, parameter)) of = value;
    }
    NoisyMesh mesh(reader, together, scheme, kFewBytes, work);
    if (mesh.balance().place_count() == 0) return std::nullopt;
    const double more_windows =
        std::min(mesh.balance().windows_per_place(), double(bytes_after) / double(kFewBytes));
    work.expect((kTurns * kWorkOfTurn + products_after * more_windows) *
                mesh.balance().work_of_product());
    for (int turn = 0; turn < kTurns; ++turn) cloth = mesh.turn(cloth);
    return cloth;
}

}  // namespace

std::optional<Identification> identify_noisy_mesh(const BalanceReader& reader,
                                                  const IdentifyOptions& options,
                                                  const NoiseEstimate& noise, Work& work)
{
    const std::optional<Scheme> scheme = scheme_for(reader, options, noise);
    if (!scheme) return std::nullopt;
    const std::optional<Cloth> start =
        homogeneous_start(reader, options, *scheme, work, kUsualWork, kMostBytes);
    if (!start) return std::nullopt;
    NoisyMesh mesh(reader, options, *scheme, kMostBytes, work);
    work.expect(kUsualWork * mesh.balance().work_of_product());
    mesh.begin(*start);
    mesh.weigh(*start);
    mesh.choose_prior();
    mesh.refine();
    if (options.search && !options.regions) mesh.find_regions(*options.search);
    Identification found = mesh.result(*scheme);
    found.noise = noise;
    return found;
}

std::optional<double> unexplained_displacements(const BalanceReader& reader,
                                                const IdentifyOptions& options,
                                                const NoiseEstimate& noise, Work& work)
{
    constexpr int kIterations = 20;
    const std::optional<Scheme> scheme = scheme_for(reader, options, noise);
    if (!scheme) return std::nullopt;
    const std::optional<Cloth> start =
        homogeneous_start(reader, options, *scheme, work, 2 * kIterations, kFewBytes);
    if (!start) return std::nullopt;
    NoisyMesh mesh(reader, options, *scheme, kFewBytes, work);
    mesh.begin(*start);
    mesh.weigh(*start);
    const double left = mesh.predicted(kIterations);
    return std::sqrt(left / mesh.balance().squares({}).displacements);
}

}  // namespace springtime
