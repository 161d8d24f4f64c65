#include "springtime/identify.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "core/parallel.h"
#include "learn/balance.h"
#include "learn/balance_reader.h"
#include "learn/identification_errors.h"
#include "learn/noise.h"
#include "learn/noisy_mesh.h"
#include "learn/prior_solver.h"
#include "learn/rank_balance.h"
#include "learn/unknowns.h"
#include "learn/work.h"
#include "springtime/error.h"
#include "springtime/learn.h"

namespace springtime {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Half widths of test functions that are tried [frames], and the longest. [s]
constexpr std::array kHalfWidths{12, 16, 24, 32, 48, 64, 96};
constexpr double kLongestWindow = 1.7;
// Weights of the prior that are tried.
constexpr std::array kPriors{1e-11, 1e-9, 1e-7, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1};
// Weights of the pull between neighbours on a mesh. Where there is noise, it drowns the damping and
// the bending of single elements first, so these begin close to homogeneous.
constexpr std::array kNeighbourPriors{1e-11, 1e-9, 1e-7, 1e-5, 1e-4, 1e-3, 1e-2,
                                      1e-1,  1.0,  1e1,  1e2,  1e3,  1e4};
constexpr PriorWeights kNoisyMesh{1e-2, 1e1, 1e0, 1e2};
// A stronger prior biases more, which the standard errors do not know: it must predict better by
// this share. On 32 rollouts with 1 cm of noise the halves would else take a prior of 1e-3, better
// by 2 %, which draws stiffness down by 2 N/m where noise alone leaves 0.9.
constexpr double kWorthABias = 0.05;
// Of the squares of all forces: a residual of 1e-4 of the forces has nothing to do with noise.
constexpr double kExplained = 1e-8;
constexpr const char* kStage = "solve";
// For what is expected of the work: priors that are tried, and what standard errors take,
// in factorisations: one, and the selected inverse, which takes twice as much.
constexpr double kUsualPriors = 4, kWorkOfErrors = 3;

double seconds_since(std::chrono::steady_clock::time_point begin)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

PriorWeights all_weights(double weight)
{
    return {weight, weight, weight, weight};
}

NormalBlocks sum_of(const Folds& folds)
{
    NormalBlocks sum = folds[0];
    sum.add(folds[1]);
    return sum;
}

// Which scheme and prior predict the balance of one half of the motion best when solved from the
// other half.
struct Choice {
    Scheme scheme;
    PriorWeights weights = all_weights(kPriors[0]);
    double score = kInfinity;
    std::optional<Folds> folds;
};

class Identifier {
  public:
    Identifier(const Motion& motion, const IdentifyOptions& options, const Progress& progress)
        : options_(options),
          progress_(progress),
          work_(progress, kStage),
          reader_(motion, options),
          unknowns_(reader_.cloth(), options.regions),
          solver_(reader_.cloth(), options.regions)
    {
        if (!options.crew || options.crew->count() == 1) return;
        ranks_.emplace(*options.crew, reader_, options.regions, options.threads,
                       [this] { work_.wait(); });
    }

    Identification run();

