#include "springtime/learn.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "core/random.h"
#include "learn/adam.h"
#include "learn/diagnosis.h"
#include "learn/heartbeat.h"
#include "learn/training_set.h"
#include "springtime/error.h"

namespace springtime {

namespace {

// Where an iteration stands: which round and pass, and how far into it.
struct Place {
    int round = 0, pass = 0, step = 0;
};

Place place_of(const TrainOptions& options, int iteration)
{
    Place place{0, 0, iteration};
    while (place.step >= options.passes[place.pass].iterations) {
        place.step -= options.passes[place.pass].iterations;
        if (++place.pass == int(options.passes.size())) {
            place.pass = 0;
            ++place.round;
        }
    }
    return place;
}

double mean_of(const std::vector<double>& values)
{
    return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

double norm_of(const ParameterGradient& gradient)
{
    double sum = 0;
    for (const auto& kind : gradient.kinds) {
        for (const double g : kind) sum += g * g;
    }
    return std::sqrt(sum);
}

// Whether two cloths have the same parameters, and the same ranges of strain.
bool same_law(const Cloth& a, const Cloth& b)
{
    const std::vector<Parameter> ours = learned_parameters(a), theirs = learned_parameters(b);
    return std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(),
                      [&](const Parameter& x, const Parameter& y) {
                          return x.kind == y.kind && label_of(a, x) == label_of(b, y);
                      });
}

// The size of a parameter, for those that begin with zero and for steps that are not relative.
double scale_of(const Parameter& parameter, const TrainState& state)
{
    // Bending is weak: a sheet with k = 300 N/m has kappa = D/h^2 of some 0.3 N/m.
    constexpr double kBendOfSpring = 0.01;
    const double scale = parameter.is_damping() ? state.damping_scale : state.stiffness_scale;
    return parameter.kind->element == Element::bend ? kBendOfSpring * scale : scale;
}

TrainState start_state(const Cloth& start, bool logarithmic)
{
    constexpr double kLeast = 0.01;  // of the scale, where a logarithm is needed
    TrainState state;
    const std::vector<Parameter> parameters = learned_parameters(start);
    state.stiffness_scale = mean_of(start.springs.stiffness);
    state.damping_scale = mean_of(start.springs.damping);
    state.parameters = parameters_of(start);
    for (std::size_t k = 0; logarithmic && k < parameters.size(); ++k) {
        for (double& value : state.parameters[k]) {
            if (value == 0) value = kLeast * scale_of(parameters[k], state);
        }
    }
    state.best = state.parameters;
    state.mean = state.square = ParameterGradient(start).kinds;
    return state;
}

// Moves one kind of parameter along its gradient.
struct Mover {
    std::vector<double>&parameters, &mean, &square;
    double rate;     // absolute, or relative when logarithmic
    double penalty;  // on negative values; without one they are cut off at zero
    bool logarithmic;

    void move(std::vector<double>& gradient, int step)
    {
        if (logarithmic) {
            std::vector<double> logs(parameters.size());
            for (std::size_t s = 0; s < logs.size(); ++s) {
                gradient[s] *= parameters[s];  // d/d(log k) = k d/dk
                logs[s] = std::log(parameters[s]);
            }
            adam_step(logs, gradient, mean, square, rate, step);
            for (std::size_t s = 0; s < logs.size(); ++s) parameters[s] = std::exp(logs[s]);
            return;
        }
        adam_step(parameters, gradient, mean, square, rate, step);
        if (penalty > 0) return;
        for (double& value : parameters) value = std::max(value, 0.0);
    }
};

// Negative parameters, which a penalty may leave behind, are cut off at zero.
Cloth with_parameters(Cloth cloth, ParameterValues parameters)
{
    for (auto& kind : parameters) {
        for (double& value : kind) value = std::max(value, 0.0);
    }
    set_parameters(cloth, parameters);
    return cloth;
}

class Trainer {
  public:
    Trainer(const TrainingSet& set, const TrainOptions& options, const TrainState* resume,
            const Progress& progress)
        : set_(set), options_(options), gradient_(set.gradient_of(set.surrogate))
    {
        set.keep_for(gradient_);
        if (resume) {
            state_ = *resume;
            check_state();
        } else {
            state_ = start_state(chosen_start(progress), options.logarithmic);
            TrainLog none;
            validate(none);  // a training that only makes it worse leaves the start
        }
    }

