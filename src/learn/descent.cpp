#include "learn/descent.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <map>

#include "learn/adam.h"
#include "springtime/error.h"

namespace springtime {

int total_iterations(const DescentOptions& options)
{
    int sum = 0;
    for (const Horizon& horizon : options.horizons) sum += horizon.iterations;
    return sum;
}

namespace {

std::vector<ParameterBounds> range_of(const std::vector<Parameter>& parameters,
                                      const ParameterValues& values)
{
    std::vector<ParameterBounds> bounds;
    for (std::size_t k = 0; k < parameters.size(); ++k) {
        const auto [low, high] = std::minmax_element(values[k].begin(), values[k].end());
        bounds.push_back({parameters[k].kind, *low, *high});
    }
    return bounds;
}

// Some sixteen chaotic rollouts tell errors apart to about this factor. Within it, the later
// iteration is taken: the rate falls, and what it averages over is steadier.
constexpr double kHardlyWorse = 1.05;

// The step that the bounds of parameters are made for. Where steps are cut as needed, descents may
// come to need four times as many as the start.
double shortest_step(const TrainingSet& set, const Cloth& start)
{
    constexpr int kMore = 4;
    const double dt = set.step.dt;
    if (set.substeps.count) return dt / *set.substeps.count;
    const auto needed = laddered_substeps(start, set.step.environment, dt);
    return std::max(kShortestStep, dt / (kMore * needed.value_or(1)));
}

class Descent {
  public:
    Descent(const TrainingSet& set, const Cloth& start, const DescentOptions& options,
            int first_iteration)
        : set_(set),
          start_(start),
          options_(options),
          first_iteration_(first_iteration),
          logs_(start, shortest_step(set, start), options.masses, set.options.regions),
          gradient_(set.gradient_of(start, true)),  // zero has no logarithm
          loss_(set.trajectory_loss(options)),
          keeps_(set.keep_for(gradient_))
    {
    }

    TrainResult run(const TrainState* resume, const TrainHooks& hooks, const Progress& progress,
                    const std::string& stage, std::optional<double> start_error);

  private:
    // What an iteration follows, and the whole rollouts that the backend is to keep for it.
    struct Batch {
        std::vector<Trajectory> clips;
        std::map<std::size_t, std::shared_ptr<const Rollout>> whole;
    };

    Batch read(int iteration) const;
    void keep(Batch& batch);
    void begin(std::optional<double> start_error);
    void go_on(const TrainState& state);
    void read_ahead(int iteration);
    std::vector<Clip> clips_of(int iteration) const;
    std::size_t intervals_of(int iteration) const;
    TrainLog iterate();
    ParameterValues gradient_of(const Batch& batch, const ParameterValues& values, TrainLog& log);
    void validate(TrainLog& log);
    void judge(double error, const ParameterValues& values);
    int done() const { return state_.iteration - first_iteration_; }

