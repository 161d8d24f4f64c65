#include "learn/training_set.h"

#include <algorithm>

#include "springtime/error.h"

namespace springtime {

namespace {

// `count` of the clips, spread evenly.
std::vector<Clip> spread(const std::vector<Clip>& clips, std::size_t count)
{
    std::vector<Clip> chosen;
    const std::size_t n = std::min(count, clips.size());
    for (std::size_t i = 0; i < n; ++i) chosen.push_back(clips[i * clips.size() / n]);
    return chosen;
}

Substeps substeps_of(const TrainOptions& options, const MotionHeader& header)
{
    if (options.substeps) return *options.substeps;
    return header.captured ? Substeps{} : Substeps{1};
}

}  // namespace

TrainingSet::TrainingSet(const Motion& source, const TrainOptions& choices)
    : motion(source),
      options(choices),
      surrogate(make_surrogate(source.header, choices.grid, 1, 1, choices.law)),
      step{source.header.dt, source.header.environment, choices.device},
      substeps(substeps_of(choices, source.header)),
      resampler(surrogate, source.header),
      split(split_rollouts(source.frame_counts.size(), choices.validation_share, choices.seed)),
      reader(source, resampler, std::size_t(choices.clip_steps / source.header.stride), &surrogate)
{
    validation = targets_of(split.validation, std::size_t(std::max(1, options.validation_clips)));
}

std::vector<Rollout> TrainingSet::targets_of(const std::vector<std::size_t>& rollouts,
                                             std::size_t count) const
{
    if (!judges_whole_rollouts()) {
        return reader.read(spread(cut_clips(motion, rollouts, reader.intervals(), 0, 0), count));
    }
    constexpr std::size_t kMost = 16;  // in memory as a whole
    std::vector<Clip> whole;
    std::size_t frames = SIZE_MAX;  // all that every one of them has
    for (const std::size_t rollout : rollouts) {
        if (whole.size() == std::min(count, kMost)) break;
        whole.push_back({rollout, 0});
        frames = std::min(frames, motion.frame_counts[rollout]);
    }
    return ClipReader(motion, resampler, frames - 1, &surrogate).read(whole);
}

std::vector<Clip> TrainingSet::training_clips(double tail_seconds) const
{
    return cut_clips(motion, split.training, reader.intervals(), 0, tail_seconds);
}

BatchGradient TrainingSet::gradient_of(const Cloth& cloth) const
{
    return BatchGradient(cloth, step, motion.header.stride, options.threads, substeps);
}

double TrainingSet::validation_rmse(const Cloth& cloth) const
{
    if (cloth.springs.ends != surrogate.springs.ends) {
        throw Error(
            "validation: a cloth of {} springs, but the grid has {} others; give one with the "
            "same grid and families",
            cloth.springs.spring_count(), surrogate.springs.spring_count());
    }
    return gradient_of(cloth).motion_rmse(validation, parameters_of(cloth));
}

double validation_error(const Motion& motion, const TrainOptions& options, const Cloth& cloth)
{
    return TrainingSet(motion, options).validation_rmse(cloth);
}

}  // namespace springtime
