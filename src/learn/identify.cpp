#include "springtime/identify.h"

#include <Eigen/SparseCholesky>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "core/parallel.h"
#include "data/clips.h"
#include "learn/balance.h"
#include "learn/balance_rows.h"
#include "learn/noise.h"
#include "springtime/error.h"
#include "springtime/resample.h"
#include "springtime/train.h"

namespace springtime {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Noise below this share of the shortest spring biases nothing that matters: 1 mm on springs of
// 0.5 m takes a third of the damping away, and the bias falls with the square.
constexpr double kHarmlessNoise = 5e-5;
// Half widths of test functions that are tried [frames], and the longest. [s]
constexpr std::array kHalfWidths{12, 16, 24, 32, 48, 64, 96};
constexpr double kLongestWindow = 1.7;
// Frames of a look that the narrowest test function has on each side of its middle: with three
// (half width 6 in all frames) swings of a third of its length are summed 2e-3 wrong.
constexpr std::size_t kFewestFrames = 4;
// Windows are this share of their half width apart. Half as many cost a tenth of the precision,
// more of them gain nothing.
constexpr int kWindowsPerHalfWidth = 4;
// Weights of the prior that are tried.
constexpr std::array kPriors{1e-11, 1e-9, 1e-7, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1};
constexpr std::size_t kChunk = 1024;  // frames held in memory at a time
// A parameter whose information is below this share of the median of its kind is not seen.
constexpr double kUnseen = 1e-10;
// What lies in different stretches of motion counts as independent: in different rollouts, which
// are cut when there are too few of them. Scores are summed into at most so many groups of
// stretches. Few are enough, since springs are averaged over, and cuts are no good: on 6 x 6
// particles, with one rollout of 4 s to learn from, intervals of 95 % hold 87 % of the stiffnesses
// with 4 stretches and 78 % with 8; with 7 rollouts of 3 s it is 94 % uncut and 92 % cut in two.
constexpr std::size_t kFewestStretches = 4;
constexpr int kStretchGroups = 64;
// However much of what is known of a parameter comes from one group, this share is from others.
constexpr double kLeastShareOfOthers = 0.05;

// One way to write down the balance.
struct Scheme {
    BalanceForm form = BalanceForm::force;
    bool instruments = false;
    int half_width = 0;  // [frames]

    std::size_t frame_step() const { return instruments ? 2 : 1; }
    std::size_t hop() const { return std::max(1, half_width / kWindowsPerHalfWidth); }
};

// Frames of a rollout that are read together, and the middles of windows among them.
struct Piece {
    std::size_t rollout = 0, first = 0, count = 0;
    std::vector<std::size_t> middles;  // counted from `first`