    TrainResult run(const TrainHooks& hooks, const Progress& progress);

  private:
    Cloth chosen_start(const Progress& progress)
    {
        const bool given = options_.stiffness_start && options_.damping_start;
        Cloth start = options_.start ? *options_.start
                      : given        ? set_.surrogate
                                     : homogeneous_start(set_, Stage(progress, "start"));
        const std::size_t springs = set_.surrogate.springs.spring_count();
        if (start.springs.ends != set_.surrogate.springs.ends) {
            throw Error(
                "train: the cloth to start from has {} springs other than those of a {} x {} "
                "grid of {}; give one with the same grid and families",
                start.springs.spring_count(), options_.grid.rows, options_.grid.cols, springs);
        }
        const auto in_every_cloth = [](const Parameter& parameter) {
            return parameter.kind->element == Element::spring &&
                   parameter.kind->presence == ParameterPresence::always;
        };
        if (const auto parameters = learned_parameters(start);
            std::all_of(parameters.begin(), parameters.end(), in_every_cloth)) {
            set_law(start, options_.law);
        }
        if (!same_law(start, set_.surrogate)) {
            throw Error(
                "train: the cloth to start from has {} stiffness ranges, {} isotropic damping and "
                "{} "
                "bends, other than those asked for; give the law of that cloth",
                start.springs.ranges.size(), start.springs.isotropic_damping.empty() ? "no" : "an",
                start.bends.bend_count());
        }
        const auto assign = [&](std::vector<double>& values, const std::optional<double>& value) {
            if (value) values.assign(springs, *value);
        };
        assign(start.springs.damping, options_.damping_start);
        for (const Parameter& parameter : learned_parameters(start)) {
            if (!parameter.is_damping() && parameter.kind->element == Element::spring) {
                assign(values_of(start, parameter), options_.stiffness_start);
            }
        }
        return start;
    }

    void check_state() const
    {
        const SpringSet& springs = set_.surrogate.springs;
        const auto fits = [&](const ParameterValues& all) {
            const ParameterValues expected = parameters_of(set_.surrogate);
            return std::equal(all.begin(), all.end(), expected.begin(), expected.end(),
                              [](const auto& a, const auto& b) { return a.size() == b.size(); });
        };
        if (fits(state_.parameters) && fits(state_.mean) && fits(state_.square) &&
            fits(state_.best)) {
            return;
        }
        throw Error(
            "train: the checkpoint has {} springs with {} kinds of parameters, but a {} x {} grid "
            "has {} with {}; resume with the settings of the run",
            state_.parameters.empty() ? 0 : state_.parameters[0].size(), state_.parameters.size(),
            options_.grid.rows, options_.grid.cols, springs.spring_count(),
            learned_parameters(set_.surrogate).size());
    }

    void begin_pass(const Place& place);
    TrainLog iterate(const Place& place);
    void move(const Place& place, ParameterGradient& gradient);
    double penalty(int kind, const LossWeights& weights) const;
    void validate(TrainLog& log);
    [[noreturn]] void fail(const BatchReader::Batch& batch);