    const TrainingSet& set_;
    const Cloth& start_;
    const DescentOptions& options_;
    int first_iteration_;
    LogParameters logs_;
    BatchGradient gradient_;
    FrameLoss loss_;
    bool keeps_;  // whether the backend keeps landmarks, and still has room
    TrainState state_;
    std::future<Batch> coming_;
};

// A descent that only makes it worse leaves the start.
void Descent::begin(std::optional<double> start_error)
{
    state_ = logs_.start_from(start_);
    state_.iteration = state_.best_iteration = first_iteration_;
    if (start_error) return judge(*start_error, logs_.values(state_.average));
    TrainLog unused;
    validate(unused);
}

void Descent::go_on(const TrainState& state)
{
    const ParameterValues expected =
        options_.masses ? values_with_masses(start_) : parameters_of(start_);
    const auto fits = [&](const ParameterValues& all) {
        return std::equal(all.begin(), all.end(), expected.begin(), expected.end(),
                          [](const auto& a, const auto& b) { return a.size() == b.size(); });
    };
    if (!fits(state.parameters) || !fits(state.average)) {
        throw Error(
            "train: the checkpoint has {} kinds of parameters, but this law and grid have {} of "
            "other sizes; resume with the settings of the run",
            state.parameters.size(), expected.size());
    }
    state_ = state;
}

// A step of the loop belongs to the horizon that its number falls into.
std::size_t Descent::intervals_of(int iteration) const
{
    double seconds = options_.horizons.back().seconds;
    for (const Horizon& horizon : options_.horizons) {
        seconds = horizon.seconds;
        if (iteration < horizon.iterations) break;
        iteration -= horizon.iterations;
    }
    const double intervals = std::round(seconds / set_.motion.header.frame_interval());
    return std::size_t(std::max(1.0, intervals));
}

std::vector<Clip> Descent::clips_of(int iteration) const
{
    const ClipDraw draw{std::size_t(options_.batch), options_.start_share, options_.seed};
    return draw.clips(set_.motion, set_.split.training, intervals_of(iteration), iteration);
}

void Descent::read_ahead(int iteration)
{
    if (iteration >= total_iterations(options_)) return;
    coming_ = std::async(std::launch::async, [this, iteration] { return read(iteration); });
}

// Landmarks that the backend keeps, or is about to, are not read clip by clip.
Descent::Batch Descent::read(int iteration) const
{
    Batch batch;
    for (const Clip& clip : clips_of(iteration)) {
        const bool kept = gradient_.keeps(clip.rollout);
        if (keeps_ && !kept && !batch.whole.contains(clip.rollout)) {
            batch.whole[clip.rollout] = set_.whole_rollout(clip.rollout);
        }
        batch.clips.push_back(
            set_.trajectories.read(clip, intervals_of(iteration), !keeps_ && !kept));
    }
    return batch;
}

// Where there is no room, clips have landmarks of their own, and later ones are read with them.
void Descent::keep(Batch& batch)
{
    for (const auto& [number, rollout] : batch.whole) {
        keeps_ = keeps_ && gradient_.keep(number, rollout->position, set_.map);
    }
    const std::size_t row = 3 * set_.map.landmark_count();
    for (Trajectory& clip : batch.clips) {
        const auto whole = batch.whole.find(clip.part.rollout);
        if (whole == batch.whole.end() || gradient_.keeps(clip.part.rollout)) continue;
        const auto begin =
            whole->second->position.begin() + std::ptrdiff_t(clip.part.first_frame * row);
        clip.position.assign(begin, begin + std::ptrdiff_t(clip.frame_count * row));
    }
}

ParameterValues Descent::gradient_of(const Batch& batch, const ParameterValues& values,
                                     TrainLog& log)
{
    const BatchGradient::Mean found = gradient_.limited_mean(
        batch.clips, set_.map, values, loss_, logs_.slopes(values), options_.gradient_limit);
    std::size_t finite = 0;
    for (const TrajectoryResult& clip : found.trajectories) {
        if (!std::isfinite(clip.loss)) continue;
        log.loss.trajectory += clip.loss;
        ++finite;
    }
    log.loss.total = log.loss.trajectory /= double(std::max<std::size_t>(finite, 1));
    if (found.gradient) return *found.gradient;
    const Clip first = clips_of(done())[0];
    throw Failure(
        "train: iteration {}: {} of {} clips blow up, the first of them in rollout {} from frame "
        "{}; the last good checkpoint is kept. Lower the rate",
        state_.iteration, batch.clips.size() - finite, batch.clips.size(), first.rollout,
        first.first_frame);
}

TrainLog Descent::iterate()
{
    const auto begin = std::chrono::steady_clock::now();
    const int total = total_iterations(options_);
    Batch batch = coming_.get();
    keep(batch);
    read_ahead(done() + 1);
    TrainLog log;
    log.iteration = state_.iteration;
    const ParameterValues values = logs_.values(state_.parameters);
    const ParameterValues gradient = gradient_of(batch, values, log);
    log.gradient_norm = norm_of(gradient);
    logs_.descend(state_, gradient, options_, options_.rate * cosine_decay(done(), total),
                  done() + 1);
    // A mean of all at first, later of the last fifty or so.
    const double keep = std::min(options_.averaging, double(done() + 1) / double(done() + 10));
    for (std::size_t k = 0; k < state_.average.size(); ++k) {
        for (std::size_t e = 0; e < state_.average[k].size(); ++e) {
            state_.average[k][e] += (1 - keep) * (state_.parameters[k][e] - state_.average[k][e]);
        }
    }
    ++state_.iteration;
    if (done() == total || done() % options_.validate_every == 0) validate(log);
    log.bounds = range_of(learned_parameters(start_), logs_.values(state_.average));
    log.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return log;
}

void Descent::validate(TrainLog& log)
{
    const ParameterValues values = logs_.values(state_.average);
    const double error = set_.validation_error(gradient_, values).mean;
    log.validation_rmse = error;
    judge(error, values);
}

void Descent::judge(double error, const ParameterValues& values)
{
    if (!std::isfinite(error)) return;
    const bool first = !state_.best_validation;
    if (first || error < state_.lowest_validation) state_.lowest_validation = error;
    if (!first && error > kHardlyWorse * state_.lowest_validation) return;
    state_.best_validation = error;
    state_.best_iteration = state_.iteration;
    state_.best = values;
}

TrainResult Descent::run(const TrainState* resume, const TrainHooks& hooks,
                         const Progress& progress, const std::string& stage,
                         std::optional<double> start_error)
{
    if (resume) {
        go_on(*resume);
    } else {
        begin(start_error);
    }
    const int total = total_iterations(options_);
    TrainResult result;
    read_ahead(done());
    while (done() < total) {
        const TrainLog log = iterate();
        result.final_loss = log.loss.total;
        if (hooks.on_log) hooks.on_log(log);
        if (hooks.on_state) hooks.on_state(state_);
        progress.report({stage, double(done()), double(total), "iterations",
                         fmt::format("loss {:.3g}", log.loss.total)});
    }
    result.cloth = start_;
    result.cloth.errors.reset();  // those of a start are not its own
    set_values(result.cloth, state_.best);
    result.validation_rmse = state_.best_validation.value_or(std::nan(""));
    result.state = state_;
    return result;
}

}  // namespace

TrainResult descend(const TrainingSet& set, const Cloth& start, const DescentOptions& options,
                    int first_iteration, const TrainState* resume, const TrainHooks& hooks,
                    const Progress& progress, const std::string& stage,
                    std::optional<double> start_error)
{
    return Descent(set, start, options, first_iteration)
        .run(resume, hooks, progress, stage, start_error);
}

}  // namespace springtime
