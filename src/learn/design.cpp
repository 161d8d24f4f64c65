#include "springtime/identify.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "core/parallel.h"
#include "core/quantile.h"
#include "learn/balance.h"
#include "learn/balance_rows.h"
#include "learn/unknowns.h"
#include "learn/work.h"
#include "springtime/error.h"
#include "springtime/generate.h"

namespace springtime {

namespace {

constexpr std::array kCorners{"corner-nw", "corner-ne", "corner-sw", "corner-se"};
constexpr std::array kEdges{"edge-north", "edge-south", "edge-west", "edge-east"};
constexpr const char* kCenter = "center";
constexpr std::size_t kFramesAtATime = 64;  // frames held in memory at a time, for each thread
constexpr double kWorkOfStep = 200;  // of a particle [multiplications]; a guess, for progress
// A standard error of zero, from motion without any noise, would be infinite information.
constexpr double kLeastError = 1e-12;  // of the size of the parameter

// Every choice of corners, every edge, the centre, the centre and a corner.
std::vector<std::vector<std::string>> pin_choices()
{
    std::vector<std::vector<std::string>> choices;
    for (unsigned mask = 1; mask < 1U << kCorners.size(); ++mask) {
        auto& corners = choices.emplace_back();
        for (std::size_t i = 0; i < kCorners.size(); ++i) {
            if (mask >> i & 1U) corners.emplace_back(kCorners[i]);
        }
    }
    for (const char* edge : kEdges) choices.push_back({edge});
    choices.push_back({kCenter});
    for (const char* corner : kCorners) choices.push_back({kCenter, corner});
    return choices;
}

std::string name_for(const std::vector<std::string>& pins)
{
    std::string name = "pin " + pins[0];
    for (std::size_t i = 1; i < pins.size(); ++i) {
        name += (i + 1 < pins.size() ? ", " : " and ") + pins[i];
    }
    return name;
}

// Without those that hold the same particles, or all of them, as happens on the smallest cloths.
std::vector<Experiment> candidates(const Cloth& cloth)
{
    std::vector<Experiment> all;
    std::set<std::vector<int>> known;
    for (const std::vector<std::string>& pins : pin_choices()) {
        std::set<int> particles;
        for (const std::string& pin : pins) {
            const std::vector<int> named = particles_named(cloth, pin);
            particles.insert(named.begin(), named.end());
        }
        const std::vector<int> pinned(particles.begin(), particles.end());
        if (pinned.size() == cloth.particle_count() || !known.insert(pinned).second) continue;
        all.push_back({name_for(pins), pins, pinned, 0, 0, 0});
    }
    return all;
}

// Weighs experiments against what is known. Parameters are measured in their standard errors s, so
// that H is the unit matrix and H + dH is 1 + s dH s.
class Scales {
  public:
    Scales(const Cloth& cloth, const DesignOptions& options)
        : cloth_(cloth),
          options_(options),
          unknowns_(cloth),
          elimination_(NormalBlocks(cloth).elimination(cloth.rest))
    {
        const ParameterValues errors = known_errors(cloth);
        const ParameterValues sizes = parameter_sizes(cloth);
        error_.resize(static_cast<Eigen::Index>(unknowns_.size()));
        for (std::size_t k = 0; k < errors.size(); ++k) {
            for (std::size_t e = 0; e < errors[k].size(); ++e) {
                const double known = std::max(errors[k][e], kLeastError * sizes[k][e]);
                error_[static_cast<Eigen::Index>(unknowns_.number(k, e))] =
                    known / unknowns_.scale(k, e);
            }
        }
        const int substeps = stable_substeps(cloth, options.environment, options.dt);
        run_.dt = options.dt / substeps;
        run_.stride = options.stride * substeps;
        run_.seconds = options.seconds;
        run_.environment = options.environment;
        check();
    }

    // Fills in what the experiment would tell. False when it blows up.
    bool weigh(Experiment& experiment, Work& work) const;
    // Of one experiment. [multiplications]
    double work() const;

  private:
    void check() const;
    std::optional<NormalBlocks> balance(const std::vector<int>& pinned, Work& work) const;
    std::size_t frame_count() const
    {
        return std::size_t(std::llround(run_.seconds / (run_.dt * run_.stride))) + 1;
    }
    double work_of_frame() const
    {
        return kWorkOfStep * double(cloth_.particle_count()) * run_.stride;
    }
    double median_error(const Eigen::VectorXd& errors, ParameterRole role) const;