  private:
    std::vector<Scheme> weak_schemes(Instruments instruments, double noise) const;
    Folds accumulate(const Scheme& scheme);
    double cross_score(const Folds& folds, const PriorWeights& weights);
    double score(const Folds& folds, const PriorWeights& weights);
    bool try_scheme(const Scheme& scheme);
    // With fewer equations than parameters the prior alone would speak.
    long least_rows() const { return long(unknowns_.size()); }
    void choose_window(const std::vector<Scheme>& schemes);
    void strengthen(double PriorWeights::*kind);
    void weigh_neighbours();
    bool explains(double score) const;
    // Priors between neighbours, not those of families.
    bool is_mesh() const { return reader_.cloth().triangles.triangle_count() > 0; }
    const Choice& choose(const std::vector<Scheme>& schemes);
    void answer(const Scheme& scheme, const NormalBlocks& blocks, const PriorWeights& weights,
                Identification& result);
    // Of the work: so many schemes, so many scores and the answer are still to come.
    void expect(const Scheme& scheme, double schemes, double scores);
    double work_of_rows(const Scheme& scheme) const;
    const IdentifyOptions& options_;
    const Progress& progress_;
    Work work_;
    BalanceReader reader_;
    std::optional<RankBalance> ranks_;  // nothing: this process is alone
    Unknowns unknowns_;
    PriorSolver solver_;
    bool centered_ = false;  // the prior
    std::optional<Folds> judge_;
    Choice best_;
    // What was at its bound in the last solutions of both halves: few unknowns change sides when
    // the window or the prior does.
    std::array<std::vector<bool>, 2> held_;
    double solves_ = 2;  // of unbounded systems, in the last solution
};

double Identifier::work_of_rows(const Scheme& scheme) const
{
    const auto places = double(reader_.place_count(scheme));
    const double looks = scheme.instruments == Instruments::none ? 1 : 2;
    return places * looks * NormalBlocks(reader_.cloth(), options_.regions).work_per_place();
}

void Identifier::expect(const Scheme& scheme, double schemes, double scores)
{
    const double rows = work_of_rows(scheme), factor = solver_.elimination().multiplications();
    const double of_score = 2 * solves_ * factor, of_answer = (solves_ + kWorkOfErrors) * factor;
    work_.expect(schemes * (rows + of_score) + scores * of_score + rows + of_answer);
}

// How well each half is predicted from the other, judged by the windows of the first scheme.
double Identifier::cross_score(const Folds& folds, const PriorWeights& weights)
{
    std::array<std::optional<PriorSolver::Solved>, 2> solved;
    const int threads = reader_.threads();
    parallel_for(2, threads, [&](int half) {
        solved[half] =
            solver_.solve(folds[half], weights, held_[half], std::max(1, threads / 2), work_);
    });
    if (!solved[0] || !solved[1]) return kInfinity;
    solves_ = 0.5 * (solved[0]->solution.solves + solved[1]->solution.solves);
    for (int half = 0; half < 2; ++half) held_[half] = solved[half]->solution.held;
    if (!centered_) solver_.center_on(*solved[0], *solved[1]);
    return (*judge_)[1].residual(solved[0]->solution.value) +
           (*judge_)[0].residual(solved[1]->solution.value);
}

std::vector<Scheme> Identifier::weak_schemes(Instruments instruments, double noise) const
{
    const double interval = reader_.interval();
    std::vector<Scheme> result;
    if (options_.window) {
        Scheme asked{BalanceForm::weak, instruments, 0, noise};
        // Longer than any rollout is the same as twice as long, and has no windows either.
        const double longest = 2 * double(reader_.longest());
        asked.half_width = int(std::lround(std::min(*options_.window / interval, longest)));
        const std::size_t least = kFewestFrames * asked.frame_step();
        if (std::size_t(asked.half_width) < least) {
            throw Error(
                Field{"window"},
                "identify: a window of {} s on each side of its middle, with frames {} s apart; "
                "give {:.3g} s at least, for {} frames",
                *options_.window, interval, double(least) * interval, least);
        }
        return {asked};
    }
    for (const int half : kHalfWidths) {
        const bool few = instruments == Instruments::frames && half == kHalfWidths[0];
        if (few) continue;  // frames of each parity
        const bool too_long =
            half * interval > kLongestWindow || std::size_t(4 * half) > reader_.shortest();
        if (too_long && !result.empty()) break;
        result.push_back({BalanceForm::weak, instruments, half, noise});
    }
    return result;
}

Folds Identifier::accumulate(const Scheme& scheme)
{
    const NormalBlocks none(reader_.cloth(), options_.regions);
    const double looks = scheme.instruments == Instruments::none ? 1 : 2;
    const double of_place = looks * none.work_per_place();
    const auto done = [&](const Piece& piece) {
        work_.add(of_place * double(piece.place_count()));
    };
    if (ranks_) return ranks_->accumulate(scheme, none, done);
    Folds sums{none, none};
    const std::size_t rollouts = reader_.rollouts().size();
    for (std::size_t r = 0; r < rollouts; ++r) {
        for (const Piece& piece : reader_.pieces(scheme, r)) {
            reader_.with_rows(scheme, piece, [&](const BalancePair& rows) {
                sums[piece.fold].add(rows, reader_.threads());
            });
            done(piece);
        }
    }
    return sums;
}

double Identifier::score(const Folds& folds, const PriorWeights& weights)
{
    const double value = cross_score(folds, weights);
    if (centered_ || !std::isfinite(value)) return value;
    centered_ = true;  // all are judged with the same centre, where the prior can be felt at all
    return weights == all_weights(kPriors[0]) ? value : cross_score(folds, weights);
}

// A stronger prior on one kind of parameter, as long as that predicts clearly better. Products of
// two subsets can sum to less than nothing.
void Identifier::strengthen(double PriorWeights::*kind)
{
    for (const double weight : kPriors) {
        if (!(weight > best_.weights.*kind)) continue;
        PriorWeights stronger = best_.weights;
        stronger.*kind = weight;
        expect(best_.scheme, 0, 2);
        const double value = score(*best_.folds, stronger);
        if (!(value < best_.score - kWorthABias * std::abs(best_.score))) break;
        best_.weights = stronger;
        best_.score = value;
    }
}

bool Identifier::explains(double score) const
{
    const double squares = (*judge_)[0].squares() + (*judge_)[1].squares();
    return std::abs(score) < kExplained * squares;
}

// Each weight in turn goes up or down the ladder as long as that predicts better.
void Identifier::weigh_neighbours()
{
    const auto better_with = [&](double PriorWeights::*kind, double weight) {
        PriorWeights other = best_.weights;
        other.*kind = weight;
        expect(best_.scheme, 0, 4);
        const double value = score(*best_.folds, other);
        if (!(value < best_.score)) return false;
        best_.weights = other;
        best_.score = value;
        return true;
    };
    for (const auto kind : {&PriorWeights::stiffness, &PriorWeights::bending,
                            &PriorWeights::damping, &PriorWeights::bending_damping}) {
        const auto begin = kNeighbourPriors.begin(), end = kNeighbourPriors.end();
        auto at = std::find(begin, end, best_.weights.*kind);
        bool weaker = false;
        while (at != begin && better_with(kind, *(at - 1))) {
            --at;
            weaker = true;
        }
        while (!weaker && at + 1 != end && better_with(kind, *(at + 1))) ++at;
    }
}

// Takes a scheme where it predicts better than the best so far. The first that has rows in both
// halves judges all.
bool Identifier::try_scheme(const Scheme& scheme)
{
    Choice found{scheme, all_weights(kPriors[0]), kInfinity, {}};
    if (options_.prior) found.weights = all_weights(*options_.prior);
    found.folds = accumulate(scheme);
    const bool has_rows =
        (*found.folds)[0].row_count() > 0 && (*found.folds)[1].row_count() > 0 &&
        (*found.folds)[0].row_count() + (*found.folds)[1].row_count() >= least_rows();
    if (has_rows && !judge_) judge_ = found.folds;
    if (has_rows && options_.prior) {
        found.score = score(*found.folds, found.weights);
    } else if (has_rows && is_mesh()) {
        found.score = score(*found.folds, found.weights);
        if (!explains(found.score)) {
            found.weights = kNoisyMesh;
            found.score = score(*found.folds, found.weights);
        }
    } else if (has_rows) {
        for (const double weight : kPriors) {  // the weakest that will do
            found.weights = all_weights(weight);
            found.score = score(*found.folds, found.weights);
            if (std::isfinite(found.score)) break;
        }
    }
    const bool better = !best_.folds || found.score < best_.score;
    if (better) best_ = std::move(found);
    return better;
}

// Goes from window to window as long as that predicts better: from the middle one to shorter ones,
// which gaps leave more of; and if those are worse, to longer ones, which average more noise out.
void Identifier::choose_window(const std::vector<Scheme>& schemes)
{
    // Of more than one, three are usual: the middle one, the next one, and one that is worse.
    const std::size_t middle = schemes.size() / 2;
    const double priors = options_.prior || schemes.size() == 1 ? 0 : kUsualPriors;
    expect(schemes[middle], schemes.size() > 1 ? 3 : 1, priors);
    try_scheme(schemes[middle]);
    const bool too_noisy = judge_ && !std::isfinite(best_.score);
    bool shorter = false;
    for (std::size_t i = middle; !too_noisy && i-- > 0;) {
        expect(schemes[i], shorter ? 2 : 3, priors);
        const bool better = try_scheme(schemes[i]);
        shorter = shorter || better;
        if (!better && std::isfinite(best_.score)) break;
    }
    for (std::size_t i = middle + 1; !shorter && i < schemes.size(); ++i) {
        expect(schemes[i], i == middle + 1 ? 2 : 1, priors);
        if (!try_scheme(schemes[i]) && std::isfinite(best_.score)) break;
    }
}

const Choice& Identifier::choose(const std::vector<Scheme>& schemes)
{
    judge_.reset();
    best_ = {};
    choose_window(schemes);
    if (options_.prior || !std::isfinite(best_.score)) return best_;
    // Where next to nothing is left unexplained, no prior can help.
    if (explains(best_.score)) return best_;
    if (is_mesh()) {
        weigh_neighbours();
        return best_;
    }
    if (best_.weights.stiffness > kPriors[0]) {  // damping may have been what needed it
        PriorWeights weaker = best_.weights;
        weaker.stiffness = kPriors[0];
        const double value = score(*best_.folds, weaker);
        if (value < best_.score) best_.weights = weaker;
        best_.score = std::min(value, best_.score);
    }
    strengthen(&PriorWeights::damping);
    strengthen(&PriorWeights::stiffness);
    return best_;
}

void Identifier::answer(const Scheme& scheme, const NormalBlocks& blocks,
                        const PriorWeights& weights, Identification& result)
{
    expect(scheme, 0, 0);
    std::vector<bool> held = held_[0];
    for (std::size_t i = 0; i < held.size(); ++i) held[i] = held[i] && held_[1][i];
    const std::optional<PriorSolver::Solved> solved =
        solver_.solve(blocks, weights, held, reader_.threads(), work_);
    if (!solved) {
        throw Failure(
            "identify: the motion does not determine the parameters even with a prior of {} for "
            "stiffness and {} for damping; give more motion, or learn by gradient",
            weights.stiffness, weights.damping);
    }
    const BoundedSolution& solution = solved->solution;
    result.form = scheme.form;
    result.instruments = scheme.instruments;
    if (scheme.form == BalanceForm::weak) {
        result.window = scheme.half_width * reader_.interval();
    }
    result.prior = weights;
    result.cloth = reader_.cloth();
    result.held_count.assign(unknowns_.parameters().size(), 0);
    for (std::size_t k = 0; k < unknowns_.parameters().size(); ++k) {
        std::vector<double>& values = values_of(result.cloth, unknowns_.parameters()[k]);
        for (std::size_t e = 0; e < values.size(); ++e) {
            const std::size_t unknown = unknowns_.number(k, e);
            values[e] = unknowns_.scale(k, e) * solution.value[static_cast<Eigen::Index>(unknown)];
            result.held_count[k] += solution.held[unknown];
        }
    }
    ErrorEstimate(reader_, solver_, work_, ranks_ ? &*ranks_ : nullptr)
        .add(scheme, blocks, weights, solution.value, result);
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
    if (!force) result.noise = reader_.measure_noise(work_);
    const bool matters = noise_matters(result.noise, reader_.cloth());
    Instruments instruments = options_.instruments;
    if (instruments == Instruments::automatic) {
        const Instruments suited = is_mesh() ? Instruments::noise : Instruments::frames;
        instruments = result.noise.white && matters ? suited : Instruments::none;
    }
    if (instruments == Instruments::noise && !force) {
        if (!is_mesh()) {
            throw Error(Field{"instruments"},
                        "identify: noise is for triangles; for springs, hold even frames against "
                        "odd ones with `frames`");
        }
        if (auto found = identify_noisy_mesh(reader_, options_, result.noise, work_)) {
            found->seconds = seconds_since(begin);
            progress_.report({kStage, 1, 1, {}, {}});
            return *found;
        }
        instruments = Instruments::none;  // too short for a window of that kind
    }
    for (;;) {
        const std::vector<Scheme> schemes =
            force ? std::vector<Scheme>{{}} : weak_schemes(instruments, result.noise.level);
        const Choice& choice = choose(schemes);
        const NormalBlocks blocks = sum_of(*choice.folds);
        if (blocks.row_count() == 0) {
            throw Error(
                "identify: the motion has no {} in which all neighbours of a particle are seen; "
                "its longest rollout has {} frames, {} s apart: give longer rollouts, fewer gaps, "
                "or a shorter window",
                force ? "frame" : "window", reader_.longest(), reader_.interval());
        }
        if (!options_.prior && blocks.row_count() < least_rows()) {
            throw Failure(
                "identify: {} equations for {} parameters: too many gaps, or too little motion; "
                "give more motion, or learn by gradient",
                blocks.row_count(), least_rows());
        }
        // As strong as it was for the halves, of which the whole has twice the information.
        PriorWeights weights = choice.weights;
        if (!options_.prior) {
            weights = {weights.stiffness / 2, weights.damping / 2, weights.bending / 2,
                       weights.bending_damping / 2};
        }
        if (std::isfinite(choice.score) || instruments == Instruments::none ||
            options_.instruments != Instruments::automatic) {
            answer(choice.scheme, blocks, weights, result);
            break;
        }
        instruments = Instruments::none;  // too little motion for products of separate frames
    }
    progress_.report({kStage, 1, 1, {}, {}});
    result.biased = result.noise.white && matters && result.instruments == Instruments::none;
    result.seconds = seconds_since(begin);
    return result;
}

}  // namespace

