#include "springtime/identify.h"

#include <Eigen/SparseCholesky>
#include <algorithm>
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

// Noise below this share of the shortest spring biases nothing that matters: 1 mm on springs of
// 0.5 m takes a third of the damping away, and the bias falls with the square.
constexpr double kHarmlessNoise = 5e-5;
// Half widths of test functions that are tried [frames], and the longest. [s]
constexpr std::array kHalfWidths{12, 16, 24, 32, 48, 64, 96};
constexpr double kLongestWindow = 1.7;
// Weights of the prior that are tried.
constexpr std::array kPriors{1e-13, 1e-11, 1e-9, 1e-7, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1};
// Frames held in memory at a time.
constexpr std::size_t kChunk = 1024;
// A parameter whose information is below this share of the median of its kind is not seen.
constexpr double kUnseen = 1e-10;
// Scores are summed over stretches of this length [s], at most this many sums: what lies in
// different ones counts as independent.
constexpr double kCluster = 1;
constexpr int kClusters = 64;

enum class Fold { first, second };

// Frames of a rollout that are read together, and the middles of windows among them.
struct Piece {
    std::size_t rollout = 0, first = 0, count = 0;
    std::vector<std::size_t> middles;  // from `first`
};

// How one way of asking is set up.
struct Scheme {
    BalanceForm form = BalanceForm::force;
    bool instruments = false;
    int half_width = 0;  // [frames]

    std::size_t frame_step() const { return instruments ? 2 : 1; }
};

class Identifier {
  public:
    Identifier(const MotionSource& motion, const IdentifyOptions& options,
               const std::function<bool(double)>& keep_going)
        : motion_(motion),
          options_(options),
          keep_going_(keep_going),
          cloth_(make_surrogate(motion.header, options.grid, 1, 1)),
          resampler_(motion.header.rest, cloth_.rest),
          split_(split_rollouts(motion.frame_counts.size(), options.validation_share,
                                options.seed)),
          threads_(thread_count(options.threads))
    {
        set_law(cloth_.springs, options.law);
        kinds_ = cloth_.springs.kind_count();
    }

    Identification run();

  private:
    using Folds = std::array<NormalBlocks, 2>;

    double interval() const { return motion_.header.frame_interval(); }
    Rollout read(std::size_t rollout, std::size_t first, std::size_t count) const
    {
        return resampler_.apply(motion_.read(rollout, first, count), interval());
    }
    void progress(double share) const
    {
        if (keep_going_ && !keep_going_(share)) throw Failure("identify: interrupted");
    }

    NoiseEstimate measure_noise() const;
    std::vector<Scheme> schemes(const NoiseEstimate& noise) const;
    std::vector<Piece> pieces(const Scheme& scheme, std::size_t rollout) const;
    // Calls visit(rows) for a piece under a scheme.
    template <class Visit>
    void with_rows(const Scheme& scheme, const Rollout& particles,
                   const std::vector<std::size_t>& middles, Visit&& visit) const;
    std::vector<Folds> accumulate(const std::vector<Scheme>& schemes) const;

    BoundedSystem with_prior(const NormalBlocks& blocks, double weight) const;
    std::optional<Eigen::VectorXd> solve(const NormalBlocks& blocks, double weight) const;
    void find_center(const NormalBlocks& blocks);
    double cross_score(const Folds& folds, const Folds& judge, double weight) const;
    void add_errors(const Scheme& scheme, const NormalBlocks& blocks, double weight,
                    const Eigen::VectorXd& solution, Identification& result) const;

    const MotionSource& motion_;
    const IdentifyOptions& options_;
    const std::function<bool(double)>& keep_going_;
    Cloth cloth_;
    Resampler resampler_;
    RolloutSplit split_;
    int threads_, kinds_;
    Eigen::VectorXd center_;  // of the prior
};

NoiseEstimate Identifier::measure_noise() const
{
    NoiseMeter meter;
    for (const std::size_t r : split_.training) {
        const std::size_t frames = std::min(motion_.frame_counts[r], kChunk);
        meter.add(Tracks(read(r, motion_.frame_counts[r] - frames, frames)));
    }
    return meter.estimate();
}

std::vector<Scheme> Identifier::schemes(const NoiseEstimate& noise) const
{
    const double shortest = smallest_spacing(cloth_);
    const bool matters = noise.level > kHarmlessNoise * shortest;
    const bool instruments =
        options_.instruments == Instruments::frames ||
        (options_.instruments == Instruments::automatic && noise.white && matters);
    std::size_t frames = SIZE_MAX;
    for (const std::size_t r : split_.training) frames = std::min(frames, motion_.frame_counts[r]);
    std::vector<Scheme> result;
    if (options_.window > 0) {
        result.push_back({BalanceForm::weak, instruments,
                          std::max(1, int(std::lround(options_.window / interval())))});
        return result;
    }
    for (const int half : kHalfWidths) {
        const Scheme scheme{BalanceForm::weak, instruments, half};
        if (instruments && half == kHalfWidths[0]) continue;  // too few frames of each parity
        const bool long_one = half * interval() > kLongestWindow || std::size_t(4 * half) > frames;
        if (long_one && !result.empty()) break;
        result.push_back(scheme);
    }
    return result;
}