    const Cloth& cloth_;
    const DesignOptions& options_;
    Unknowns unknowns_;
    Elimination elimination_;
    Eigen::VectorXd error_;  // known so far, by unknown of the balance
    GenerateOptions run_;
};

void Scales::check() const
{
    if (cloth_.errors->force == 0) {
        throw Error(
            "design: the noise of the force balance, springs.errors.force, is 0, so that any "
            "motion would tell everything; identify the cloth from recorded motion, or set it in "
            "the file to what recording will have");
    }
    GenerateOptions run = run_;
    run.pinned = {0};
    check_generate(cloth_, run);
}

double Scales::work() const
{
    constexpr double kFactorAndInverse = 3;  // in factors
    return double(frame_count()) * (work_of_frame() + NormalBlocks(cloth_).work_per_place()) +
           kFactorAndInverse * elimination_.multiplications();
}

std::optional<NormalBlocks> Scales::balance(const std::vector<int>& pinned, Work& work) const
{
    GenerateOptions run = run_;
    run.pinned = pinned;
    const RolloutStart start = random_start(cloth_, run, 0);
    Simulation simulation(cloth_, start.state, start.handles,
                          {run.dt, run.environment, Device::automatic});
    NormalBlocks blocks(cloth_);
    const std::size_t frames = frame_count();
    double told = 0;
    const auto count = [&](const ProgressUpdate& update) {
        work.add(std::max(0.0, update.done - told) * work_of_frame());
        told = update.done;
        return true;
    };
    for (std::size_t first = 0; first < frames; first += kFramesAtATime) {
        if (first > 0 && simulation.advance(run.stride)) return std::nullopt;
        told = 0;
        const Recording piece = record(simulation, std::min(kFramesAtATime, frames - first),
                                       run.stride, Progress(count));
        if (piece.blow_up) return std::nullopt;
        const BalanceRows rows = force_rows(cloth_, run.environment, piece.rollout, 1);
        blocks.add(BalancePair{rows, rows}, 1);
        work.add(blocks.work_per_place() * double(rows.place_count));
    }
    return blocks;
}

// Of the first parameter of that role.
double Scales::median_error(const Eigen::VectorXd& errors, ParameterRole role) const
{
    const std::vector<Parameter>& parameters = unknowns_.parameters();
    const auto first =
        std::find_if(parameters.begin(), parameters.end(),
                     [&](const Parameter& parameter) { return parameter.kind->role == role; });
    const auto k = static_cast<std::size_t>(first - parameters.begin());
    std::vector<double> values;
    for (std::size_t e = 0; e < element_count(cloth_, first->kind->element); ++e) {
        values.push_back(unknowns_.scale(k, e) *
                         errors[static_cast<Eigen::Index>(unknowns_.number(k, e))]);
    }
    return quantile(values, 0.5);
}

bool Scales::weigh(Experiment& experiment, Work& work) const
{
    const std::optional<NormalBlocks> blocks = balance(experiment.pinned, work);
    if (!blocks) return false;
    const double noise = cloth_.errors->force;
    const double frame_interval = options_.dt * options_.stride;
    Eigen::SparseMatrix<double> matrix = blocks->assemble().matrix;
    matrix = error_.asDiagonal() * matrix * error_.asDiagonal();
    matrix *= frame_interval / (noise * noise);
    for (Eigen::Index i = 0; i < error_.size(); ++i) matrix.coeffRef(i, i) += 1;
    SolveAids aids;
    aids.elimination = &elimination_;
    aids.work = &work;
    const FactoredSystem factored(matrix, aids);
    experiment.gain = factored.log_determinant() / 2;
    const Eigen::VectorXd after = error_.cwiseProduct(factored.inverse_diagonal().cwiseSqrt());
    experiment.stiffness_error = median_error(after, ParameterRole::stiffness);
    experiment.damping_error = median_error(after, ParameterRole::damping);
    return true;
}

}  // namespace

std::vector<Experiment> rank_experiments(const Cloth& cloth, const DesignOptions& options,
                                         const Progress& progress)
{
    check_cloth(cloth, "design");
    const Scales scales(cloth, options);
    std::vector<Experiment> experiments = candidates(cloth);
    std::vector<char> sound(experiments.size(), 0);
    Work work(progress, "experiments");
    work.expect(double(experiments.size()) * scales.work());
    parallel_for(static_cast<int>(experiments.size()), thread_count(options.threads),
                 [&](int i) { sound[i] = scales.weigh(experiments[i], work); });
    progress.report({"experiments", 1, 1, {}, {}});
    std::vector<Experiment> ranking;
    for (std::size_t i = 0; i < experiments.size(); ++i) {
        if (sound[i]) ranking.push_back(std::move(experiments[i]));
    }
    std::stable_sort(ranking.begin(), ranking.end(),
                     [](const Experiment& a, const Experiment& b) { return a.gain > b.gain; });
    return ranking;
}

}  // namespace springtime