    const TrainingSet& set_;
    const TrainOptions& options_;
    BatchGradient gradient_;
    TrainState state_;
    std::unique_ptr<BatchReader> batches_;  // calls gradient_ until it is destroyed
};

void Trainer::begin_pass(const Place& place)
{
    const TrainPass& pass = options_.passes[place.pass];
    const double tail = pass.slow_clips ? options_.slow_seconds : 0;
    const std::uint64_t number = place.round * options_.passes.size() + place.pass;
    const auto prepare = [this, weights = pass.weights](const std::vector<Rollout>& clips) {
        return gradient_.prepare(clips, weights);
    };
    batches_.reset();  // it may still read ahead
    batches_ = std::make_unique<BatchReader>(
        set_.reader, set_.training_clips(tail), std::size_t(options_.batch),
        Random::stream(options_.seed, number).next(), std::size_t(place.step),
        fields_of(pass.weights), options_.threads, prepare);
    if (place.step > 0) return;
    state_.mean = state_.square = ParameterGradient(set_.surrogate).kinds;
}

// Weight of the loss on negative parameters of a kind.
double Trainer::penalty(int kind, const LossWeights& weights) const
{
    const bool damping = learned_parameters(set_.surrogate)[kind].is_damping();
    return damping ? weights.negative_damping : weights.negative_stiffness;
}

void Trainer::move(const Place& place, ParameterGradient& gradient)
{
    const TrainPass& pass = options_.passes[place.pass];
    const double decay = std::pow(options_.round_decay, place.round) *
                         (options_.cosine ? cosine_decay(place.step, pass.iterations) : 1);
    const std::vector<Parameter> parameters = learned_parameters(set_.surrogate);
    for (int kind = 0; kind < int(gradient.kinds.size()); ++kind) {
        const bool damping = parameters[kind].is_damping();
        if (pass.learn == (damping ? Learn::stiffness : Learn::damping)) continue;
        const double rate = damping ? options_.damping_rate : options_.stiffness_rate;
        const double start = scale_of(parameters[kind], state_);
        Mover{state_.parameters[kind],     state_.mean[kind],
              state_.square[kind],         rate * (options_.logarithmic ? decay : decay * start),
              penalty(kind, pass.weights), options_.logarithmic}
            .move(gradient.kinds[kind], place.step + 1);
    }
}

std::vector<ParameterBounds> bounds_of(const std::vector<Parameter>& parameters,
                                       const ParameterValues& values)
{
    std::vector<ParameterBounds> bounds;
    for (std::size_t k = 0; k < values.size(); ++k) {
        const auto [low, high] = std::minmax_element(values[k].begin(), values[k].end());
        bounds.push_back({parameters[k].kind, *low, *high});
    }
    return bounds;
}

TrainLog Trainer::iterate(const Place& place)
{
    const auto start = std::chrono::steady_clock::now();
    const TrainPass& pass = options_.passes[place.pass];
    const BatchReader::Batch batch = batches_->next();
    auto result =
        gradient_.run(batch.targets, state_.parameters, pass.weights, true, batch.prepared.get());
    for (int kind = 0; kind < int(state_.parameters.size()); ++kind) {
        result.loss.negativity += negativity(state_.parameters[kind], penalty(kind, pass.weights),
                                             result.gradient.kinds[kind]);
    }
    result.loss.total += result.loss.negativity;

    TrainLog log;
    log.iteration = state_.iteration;
    log.round = place.round;
    log.pass = place.pass;
    log.loss = result.loss;
    log.gradient_norm = norm_of(result.gradient);
    if (!std::isfinite(result.loss.total) || !std::isfinite(log.gradient_norm)) fail(batch);
    move(place, result.gradient);
    ++state_.iteration;
    const bool last_of_pass = place.step + 1 == pass.iterations;
    if (last_of_pass || state_.iteration % std::max(1, options_.validate_every) == 0) validate(log);
    log.bounds = bounds_of(learned_parameters(set_.surrogate), state_.parameters);
    log.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return log;
}

void Trainer::validate(TrainLog& log)
{
    const Cloth cloth = with_parameters(set_.surrogate, state_.parameters);
    const double error = set_.validation_error(gradient_, parameters_of(cloth)).mean;
    log.validation_rmse = error;
    const bool better = !state_.best_validation || error < *state_.best_validation;
    if (!std::isfinite(error) || !better) return;
    state_.best_validation = error;
    state_.best_iteration = state_.iteration;
    state_.best = state_.parameters;
}

void Trainer::fail(const BatchReader::Batch& batch)
{
    Cloth cloth = set_.surrogate;  // with the very parameters that failed, negative ones too
    set_parameters(cloth, state_.parameters);
    const std::optional<int> substeps = gradient_.substeps_for(state_.parameters);
    if (!substeps) {
        throw Failure(
            "train: iteration {}: the springs have become so stiff or overdamped that the cloth "
            "needs steps of {:.2g} s, and below {:.2g} s none are run; the last good checkpoint is "
            "kept. "
            "Lower the rates, or start from lower stiffness and damping",
            state_.iteration, safe_step(cloth, set_.step.environment), kShortestStep);
    }
    SimulationOptions step = set_.step;
    step.dt /= *substeps;
    const int stride = set_.motion.header.stride * *substeps;
    for (std::size_t c = 0; c < batch.targets.size(); ++c) {
        const auto diagnosis = diagnose(cloth, step, stride, batch.targets[c]);
        if (!diagnosis) continue;
        throw Failure(
            "train: iteration {}: {} in rollout {}, clip from frame {}, step {}, particle {}; the "
            "last good checkpoint is kept. Lower the rates, or start from lower stiffness and "
            "damping",
            state_.iteration, diagnosis->what, batch.clips[c].rollout, batch.clips[c].first_frame,
            diagnosis->step, diagnosis->particle);
    }
    throw Failure(
        "train: iteration {}: the loss is not finite; the last good checkpoint is kept. "
        "Lower the rates",
        state_.iteration);
}

TrainResult Trainer::run(const TrainHooks& hooks, const Progress& progress)
{
    const int total = total_iterations(options_);
    TrainResult result;
    const auto exhausted = [&] {
        return options_.patience && state_.iteration - state_.best_iteration >= *options_.patience;
    };
    while (state_.iteration < total && !exhausted()) {
        result.too_stiff = state_.iteration > 0 && !gradient_.substeps_for(state_.parameters);
        if (result.too_stiff) break;  // the best so far is sound
        const Place place = place_of(options_, state_.iteration);
        if (!batches_ || place.step == 0) begin_pass(place);
        const TrainLog log = iterate(place);
        result.final_loss = log.loss.total;
        if (hooks.on_log) hooks.on_log(log);
        if (hooks.on_state) hooks.on_state(state_);
        progress.report({"train", double(state_.iteration), double(total), "iterations",
                         fmt::format("loss {:.3g}", log.loss.total)});
    }
    result.cloth = with_parameters(set_.surrogate, state_.best);
    result.validation_rmse = state_.best_validation.value_or(std::nan(""));
    result.state = state_;
    return result;
}

}  // namespace

std::vector<TrainPass> dual_pass(int stiffness_iterations, int damping_iterations,
                                 const LossWeights& weights)
{
    return {{Learn::stiffness, stiffness_iterations, true, weights},
            {Learn::damping, damping_iterations, false, weights}};
}

std::vector<TrainPass> single_pass(int iterations, const LossWeights& weights)
{
    return {{Learn::both, iterations, false, weights}};
}

Cloth make_surrogate(const MotionHeader& header, const GridOptions& grid, double stiffness,
                     double damping, const SpringLaw& law)
{
    Cloth cloth = make_grid_cloth(header.sheet, grid, MaterialField::uniform(stiffness),
                                  MaterialField::uniform(damping));
    set_law(cloth, law);
    cloth.globals = header.globals;
    return cloth;
}

Cloth surrogate_of(const MotionHeader& header, const TrainOptions& options)
{
    return options.cloth ? *options.cloth : make_surrogate(header, options.grid, 1, 1, options.law);
}

Cloth best_cloth(const MotionHeader& header, const TrainOptions& options, const TrainState& state)
{
    return with_parameters(surrogate_of(header, options), state.best);
}

int total_iterations(const TrainOptions& options)
{
    int sum = 0;
    for (const TrainPass& pass : options.passes) sum += pass.iterations;
    return sum * options.rounds;
}

namespace {

void check_passes(const TrainOptions& options)
{
    if (options.passes.empty() || options.rounds < 1 || total_iterations(options) < 1) {
        throw Error(Field{"passes"}, "train: {} passes in {} rounds; one iteration is needed",
                    options.passes.size(), options.rounds);
    }
    for (const TrainPass& pass : options.passes) {
        if (pass.iterations < 0) {
            throw Error(Field{"passes"}, "train: {} iterations; not negative", pass.iterations);
        }
        const LossWeights& w = pass.weights;
        if (!(w.force >= 0 && w.impulse >= 0 && w.position >= 0 && w.negative_stiffness >= 0 &&
              w.negative_damping >= 0 && w.force + w.impulse + w.position > 0)) {
            throw Error(
                Field{"passes"},
                "train: loss weights force {}, impulse {}, position {}; none may be negative "
                "and one must be positive",
                w.force, w.impulse, w.position);
        }
    }
}

void check_positive(const char* field, const std::optional<double>& value)
{
    if (!value || *value > 0) return;
    throw Error(Field{field}, "train: {} is {}; it must be positive", field, *value);
}

void check_at_least_one(const char* field, int value)
{
    if (value < 1) throw Error(Field{field}, "train: {} is {}; at least 1", field, value);
}

}  // namespace

void check_train(const TrainOptions& options, const Motion& motion)
{
    const MotionHeader& header = motion.header;
    check_passes(options);
    if (header.contact) {
        throw Error(
            "train: in this motion the cloth could touch obstacles or itself, and those forces "
            "would be taken for springs; learn from motion without contact");
    }
    check_at_least_one("batch", options.batch);
    if (options.clip_steps < header.stride) {
        throw Error(Field{"clip_steps"},
                    "train: clips of {} steps, but frames are stored every {} steps; raise it",
                    options.clip_steps, header.stride);
    }
    if (options.substeps) check_at_least_one("substeps", options.substeps->count.value_or(1));
    check_positive("round_decay", options.round_decay);
    check_positive("stiffness_rate", options.stiffness_rate);
    check_positive("damping_rate", options.damping_rate);
    check_positive("stiffness_start", options.stiffness_start);
    check_positive("damping_start", options.damping_start);
    if (!(options.slow_seconds >= 0)) {
        throw Error(Field{"slow_seconds"}, "train: the last {} s; not negative",
                    options.slow_seconds);
    }
    check_at_least_one("validate_every", options.validate_every);
    check_at_least_one("validation_rollouts", options.validation_rollouts);
    const RolloutSplit split =
        split_rollouts(motion.frame_counts.size(), options.validation_share, options.seed);
    const std::size_t intervals = std::size_t(options.clip_steps / header.stride);
    for (const TrainPass& pass : options.passes) {
        cut_clips(motion, split.training, intervals, 0, pass.slow_clips ? options.slow_seconds : 0);
    }
}

TrainResult train(const TrainingSet& set, const TrainOptions& options, const TrainState* resume,
                  const TrainHooks& hooks, const Progress& progress)
{
    return Trainer(set, options, resume, progress).run(hooks, progress);
}

TrainResult train(const Motion& motion, const TrainOptions& options, const TrainState* resume,
                  const TrainHooks& hooks, const Progress& progress)
{
    check_train(options, motion);
    const Heartbeat heartbeat(progress);
    return train(TrainingSet(motion, options, heartbeat), options, resume, hooks,
                 heartbeat.progress());
}

}  // namespace springtime