    std::size_t place_count() const { return middles.empty() ? count : middles.size(); }
    std::size_t frame_of(std::size_t place) const
    {
        return first + (middles.empty() ? place : middles[place]);
    }
};

double median_of(std::vector<double> values)
{
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

// Reads the training rollouts and writes down their balance.
class BalanceReader {
  public:
    BalanceReader(const MotionSource& motion, const IdentifyOptions& options)
        : motion_(motion),
          cloth_(make_surrogate(motion.header, options.grid, 1, 1, options.law)),
          threads_(thread_count(options.threads)),
          resampler_(motion.header.rest, cloth_.rest),
          rollouts_(
              split_rollouts(motion.frame_counts.size(), options.validation_share, options.seed)
                  .training)
    {
    }

    const Cloth& cloth() const { return cloth_; }
    const std::vector<std::size_t>& rollouts() const { return rollouts_; }
    int threads() const { return threads_; }
    double interval() const { return motion_.header.frame_interval(); }
    std::size_t frame_count(std::size_t rollout) const { return motion_.frame_counts[rollout]; }
    std::size_t shortest() const
    {
        std::size_t frames = SIZE_MAX;
        for (const std::size_t r : rollouts_) frames = std::min(frames, motion_.frame_counts[r]);
        return frames;
    }
    std::size_t longest() const
    {
        std::size_t frames = 0;
        for (const std::size_t r : rollouts_) frames = std::max(frames, motion_.frame_counts[r]);
        return frames;
    }
    bool has_accelerations() const
    {
        return motion_.header.velocities && shortest() > 0 &&
               !motion_.read(rollouts_[0], 0, 1).acceleration.empty();
    }
    TestFunction test_function(const Scheme& scheme) const
    {
        return TestFunction(scheme.half_width, interval(), motion_.header.dt);
    }
    double row_interval(const Scheme& scheme) const  // [s]
    {
        return interval() * double(scheme.form == BalanceForm::force ? 1 : scheme.hop());
    }

    NoiseEstimate measure_noise() const;
    std::vector<Piece> pieces(const Scheme& scheme, std::size_t rollout) const;
    template <class Visit>
    void with_rows(const Scheme& scheme, const Piece& piece, const Visit& visit) const;

  private:
    Rollout read(std::size_t rollout, std::size_t first, std::size_t count) const
    {
        return resampler_.apply(motion_.read(rollout, first, count), interval());
    }

    const MotionSource& motion_;
    Cloth cloth_;
    int threads_;
    Resampler resampler_;
    std::vector<std::size_t> rollouts_;
};

NoiseEstimate BalanceReader::measure_noise() const
{
    NoiseMeter meter;
    for (const std::size_t r : rollouts_) {
        const std::size_t frames = std::min(motion_.frame_counts[r], kChunk);
        meter.add(Tracks(read(r, motion_.frame_counts[r] - frames, frames)));
    }
    return meter.estimate();
}

std::vector<Piece> BalanceReader::pieces(const Scheme& scheme, std::size_t rollout) const
{
    const std::size_t frames = motion_.frame_counts[rollout];
    std::vector<Piece> result;
    // The only one is read in two pieces at least, which choose the prior for each other.
    const std::size_t chunk = rollouts_.size() > 1 ? kChunk : std::min(kChunk, frames / 2 + 1);
    if (scheme.form == BalanceForm::force) {
        for (std::size_t first = 0; first < frames; first += chunk) {
            result.push_back({rollout, first, std::min(chunk, frames - first), {}});
        }
        return result;
    }
    const std::size_t margin = window_margin(test_function(scheme), scheme.frame_step());
    for (std::size_t middle = margin; middle + margin < frames; middle += scheme.hop()) {
        const bool fresh = result.empty() || middle + margin >= result.back().first + chunk;
        if (fresh) result.push_back({rollout, middle - margin, 0, {}});
        Piece& piece = result.back();
        piece.middles.push_back(middle - piece.first);
        piece.count = middle + margin + 1 - piece.first;
    }
    return result;
}

template <class Visit>
void BalanceReader::with_rows(const Scheme& scheme, const Piece& piece, const Visit& visit) const
{
    const MotionHeader& header = motion_.header;
    const Rollout particles = read(piece.rollout, piece.first, piece.count);
    if (scheme.form == BalanceForm::force) {
        const BalanceRows rows = force_rows(cloth_, header.environment, particles, threads_);
        visit(BalancePair{rows, rows});
        return;
    }
    const TestFunction test = test_function(scheme);
    const Tracks tracks(particles);
    const auto look = [&](std::size_t first) {
        return weak_rows(cloth_, header.environment, tracks, test, piece.middles,
                         {scheme.frame_step(), first}, interval(), header.dt, threads_);
    };
    const BalanceRows one = look(0);
    if (scheme.instruments) {
        visit(BalancePair{one, look(1)});
    } else {
        visit(BalancePair{one, one});
    }
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

// Solves under a prior: every parameter is drawn a little towards the median of its kind in its
// family.
class PriorSolver {
  public:
    PriorSolver(const Cloth& cloth, bool iterative)
        : springs_(cloth.springs),
          kinds_(cloth.springs.kind_count()),
          solver_(iterative ? LinearSolver::iterative : LinearSolver::direct),
          center_(Eigen::VectorXd::Zero(
              static_cast<Eigen::Index>(springs_.spring_count() * std::size_t(kinds_))))
    {
    }

    // The normal equations with the prior. Parameters that are not seen have the prior alone.
    BoundedSystem system(const NormalBlocks& blocks, double weight,
                         std::vector<char>* seen = nullptr) const;
    // Nothing where the prior is too weak to make the system definite.
    struct Solved {
        BoundedSolution solution;
        std::vector<char> seen;
    };
    std::optional<Solved> solve(const NormalBlocks& blocks, double weight) const;
    // On the medians of what is seen in either half.
    void center_on(const Solved& one, const Solved& other);

  private:
    const SpringSet& springs_;
    int kinds_;
    LinearSolver solver_;
    Eigen::VectorXd center_;
};

BoundedSystem PriorSolver::system(const NormalBlocks& blocks, double weight,
                                  std::vector<char>* seen) const
{
    BoundedSystem system = blocks.assemble();
    const Eigen::VectorXd diagonal = system.matrix.diagonal();
    const Sight sight(diagonal, kinds_);
    for (Eigen::Index i = 0; i < diagonal.size(); ++i) {
        const double scale = sight.typical[i % kinds_];
        const double added = sight.seen[i] ? weight * scale : scale - diagonal[i];
        system.matrix.coeffRef(i, i) += added;
        system.right[i] += added * center_[i];
    }
    if (seen) *seen = sight.seen;
    return system;
}

std::optional<PriorSolver::Solved> PriorSolver::solve(const NormalBlocks& blocks,
                                                      double weight) const
{
    Solved solved;
    const BoundedSystem with_prior = system(blocks, weight, &solved.seen);
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

using Folds = std::array<NormalBlocks, 2>;

NormalBlocks sum_of(const Folds& folds)
{
    NormalBlocks sum = folds[0];
    sum.add(folds[1]);
    return sum;
}

// Which scheme and prior predict the balance of one half of the rollouts best when solved from the
// other half.
struct Choice {
    std::size_t scheme = 0;
    double weight = kPriors[0], score = kInfinity;
};

double cross_score(PriorSolver& solver, const Folds& folds, const Folds& judge, double weight,
                   bool center, int threads)
{
    std::array<std::optional<PriorSolver::Solved>, 2> solved;
    parallel_for(2, threads, [&](int half) { solved[half] = solver.solve(folds[half], weight); });
    if (!solved[0] || !solved[1]) return kInfinity;
    if (center) solver.center_on(*solved[0], *solved[1]);
    return judge[1].residual(solved[0]->solution.value) +
           judge[0].residual(solved[1]->solution.value);
}

class Identifier {
  public:
    Identifier(const MotionSource& motion, const IdentifyOptions& options,
               const std::function<bool(double)>& keep_going)
        : options_(options),
          keep_going_(keep_going),
          reader_(motion, options),
          solver_(reader_.cloth(), options.iterative)
    {
    }

    Identification run();

  private:
    void progress(double share) const
    {
        if (keep_going_ && !keep_going_(share)) {
            throw Failure("identify: interrupted; nothing was written");
        }
    }
    std::vector<Scheme> weak_schemes(bool instruments) const;
    std::vector<Folds> accumulate(const std::vector<Scheme>& schemes) const;
    Choice choose(const std::vector<Folds>& sums);
    void answer(const Scheme& scheme, const NormalBlocks& blocks, double weight,
                Identification& result) const;
    NormalBlocks::Scores scores(const Scheme& scheme, const NormalBlocks& blocks,
                                const Eigen::VectorXd& solution) const;
    void add_errors(const Scheme& scheme, const NormalBlocks& blocks, double weight,
                    const Eigen::VectorXd& solution, Identification& result) const;

    const IdentifyOptions& options_;
    const std::function<bool(double)>& keep_going_;
    BalanceReader reader_;
    PriorSolver solver_;
};

std::vector<Scheme> Identifier::weak_schemes(bool instruments) const
{
    const double interval = reader_.interval();
    std::vector<Scheme> result;
    if (options_.window > 0) {
        Scheme asked{BalanceForm::weak, instruments, 0};
        // Longer than any rollout is the same as twice as long, and has no windows either.
        const double longest = 2 * double(reader_.longest());
        asked.half_width = int(std::lround(std::min(options_.window / interval, longest)));
        const std::size_t least = kFewestFrames * asked.frame_step();
        if (std::size_t(asked.half_width) < least) {
            throw Error(
                "identify: a window of {} s on each side of its middle, with frames {} s apart; "
                "give {} frames at least",
                options_.window, interval, least);
        }
        return {asked};
    }
    for (const int half : kHalfWidths) {
        if (instruments && half == kHalfWidths[0]) continue;  // too few frames of each parity
        const bool too_long =
            half * interval > kLongestWindow || std::size_t(4 * half) > reader_.shortest();
        if (too_long && !result.empty()) break;
        result.push_back({BalanceForm::weak, instruments, half});
    }
    return result;
}

std::vector<Folds> Identifier::accumulate(const std::vector<Scheme>& schemes) const
{
    const NormalBlocks none(reader_.cloth());
    std::vector<Folds> sums(schemes.size(), Folds{none, none});
    const std::vector<std::size_t>& rollouts = reader_.rollouts();
    const double total = double(rollouts.size() * schemes.size());
    for (std::size_t i = 0; i < rollouts.size(); ++i) {
        for (std::size_t s = 0; s < schemes.size(); ++s) {
            const std::vector<Piece> pieces = reader_.pieces(schemes[s], rollouts[i]);
            for (std::size_t n = 0; n < pieces.size(); ++n) {
                // Halves of the rollouts, or of the only one.
                const bool second = rollouts.size() > 1 ? i % 2 == 1 : 2 * n >= pieces.size();
                reader_.with_rows(schemes[s], pieces[n], [&](const BalancePair& rows) {
                    sums[s][second].add(rows, reader_.threads());
                });
            }
            progress(0.7 * double(i * schemes.size() + s + 1) / total);
        }
    }
    return sums;
}

Choice Identifier::choose(const std::vector<Folds>& sums)
{
    const std::size_t reference = sums.size() / 2;  // all are judged by the same windows
    Choice best;
    bool centered = false;
    const auto score = [&](std::size_t scheme, double weight) {
        const auto run = [&] {
            return cross_score(solver_, sums[scheme], sums[reference], weight, !centered,
                               reader_.threads());
        };
        double value = run();
        if (!centered && std::isfinite(value)) {  // all are judged with the same centre
            centered = true;
            value = run();
        }
        if (value < best.score) best = {scheme, weight, value};
        return value;
    };
    const double given = options_.prior;
    for (std::size_t s = 0; s < sums.size(); ++s) {
        if (given >= 0) {
            score(s, given);
        } else {  // the weakest prior that will do
            for (const double weight : kPriors) {
                if (std::isfinite(score(s, weight))) break;
            }
        }
        progress(0.7 + 0.15 * double(s + 1) / double(sums.size()));
    }
    if (given >= 0) return best;
    for (const double weight : kPriors) {
        if (!(weight > best.weight)) continue;
        const double before = best.score;
        if (!(score(best.scheme, weight) < before)) break;
    }
    return best;
}

void Identifier::answer(const Scheme& scheme, const NormalBlocks& blocks, double weight,
                        Identification& result) const
{
    const std::optional<PriorSolver::Solved> solved = solver_.solve(blocks, weight);
    if (!solved) {
        throw Failure(
            "identify: the motion does not determine the springs even with a prior of {}; give "
            "more motion, or learn by gradient",
            weight);
    }
    const BoundedSolution& solution = solved->solution;
    const int kinds = reader_.cloth().springs.kind_count();
    result.form = scheme.form;
    result.instruments = scheme.instruments;
    result.window = scheme.half_width * reader_.interval();
    result.prior = weight;
    result.cloth = reader_.cloth();
    result.held_count.assign(kinds, 0);
    for (Eigen::Index i = 0; i < solution.value.size(); ++i) {
        result.cloth.springs.parameters(int(i % kinds))[i / kinds] = solution.value[i];
        result.held_count[i % kinds] += solution.held[i];
    }
    progress(0.9);
    add_errors(scheme, blocks, weight, solution.value, result);
}

// The scores of all groups of stretches at the solution.
NormalBlocks::Scores Identifier::scores(const Scheme& scheme, const NormalBlocks& blocks,
                                        const Eigen::VectorXd& solution) const
{
    const std::size_t rollouts = reader_.rollouts().size();
    const std::size_t cuts = (kFewestStretches + rollouts - 1) / rollouts;
    NormalBlocks::Scores sum(blocks.unknown_count(), kStretchGroups);
    for (std::size_t r = 0; r < rollouts; ++r) {
        const std::size_t frames = reader_.frame_count(reader_.rollouts()[r]);
        for (const Piece& piece : reader_.pieces(scheme, reader_.rollouts()[r])) {
            std::vector<int> group;
            for (std::size_t i = 0; i < piece.place_count(); ++i) {
                const std::size_t stretch = r * cuts + piece.frame_of(i) * cuts / frames;
                group.push_back(static_cast<int>(stretch % kStretchGroups));
            }
            reader_.with_rows(scheme, piece, [&](const BalancePair& rows) {
                sum.add(blocks.scores(rows, solution, group, kStretchGroups, reader_.threads()));
            });
        }
    }
    return sum;
}

// The inverse of the information matrix says how errors are shared out; how large they are is
// calibrated by how much the scores of separate stretches of motion scatter, which knows about
// correlated rows. A stretch pulls the solution towards itself, so that its score is too small, by
// the root of the share that other stretches have in the information (the correction that Bell and
// McCaffrey 2002 call CR2, by the diagonal).
void Identifier::add_errors(const Scheme& scheme, const NormalBlocks& blocks, double weight,
                            const Eigen::VectorXd& solution, Identification& result) const
{
    std::vector<char> seen;
    const BoundedSystem system = solver_.system(blocks, weight, &seen);
    const NormalBlocks::Scores sum = scores(scheme, blocks, solution);
    result.equation_count = blocks.row_count();
    result.equation_error = std::sqrt(sum.squares / double(std::max(result.equation_count, 1L)));

    Eigen::VectorXd scatter = Eigen::VectorXd::Zero(solution.size()), inverse;
    parallel_for(2, reader_.threads(), [&](int task) {
        if (task == 0) {
            inverse = inverse_diagonal(system.matrix);
            return;
        }
        const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factor(system.matrix);
        const Eigen::ArrayXd information = system.matrix.diagonal();
        for (int g = 0; g < kStretchGroups; ++g) {
            const Eigen::ArrayXd of_others =
                (1 - sum.information.col(g).array() / information).max(kLeastShareOfOthers);
            const Eigen::VectorXd score = sum.of_group.col(g).array() / of_others.sqrt();
            scatter += factor.solve(score).cwiseAbs2();
        }
    });
    const int kinds = reader_.cloth().springs.kind_count();
    SpringErrors errors;
    errors.parameters.assign(
        kinds, std::vector<double>(reader_.cloth().springs.spring_count(), kInfinity));
    for (int k = 0; k < kinds; ++k) {
        double ratio = 0, count = 0;
        for (Eigen::Index i = k; i < solution.size(); i += kinds) {
            if (!seen[i]) continue;
            ratio += scatter[i] / inverse[i];
            count += 1;
        }
        if (count == 0) continue;
        const double variance = ratio / count;  // of a row that stands for itself alone [N^2]
        for (Eigen::Index i = k; i < solution.size(); i += kinds) {
            if (seen[i]) errors.parameters[k][i / kinds] = std::sqrt(variance * inverse[i]);
        }
        if (k > 0) continue;
        const double weight_of_window =
            scheme.form == BalanceForm::force ? 1 : reader_.test_function(scheme).integral;
        errors.force = std::sqrt(variance * reader_.row_interval(scheme)) / weight_of_window;
    }
    result.cloth.errors = errors;
    for (std::size_t s = 0; s < reader_.cloth().springs.spring_count(); ++s) {
        const auto first = seen.begin() + static_cast<std::ptrdiff_t>(s) * kinds;
        if (std::count(first, first + kinds, 1) == 0) result.unseen.push_back(static_cast<int>(s));
    }
}

Identification Identifier::run()
{
    const auto begin = std::chrono::steady_clock::now();
    Identification result;
    const bool force = options_.form != BalanceForm::weak && reader_.has_accelerations();
    if (options_.form == BalanceForm::force && !force) {
        throw Error(
            "identify: the force form needs stored velocities and accelerations, and this motion "
            "has none; use the weak form");
    }
    if (!force) result.noise = reader_.measure_noise();
    const bool matters = result.noise.level > kHarmlessNoise * smallest_spacing(reader_.cloth());
    bool instruments =
        options_.instruments == Instruments::frames ||
        (options_.instruments == Instruments::automatic && result.noise.white && matters);
    for (;;) {
        const std::vector<Scheme> schemes =
            force ? std::vector<Scheme>{{}} : weak_schemes(instruments);
        const std::vector<Folds> sums = accumulate(schemes);
        const Choice choice = choose(sums);
        const NormalBlocks blocks = sum_of(sums[choice.scheme]);
        if (blocks.row_count() == 0) {
            throw Error(
                "identify: the motion has no {} in which all neighbours of a particle are seen; "
                "give longer rollouts, fewer gaps, or a shorter window",
                force ? "frame" : "window");
        }
        if (std::isfinite(choice.score) || !instruments ||
            options_.instruments == Instruments::frames) {
            answer(schemes[choice.scheme], blocks, choice.weight, result);
            break;
        }
        instruments = false;  // too little motion for products of separate frames
    }
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result;
}

}  // namespace

Identification identify(const MotionSource& motion, const IdentifyOptions& options,
                        const std::function<bool(double share)>& keep_going)
{
    if (motion.header.contact) {
        throw Error(
            "identify: in this motion the cloth could touch obstacles or itself, and those forces "
            "would be taken for springs; learn from motion without contact");
    }
    if (!std::isfinite(options.window) || options.window < 0) {
        throw Error("identify: a window of {} s; give a finite one, or zero to have it chosen",
                    options.window);
    }
    if (!std::isfinite(options.prior)) {
        throw Error(
            "identify: a prior of weight {}; give a finite one, or a negative one to have "
            "it chosen",
            options.prior);
    }
    return Identifier(motion, options, keep_going).run();
}

}  // namespace springtime
