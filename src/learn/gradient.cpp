#include "learn/gradient.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "crew/crew.h"
#include "learn/limited_mean.h"
#include "learn/log_parameters.h"
#include "learn/rank_gradient.h"
#include "sim/stepper.h"

namespace springtime {

std::optional<int> laddered_substeps(const Cloth& cloth, const Environment& environment, double dt)
{
    const int needed = stable_substeps(cloth, environment, dt);
    if (dt / needed < kShortestStep) return std::nullopt;
    for (int power = 1;; power *= 2) {
        if (needed <= power) return power;
        if (power > 1 && 2 * needed <= 3 * power) return 3 * power / 2;
    }
}

namespace {

// Of a tape, whatever its steps and its cloth.
std::size_t lanes_of_tapes(const Cloth& cloth, const SimulationOptions& options)
{
    if (options.device == Device::reference) {
        return std::size_t(make_reference_tape(cloth, options)->lane_count());
    }
    return std::size_t(make_fast_tape(cloth, options)->lane_count());
}

}  // namespace

BatchGradient::BatchGradient(const Cloth& surrogate, const SimulationOptions& options, int stride,
                             int threads, const Substeps& substeps, bool zeros_stay,
                             std::function<void()> heartbeat, const GradientBackends& backends)
    : surrogate_(surrogate),
      options_(options),
      stride_(stride),
      threads_(backends.crew ? backends.crew->threads(threads) : thread_count(threads)),
      substeps_(substeps),
      zeros_stay_(zeros_stay),
      heartbeat_(std::move(heartbeat)),
      backends_(backends),
      lane_count_(lanes_of_tapes(surrogate, options)),
      clip_backend_(backends.clips(surrogate, options, stride))
{
    if (substeps.count && !clip_backend_) make_tapes(*substeps.count);
    if (!backends.crew || backends.crew->count() == 1) return;
    ranks_ = std::make_unique<RankGradient>(*backends.crew, surrogate, options, stride, threads,
                                            substeps, zeros_stay, heartbeat_, backends);
}

std::pair<std::size_t, std::size_t> BatchGradient::clips_to_read(std::size_t count) const
{
    if (ranks_) return ranks_->clips_to_read(*this, count);
    return {0, count};
}

// Those of other sub-steps go: they may hold hundreds of megabytes.
void BatchGradient::make_tapes(int substeps)
{
    if (substeps == taped_substeps_) return;
    taped_substeps_ = substeps;
    SimulationOptions options = options_;
    options.dt /= substeps;
    TapeOptions tape;
    tape.zeros_stay = zeros_stay_;
    tape.heartbeat = heartbeat_;
    fast_.clear();
    reference_.clear();
    for (int t = 0; t < threads_; ++t) {
        if (options.device == Device::reference) {
            reference_.push_back(make_reference_tape(surrogate_, options, tape));
        } else {
            fast_.push_back(make_fast_tape(surrogate_, options, tape));
        }
    }
}

std::optional<int> BatchGradient::substeps_for(const ParameterValues& parameters) const
{
    if (substeps_.count) return substeps_.count;
    Cloth cloth = surrogate_;
    set_parameters(cloth, parameters);
    return laddered_substeps(cloth, options_.environment, options_.dt);
}

BatchGradient::~BatchGradient() = default;
BatchGradient::BatchGradient(BatchGradient&&) noexcept = default;

template <class Real>
std::vector<BatchGradient::Result> BatchGradient::run_on(
    std::vector<std::unique_ptr<Tape<Real>>>& tapes, std::span<const Rollout> clips,
    const ParameterValues& parameters, const LossWeights& weights, bool with_gradient,
    std::size_t whole)
{
    const ClipLoss loss(surrogate_, options_.dt / taped_substeps_, stride_ * taped_substeps_,
                        weights);
    const int groups = int((clips.size() + lane_count_ - 1) / lane_count_);
    std::vector<Result> results(std::size_t(groups), Result{{}, ParameterGradient(surrogate_)});
    const double scale = 1 / double(whole);
    parallel_for(groups, threads_, [&](int group, int thread) {
        Tape<Real>& tape = *tapes[thread];
        tape.set_parameters(parameters);
        std::vector<const Rollout*> lanes;
        const std::size_t begin = group * lane_count_;
        const std::size_t end = std::min(begin + lane_count_, clips.size());
        for (std::size_t c = begin; c < end; ++c) lanes.push_back(&clips[c]);
        Result& result = results[group];
        LossTerms& terms = result.loss;
        terms = loss.run(tape, std::span<const Rollout* const>(lanes), scale,
                         with_gradient ? &result.gradient : nullptr);
        for (double* term : {&terms.force, &terms.impulse, &terms.position, &terms.total}) {
            *term *= scale;
        }
    });
    return results;
}

std::vector<BatchGradient::Result> BatchGradient::run_groups(std::span<const Rollout> clips,
                                                             const ParameterValues& parameters,
                                                             const LossWeights& weights,
                                                             bool with_gradient, std::size_t whole)
{
    make_tapes(*substeps_for(parameters));
    if (!reference_.empty()) {
        return run_on(reference_, clips, parameters, weights, with_gradient, whole);
    }
    return run_on(fast_, clips, parameters, weights, with_gradient, whole);
}

BatchGradient::Result BatchGradient::sum_of(std::vector<Result> groups) const
{
    const auto add = [](Result& to, Result& result) {
        to.loss.force += result.loss.force;
        to.loss.impulse += result.loss.impulse;
        to.loss.position += result.loss.position;
        to.loss.total += result.loss.total;
        AddValues{}(to.gradient.kinds, result.gradient.kinds);
    };
    TreeSum<Result, decltype(add)> sum(add);
    for (std::size_t i = 0; i < groups.size(); ++i) sum.add({i, 1, std::move(groups[i])});
    return sum.total();
}

namespace {

ClipTerms terms_of(const LossWeights& weights)
{
    return {weights.force, weights.impulse, weights.position};
}

}  // namespace

BatchGradient::Result BatchGradient::run(const std::vector<Rollout>& clips,
                                         const ParameterValues& parameters,
                                         const LossWeights& weights, bool with_gradient,
                                         PreparedClips* prepared)
{
    const std::optional<int> substeps = substeps_for(parameters);
    if (!substeps) {
        const double none = std::nan("");
        return {{none, none, none, 0, none}, ParameterGradient(surrogate_)};
    }
    if (clip_backend_) {
        return run_backend(clips, parameters, terms_of(weights), *substeps, with_gradient,
                           prepared);
    }
    if (ranks_) return ranks_->run(*this, clips, parameters, weights, with_gradient);
    return sum_of(run_groups(clips, parameters, weights, with_gradient, clips.size()));
}

std::unique_ptr<PreparedClips> BatchGradient::prepare(const std::vector<Rollout>& clips,
                                                      const LossWeights& weights) const
{
    const int substeps = substeps_.count.value_or(last_substeps_->load());
    if (!clip_backend_ || substeps == 0) return nullptr;
    return prepare_for(clips, terms_of(weights), substeps);
}

std::unique_ptr<PreparedClips> BatchGradient::prepare_for(const std::vector<Rollout>& clips,
                                                          const ClipTerms& weights,
                                                          int substeps) const
{
    const double dt = options_.dt / substeps;
    std::vector<ClipView> views;
    for (const Rollout& clip : clips) {
        views.push_back({clip.state(0, options_.dt * stride_, dt), &clip.handles, clip.frame_count,
                         clip.position, clip.velocity, clip.acceleration});
    }
    return clip_backend_->prepare(std::move(views), weights, substeps);
}

BatchGradient::Result BatchGradient::run_backend(const std::vector<Rollout>& clips,
                                                 const ParameterValues& parameters,
                                                 const ClipTerms& weights, int substeps,
                                                 bool with_gradient, PreparedClips* prepared)
{
    last_substeps_->store(substeps);
    std::unique_ptr<PreparedClips> at_once;
    if (!prepared || prepared->substeps != substeps || prepared->weights != weights) {
        at_once = prepare_for(clips, weights, substeps);
        prepared = at_once.get();
    }
    ClipGradient::Result found = clip_backend_->run(*prepared, parameters, with_gradient);
    const ClipTerms& terms = found.loss;
    Result result{{terms.force, terms.impulse, terms.position, 0,
                   weights.force * terms.force + weights.impulse * terms.impulse +
                       weights.position * terms.position},
                  ParameterGradient(surrogate_)};
    if (with_gradient) result.gradient.kinds = std::move(found.gradient);
    return result;
}

template <class Real>
void BatchGradient::follow_groups(std::vector<std::unique_ptr<Tape<Real>>>& tapes,
                                  std::span<const Trajectory> trajectories, const LandmarkMap& map,
                                  const ParameterValues& parameters, const FrameLoss& loss,
                                  bool with_gradient, std::vector<Followed>& results)
{
    const double speed_limit = largest_speed(surrogate_.sheet, options_.dt / taped_substeps_);
    const std::size_t width = lane_count_;
    const int groups = int((trajectories.size() + width - 1) / width);
    parallel_for(groups, threads_, [&](int group, int thread) {
        Tape<Real>& tape = *tapes[thread];
        tape.set_parameters(parameters);
        std::vector<const Trajectory*> lanes;
        std::vector<ParameterValues*> gradients;
        const std::size_t begin = group * width, end = std::min(begin + width, trajectories.size());
        for (std::size_t i = begin; i < end; ++i) {
            lanes.push_back(&trajectories[i]);
            if (!with_gradient) continue;
            results[i].gradient = parameters;  // arrays of the same sizes
            for (auto& kind : results[i].gradient) std::fill(kind.begin(), kind.end(), 0.0);
            gradients.push_back(&results[i].gradient);
        }
        const auto found = springtime::follow<Real>(
            tape, map, lanes, loss, stride_ * taped_substeps_, speed_limit, gradients);
        for (std::size_t i = begin; i < end; ++i) results[i].result = found[i - begin];
    });
}

// Made when first needed: most batches need but one of the two, and each takes memory.
TrajectoryGradient* BatchGradient::trajectory_backend(const LandmarkMap& map)
{
    if (asked_for_trajectories_) return trajectory_backend_.get();
    asked_for_trajectories_ = true;
    LandmarkShares shares;
    for (const LandmarkMap::Weights& weights : map.weights()) {
        shares.particle.push_back(weights.particle);
        shares.weight.push_back(weights.weight);
    }
    trajectory_backend_ = backends_.trajectories(surrogate_, options_, stride_, shares, heartbeat_);
    return trajectory_backend_.get();
}

bool BatchGradient::can_keep(const LandmarkMap& map)
{
    return !ranks_ && trajectory_backend(map) != nullptr;
}

bool BatchGradient::keep(std::size_t rollout, std::span<const float> position,
                         const LandmarkMap& map)
{
    if (keeps(rollout)) return true;
    TrajectoryGradient* backend = trajectory_backend(map);
    if (!backend || !backend->keep(rollout, position)) return false;
    kept_.insert(rollout);
    return true;
}

TrajectoryGradient::Result BatchGradient::follow_backend(std::span<const Trajectory> trajectories,
                                                         const ParameterValues& parameters,
                                                         const FrameLoss& loss, int substeps,
                                                         const TrajectoryGradient::Wish& wish)
{
    std::vector<TrajectoryView> views;
    for (const Trajectory& trajectory : trajectories) {
        TrajectoryView& view = views.emplace_back();
        view.start = &trajectory.start;
        view.handles = &trajectory.handles;
        view.frame_count = trajectory.frame_count;
        view.free = trajectory.free;
        view.part = trajectory.part;
        if (!keeps(trajectory.part.rollout)) view.position = trajectory.position;
    }
    return trajectory_backend_->follow(views, parameters, loss, substeps, wish);
}

std::vector<BatchGradient::Followed> BatchGradient::follow(std::span<const Trajectory> trajectories,
                                                           const LandmarkMap& map,
                                                           const ParameterValues& parameters,
                                                           const FrameLoss& loss,
                                                           bool with_gradient)
{
    // Gradients one by one are asked for where there are few clips.
    if (!ranks_ || with_gradient || !substeps_for(parameters)) {
        return follow_here(trajectories, map, parameters, loss, with_gradient);
    }
    std::vector<Followed> results;
    for (const auto& result : ranks_->follow(*this, trajectories, map, parameters, loss)) {
        results.push_back({result, {}});
    }
    return results;
}

std::vector<BatchGradient::Followed> BatchGradient::follow_here(
    std::span<const Trajectory> trajectories, const LandmarkMap& map,
    const ParameterValues& parameters, const FrameLoss& loss, bool with_gradient)
{
    const double none = std::nan("");
    std::vector<Followed> results(trajectories.size(), Followed{{none, none, 1}, {}});
    const std::optional<int> substeps = substeps_for(parameters);
    if (!substeps || trajectories.empty()) return results;
    if (trajectory_backend(map)) {
        TrajectoryGradient::Result found =
            follow_backend(trajectories, parameters, loss, *substeps, {.each = with_gradient});
        for (std::size_t i = 0; i < results.size(); ++i) {
            results[i].result = found.trajectories[i];
            if (with_gradient) results[i].gradient = std::move(found.each[i]);
        }
        return results;
    }
    make_tapes(*substeps);
    if (!reference_.empty()) {
        follow_groups(reference_, trajectories, map, parameters, loss, with_gradient, results);
    } else {
        follow_groups(fast_, trajectories, map, parameters, loss, with_gradient, results);
    }
    return results;
}

BatchGradient::Scaled BatchGradient::scaled(std::span<const Trajectory> trajectories,
                                            const LandmarkMap& map,
                                            const ParameterValues& parameters,
                                            const FrameLoss& loss, const ParameterValues& slopes)
{
    Scaled result;
    for (Followed& clip : follow_here(trajectories, map, parameters, loss, true)) {
        const bool finite = std::isfinite(clip.result.loss);
        if (!finite) clip.gradient = {{std::nan("")}};
        for (std::size_t k = 0; finite && k < slopes.size(); ++k) {
            for (std::size_t e = 0; e < slopes[k].size(); ++e) {
                clip.gradient[k][e] *= slopes[k][e];
            }
        }
        result.results.push_back(clip.result);
        result.norms.push_back(norm_of(clip.gradient));
        result.gradients.push_back(std::move(clip.gradient));
    }
    return result;
}

BatchGradient::Mean BatchGradient::limited_mean(std::span<const Trajectory> trajectories,
                                                const LandmarkMap& map,
                                                const ParameterValues& parameters,
                                                const FrameLoss& loss,
                                                const ParameterValues& slopes, double limit)
{
    const std::optional<int> substeps = substeps_for(parameters);
    if (ranks_ && substeps) {
        return ranks_->limited_mean(*this, trajectories, map, parameters, loss, slopes, limit);
    }
    if (substeps && trajectory_backend(map)) {
        TrajectoryGradient::Result found = follow_backend(trajectories, parameters, loss, *substeps,
                                                          {.scale = &slopes, .limit = limit});
        return {std::move(found.trajectories), std::move(found.mean)};
    }
    Scaled clips = scaled(trajectories, map, parameters, loss, slopes);
    return {std::move(clips.results), springtime::limited_mean(std::move(clips.gradients), limit)};
}

double BatchGradient::motion_rmse(const std::vector<Rollout>& clips,
                                  const ParameterValues& parameters)
{
    const LossWeights weights{.force = 0, .impulse = 0, .position = 1};
    return std::sqrt(run(clips, parameters, weights, false).loss.position);
}

}  // namespace springtime