std::vector<Piece> Identifier::pieces(const Scheme& scheme, std::size_t rollout) const
{
    const std::size_t frames = motion_.frame_counts[rollout];
    std::vector<Piece> result;
    if (scheme.form == BalanceForm::force) {
        for (std::size_t first = 0; first < frames; first += kChunk) {
            result.push_back({rollout, first, std::min(kChunk, frames - first), {}});
        }
        return result;
    }
    const std::size_t margin =
        window_margin(TestFunction(scheme.half_width, interval(), motion_.header.dt),
                      scheme.frame_step());
    const std::size_t hop = std::max(1, scheme.half_width / (getenv("HOP") ? atoi(getenv("HOP")) : 2));
    for (std::size_t middle = margin; middle + margin < frames; middle += hop) {
        const bool fresh = result.empty() || middle + margin >= result.back().first + kChunk;
        if (fresh) result.push_back({rollout, middle - margin, 0, {}});
        Piece& piece = result.back();
        piece.middles.push_back(middle - piece.first);
        piece.count = middle + margin + 1 - piece.first;
    }
    return result;
}

template <class Visit>
void Identifier::with_rows(const Scheme& scheme, const Rollout& particles,
                           const std::vector<std::size_t>& middles, Visit&& visit) const
{
    const MotionHeader& header = motion_.header;
    if (scheme.form == BalanceForm::force) {
        const BalanceRows rows = force_rows(cloth_, header.environment, particles, threads_);
        visit(BalancePair{rows, rows});
        return;
    }
    const TestFunction test(scheme.half_width, interval(), header.dt);
    const Tracks tracks(particles);
    const std::size_t step = scheme.frame_step();
    const BalanceRows one = weak_rows(cloth_, header.environment, tracks, test, middles, {step, 0},
                                      interval(), header.dt, threads_);
    if (!scheme.instruments) {
        visit(BalancePair{one, one});
        return;
    }
    const BalanceRows other = weak_rows(cloth_, header.environment, tracks, test, middles,
                                        {step, 1}, interval(), header.dt, threads_);
    visit(BalancePair{one, other});
}

std::vector<Identifier::Folds> Identifier::accumulate(const std::vector<Scheme>& schemes) const
{
    std::vector<Folds> sums(schemes.size(), Folds{NormalBlocks(cloth_), NormalBlocks(cloth_)});
    for (std::size_t i = 0; i < split_.training.size(); ++i) {
        for (std::size_t s = 0; s < schemes.size(); ++s) {
            const std::vector<Piece> all = pieces(schemes[s], split_.training[i]);
            for (std::size_t n = 0; n < all.size(); ++n) {
                // Halves of the rollouts, or of the only one.
                const bool second =
                    split_.training.size() > 1 ? i % 2 == 1 : 2 * n >= all.size();
                const Piece& piece = all[n];
                with_rows(schemes[s], read(piece.rollout, piece.first, piece.count), piece.middles,
                          [&](const BalancePair& rows) { sums[s][second].add(rows, threads_); });
            }
        }
        progress(0.7 * double(i + 1) / double(split_.training.size()));
    }
    return sums;
}

// The median of what each kind of parameter has on the diagonal.
std::vector<double> medians(const Eigen::VectorXd& values, int kinds)
{
    std::vector<double> result;
    for (int k = 0; k < kinds; ++k) {
        std::vector<double> of_kind;
        for (Eigen::Index i = k; i < values.size(); i += kinds) of_kind.push_back(values[i]);
        const auto middle = of_kind.begin() + static_cast<std::ptrdiff_t>(of_kind.size() / 2);
        std::nth_element(of_kind.begin(), middle, of_kind.end());
        result.push_back(*middle);
    }
    return result;
}

BoundedSystem Identifier::with_prior(const NormalBlocks& blocks, double weight) const
{
    BoundedSystem system = blocks.assemble();
    const Eigen::VectorXd diagonal = system.matrix.diagonal();
    const std::vector<double> typical = medians(diagonal, kinds_);
    for (Eigen::Index i = 0; i < diagonal.size(); ++i) {
        const double scale = typical[i % kinds_];
        const double added = diagonal[i] < kUnseen * scale ? scale - diagonal[i] : weight * scale;
        system.matrix.coeffRef(i, i) += added;
        system.right[i] += added * center_[i];
    }
    return system;
}

std::optional<Eigen::VectorXd> Identifier::solve(const NormalBlocks& blocks, double weight) const
{
    try {
        return solve_bounded(with_prior(blocks, weight), options_.iterative
                                                             ? LinearSolver::iterative
                                                             : LinearSolver::direct)
            .value;
    } catch (const Failure&) {
        return std::nullopt;
    }
}