std::string_view name_of(Instruments instruments)
{
    switch (instruments) {
        case Instruments::automatic:
            return "auto";
        case Instruments::none:
            return "none";
        case Instruments::frames:
            return "frames";
        case Instruments::noise:
            return "noise";
    }
    return "unknown";
}

Identification identify(const Motion& motion, const IdentifyOptions& options,
                        const Progress& progress)
{
    if (motion.header.contact) {
        throw Error(
            "identify: in this motion the cloth could touch obstacles or itself, and those forces "
            "would be taken for springs; learn from motion without contact");
    }
    if (!options.cloth &&
        make_surrogate(motion.header, options.grid, 1, 1).springs.spring_count() == 0) {
        throw Error("identify: {} x {} particles have no springs of these families; give more",
                    options.grid.rows, options.grid.cols);
    }
    if (options.window && !(std::isfinite(*options.window) && *options.window > 0)) {
        throw Error(Field{"window"}, "identify: a window of {} s; give a finite, positive one",
                    *options.window);
    }
    if (options.prior && !(std::isfinite(*options.prior) && *options.prior >= 0)) {
        throw Error(Field{"prior"},
                    "identify: a prior of weight {}; give a finite one of 0 or more",
                    *options.prior);
    }
    return Identifier(motion, options, progress).run();
}

}  // namespace springtime
