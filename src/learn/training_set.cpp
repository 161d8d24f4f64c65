#include "learn/training_set.h"

#include <algorithm>
#include <cmath>

#include "springtime/error.h"

namespace springtime {

namespace {

Substeps substeps_of(const TrainOptions& options, const MotionHeader& header)
{
    if (options.substeps) return *options.substeps;
    return header.captured ? Substeps{} : Substeps{1};
}

}  // namespace

TrainingSet::TrainingSet(const Motion& source, const TrainOptions& choices,
                         std::function<void()> beat)
    : cache(std::make_shared<MotionCache>(source)),
      motion(through_cache(source, cache)),
      options(choices),
      surrogate(surrogate_of(source.header, choices)),
      step{source.header.dt, source.header.environment, choices.device},
      substeps(substeps_of(choices, source.header)),
      resampler(surrogate, source.header),
      map(surrogate, source.header),
      split(split_rollouts(source.frame_counts.size(), choices.validation_share, choices.seed)),
      reader(motion, resampler, std::size_t(choices.clip_steps / source.header.stride), &surrogate),
      trajectories(motion, resampler, surrogate),
      heartbeat(std::move(beat))
{
    validation =
        whole_rollouts(split.validation, std::size_t(std::max(1, options.validation_rollouts)));
}

std::vector<Trajectory> TrainingSet::whole_rollouts(const std::vector<std::size_t>& rollouts,
                                                    std::size_t count) const
{
    std::vector<Trajectory> whole;
    for (std::size_t i = 0; i < std::min(count, rollouts.size()); ++i) {
        whole.push_back(trajectories.read({rollouts[i], 0}, motion.frame_counts[rollouts[i]]));
    }
    return whole;
}

FrameLoss TrainingSet::trajectory_loss(const DescentOptions& descent) const
{
    constexpr double kFloor = 1e-3;
    FrameLoss loss;
    loss.floor = kFloor * std::hypot(surrogate.sheet.length, surrogate.sheet.width);
    loss.squares = descent.squares;
    if (descent.width) loss.width = *descent.width;
    return loss;
}

std::vector<Clip> TrainingSet::training_clips(double tail_seconds) const
{
    return cut_clips(motion, split.training, reader.intervals(), 0, tail_seconds);
}

BatchGradient TrainingSet::gradient_of(const Cloth& cloth, bool zeros_stay) const
{
    return BatchGradient(cloth, step, motion.header.stride, options.threads, substeps, zeros_stay,
                         heartbeat, backends);
}

bool TrainingSet::keep_for(BatchGradient& gradient) const
{
    if (!gradient.can_keep(map)) return false;
    cache->keep_rollouts(memory_to_spare());
    for (const Trajectory& whole : validation) {
        gradient.keep(whole.part.rollout, whole.position, map);
    }
    return true;
}

std::shared_ptr<const Rollout> TrainingSet::whole_rollout(std::size_t rollout) const
{
    if (auto kept = cache->kept(rollout)) return kept;
    return std::make_shared<const Rollout>(motion.read(rollout, 0, motion.frame_counts[rollout]));
}

ValidationError TrainingSet::validation_error(BatchGradient& gradient,
                                              const ParameterValues& parameters) const
{
    ValidationError error;
    double sum = 0;
    std::size_t frames = 0;
    for (const auto& followed : gradient.follow(validation, map, parameters, {}, false)) {
        error.by_rollout.push_back(followed.result.error);
        sum += followed.result.error * double(followed.result.frames);
        frames += followed.result.frames;
    }
    error.mean = sum / double(frames);
    return error;
}

ValidationError TrainingSet::validation_error(const Cloth& cloth) const
{
    if (cloth.particle_count() != surrogate.particle_count()) {
        throw Error(
            "validation: a cloth of {} particles, but the grid has {}; give one of that grid",
            cloth.particle_count(), surrogate.particle_count());
    }
    BatchGradient gradient = gradient_of(cloth);
    return validation_error(gradient, parameters_of(cloth));
}

double validation_error(const Motion& motion, const TrainOptions& options, const Cloth& cloth)
{
    return TrainingSet(motion, options).validation_error(cloth).mean;
}

}  // namespace springtime
