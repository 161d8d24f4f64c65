#include "learn/clip_reader.h"

#include "learn/loss.h"

namespace springtime {

ClipReader::ClipReader(const MotionSource& motion, const Resampler& resampler,
                       std::size_t intervals)
    : motion_(&motion), resampler_(&resampler), intervals_(intervals)
{
}

Rollout ClipReader::read(const Clip& clip) const
{
    const double interval = motion_->header.frame_interval();
    Rollout target =
        resampler_->apply(motion_->read(clip.rollout, clip.first_frame, intervals_ + 1), interval);
    if (target.acceleration.empty()) {
        target.acceleration =
            difference_acceleration(target, resampler_->particle_count(), interval);
    }
    return target;
}

std::vector<Rollout> ClipReader::read(const std::vector<Clip>& clips) const
{
    std::vector<Rollout> targets;
    for (const Clip& clip : clips) targets.push_back(read(clip));
    return targets;
}

BatchReader::BatchReader(const ClipReader& reader, std::vector<Clip> clips, std::size_t batch,
                         std::uint64_t seed, std::size_t batches_done)
    : reader_(&reader),
      clips_(std::move(clips)),
      batch_(batch),
      shuffle_(clips_.size(), seed, batches_done * batch)
{
    start();
}

BatchReader::~BatchReader()
{
    if (coming_.valid()) coming_.wait();
}

void BatchReader::start()
{
    std::vector<Clip> chosen;
    for (std::size_t i = 0; i < batch_; ++i) chosen.push_back(clips_[shuffle_.next()]);
    coming_ = std::async(std::launch::async, [reader = reader_, chosen = std::move(chosen)] {
        return Batch{chosen, reader->read(chosen)};
    });
}

BatchReader::Batch BatchReader::next()
{
    Batch batch = coming_.get();
    start();
    return batch;
}

}  // namespace springtime