void Identifier::find_center(const NormalBlocks& blocks)
{
    center_ = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(blocks.unknown_count()));
    for (const double weight : kPriors) {
        const auto solution = solve(blocks, weight);
        if (!solution) continue;
        // The median of each kind in each family.
        for (const SpringFamily family : kSpringFamilies) {
            for (int k = 0; k < kinds_; ++k) {
                std::vector<double> values;
                for (std::size_t s = 0; s < cloth_.springs.spring_count(); ++s) {
                    if (cloth_.springs.family[s] == family) {
                        values.push_back((*solution)[static_cast<Eigen::Index>(s * kinds_ + k)]);
                    }
                }
                if (values.empty()) continue;
                const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
                std::nth_element(values.begin(), middle, values.end());
                for (std::size_t s = 0; s < cloth_.springs.spring_count(); ++s) {
                    if (cloth_.springs.family[s] == family) {
                        center_[static_cast<Eigen::Index>(s * kinds_ + k)] = *middle;
                    }
                }
            }
        }
        return;
    }
}

double Identifier::cross_score(const Folds& folds, const Folds& judge, double weight) const
{
    std::array<double, 2> score{};
    parallel_for(2, threads_, [&](int half) {
        const auto solution = solve(folds[half], weight);
        score[half] = solution ? judge[1 - half].residual(*solution)
                               : std::numeric_limits<double>::infinity();
    });
    return score[0] + score[1];
}

void Identifier::add_errors(const Scheme& scheme, const NormalBlocks& blocks, double weight,
                            const Eigen::VectorXd& solution, Identification& result) const
{
    const BoundedSystem system = with_prior(blocks, weight);
    std::vector<Eigen::VectorXd> clusters(kClusters, Eigen::VectorXd::Zero(solution.size()));
    double squares = 0;
    long count = 0;
    std::size_t number = 0;
    for (const std::size_t r : split_.training) {
        for (const Piece& piece : pieces(scheme, r)) {
            const Rollout particles = read(piece.rollout, piece.first, piece.count);
            with_rows(scheme, particles, piece.middles, [&](const BalancePair& rows) {
                clusters[number % kClusters] +=
                    blocks.score(rows, solution, threads_, squares, count);
            });
            ++number;
        }
    }
    const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factor(system.matrix);
    Eigen::VectorXd sandwich = Eigen::VectorXd::Zero(solution.size());
    for (const Eigen::VectorXd& score : clusters) {
        sandwich += factor.solve(score).cwiseAbs2();
    }
    const Eigen::VectorXd inverse = inverse_diagonal(system.matrix);
    result.equation_error = std::sqrt(squares / double(std::max(count, 1L)));
    result.equation_count = count;
    SpringErrors errors;
    errors.parameters.assign(kinds_, std::vector<double>(cloth_.springs.spring_count()));
    for (Eigen::Index i = 0; i < solution.size(); ++i) {
        errors.parameters[i % kinds_][i / kinds_] =
            getenv("SANDWICH") ? std::sqrt(sandwich[i])
                               : result.equation_error * std::sqrt(inverse[i]);
    }
    result.cloth.errors = errors;
}

Identification Identifier::run()
{
    const auto begin = std::chrono::steady_clock::now();
    Identification result;
    const bool stored = motion_.header.velocities && options_.form != BalanceForm::weak;
    std::vector<Scheme> candidates;
    if (stored) {
        candidates.push_back({BalanceForm::force, false, 0});
    } else {
        result.noise = measure_noise();
        candidates = schemes(result.noise);
    }
    const std::vector<Folds> sums = accumulate(candidates);
    const std::size_t reference = candidates.size() / 2;
    NormalBlocks whole = sums[reference][0];
    whole.add(sums[reference][1]);
    find_center(whole);
    std::size_t best = 0;
    double best_score = std::numeric_limits<double>::infinity(), weight = kPriors[0];
    for (std::size_t s = 0; s < candidates.size(); ++s) {
        for (const double prior : kPriors) {
            const double score = cross_score(sums[s], sums[reference], prior);
            if (getenv("VERBOSE")) fprintf(stderr, "half %d prior %g score %g\n", candidates[s].half_width, prior, score);
            if (score < best_score) {
                best_score = score;
                best = s;
                weight = prior;
            } else if (std::isfinite(score)) {
                break;
            }
        }
    }
    const Scheme scheme = candidates[best];
    whole = sums[best][0];
    whole.add(sums[best][1]);
    const auto solution = solve(whole, weight);
    if (!solution) throw Failure("identify: no prior");
    result.form = scheme.form;
    result.instruments = scheme.instruments;
    result.window = scheme.half_width * interval();
    result.prior = weight;
    result.cloth = cloth_;
    for (Eigen::Index i = 0; i < solution->size(); ++i) {
        result.cloth.springs.parameters(int(i % kinds_))[i / kinds_] = (*solution)[i];
    }
    add_errors(scheme, whole, weight, *solution, result);
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result;
}

}  // namespace

Identification identify(const MotionSource& motion, const IdentifyOptions& options,
                        const std::function<bool(double share)>& keep_going)
{
    return Identifier(motion, options, keep_going).run();
}

}  // namespace springtime
