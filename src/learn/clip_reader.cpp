#include "learn/clip_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/parallel.h"
#include "learn/loss.h"
#include "springtime/motion.h"

namespace springtime {

namespace {

// Whether every landmark is seen often enough near a frame for its state there to be estimated.
bool tells_state(const Rollout& rollout, std::size_t frame, std::size_t margin)
{
    const std::size_t first = frame > margin ? frame - margin : 0;
    const std::size_t end = std::min(frame + margin + 1, rollout.frame_count);
    for (std::size_t l = 0; l < rollout.landmark_count(); ++l) {
        std::size_t seen = 0;
        for (std::size_t f = first; f < end; ++f) seen += rollout.seen(f, l);
        if (seen < Rollout::kStateFrames) return false;
    }
    return true;
}

void put_frame(std::vector<float>& values, std::size_t frame, const std::vector<Vec3d>& from)
{
    float* to = &values[3 * frame * from.size()];
    for (const Vec3d& a : from) {
        for (int axis = 0; axis < 3; ++axis) *to++ = float(a[axis]);
    }
}

// Velocities in the last frame alone, of those that are seen there.
std::vector<float> last_velocity(const Rollout& clip, const State& last)
{
    const std::size_t row = 3 * last.velocity.size();
    std::vector<float> result(clip.position.size(), std::numeric_limits<float>::quiet_NaN());
    put_frame(result, clip.frame_count - 1, last.velocity);
    for (std::size_t i = result.size() - row; i < result.size(); ++i) {
        if (std::isnan(clip.position[i])) result[i] = clip.position[i];
    }
    return result;
}

// Carried over to the particles in the first frame and the last, missing between them.
std::vector<float> ends_of(std::span<const float> field, const Resampler& resampler)
{
    const std::size_t from = 3 * resampler.landmark_count(), to = 3 * resampler.particle_count();
    const std::size_t frames = field.size() / from;
    std::vector<float> result(frames * to, std::numeric_limits<float>::quiet_NaN());
    for (const std::size_t frame : {std::size_t(0), frames - 1}) {
        const std::vector<float> values = resampler.apply(field.subspan(frame * from, from));
        std::copy(values.begin(), values.end(), result.begin() + std::ptrdiff_t(frame * to));
    }
    return result;
}

}  // namespace

ClipFields fields_of(const LossWeights& weights)
{
    return {weights.position != 0, weights.force != 0};
}

FrameWindow window_around(const Motion& motion, const Clip& clip, std::size_t intervals)
{
    if (motion.header.velocities && !motion.header.gaps) {
        return {motion.read(clip.rollout, clip.first_frame, intervals + 1), 0};
    }
    const std::size_t frames = motion.frame_counts[clip.rollout];
    for (std::size_t margin = Rollout::kStateFrames - 1;; margin *= 2) {
        const std::size_t first = clip.first_frame > margin ? clip.first_frame - margin : 0;
        const std::size_t end = std::min(clip.first_frame + intervals + margin + 1, frames);
        FrameWindow window{motion.read(clip.rollout, first, end - first), clip.first_frame - first};
        const bool whole = first == 0 && end == frames;
        if (whole || (tells_state(window.rollout, window.clip_start, margin) &&
                      tells_state(window.rollout, window.clip_start + intervals, margin))) {
            return window;
        }
    }
}

ClipReader::ClipReader(const Motion& motion, const Resampler& resampler, std::size_t intervals,
                       const Cloth* surrogate)
    : motion_(&motion), resampler_(&resampler), intervals_(intervals), surrogate_(surrogate)
{
}

Rollout ClipReader::read(const Clip& clip, const ClipFields& fields) const
{
    const bool stored = motion_->header.velocities && !motion_->header.gaps;
    return stored ? read_stored(clip, fields) : read_observed(clip);
}

Rollout ClipReader::read_stored(const Clip& clip, const ClipFields& fields) const
{
    const double interval = motion_->header.frame_interval();
    Rollout seen = motion_->read(clip.rollout, clip.first_frame, intervals_ + 1);
    const auto carried = [&](const std::vector<float>& field, bool all) {
        return all || field.empty() ? resampler_->apply(field) : ends_of(field, *resampler_);
    };
    const bool differences = seen.acceleration.empty();
    Rollout target;
    target.frame_count = seen.frame_count;
    target.position = carried(seen.position, fields.position || differences);
    target.velocity = carried(seen.velocity, false);
    target.acceleration = carried(seen.acceleration, fields.acceleration);
    std::optional<State> start;
    if (seen.handles.moving()) start = seen.state(0, interval);
    Rollout held;
    held.handles = std::move(seen.handles);
    target.handles = resampler_->apply(held, interval, start).handles;
    if (differences) {
        target.acceleration =
            difference_acceleration(target, resampler_->particle_count(), interval);
    }
    return target;
}

Rollout ClipReader::read_observed(const Clip& clip) const
{
    const MotionHeader& header = motion_->header;
    const double interval = header.frame_interval();
    const FrameWindow window = window_around(*motion_, clip, intervals_);
    const auto state_at = [&](std::size_t frame) {
        return resampler_->apply(window.rollout.state(window.clip_start + frame, header));
    };
    Rollout target =
        resampler_->apply(window.rollout.frames(window.clip_start, intervals_ + 1, interval),
                          interval, window.rollout.state(window.clip_start, header));
    if (target.acceleration.empty()) {
        target.acceleration =
            difference_acceleration(target, resampler_->particle_count(), interval);
    }
    if (target.velocity.empty()) target.velocity = last_velocity(target, state_at(intervals_));
    State start = state_at(0);
    if (surrogate_ && header.captured)
        project_onto_rest_lengths(start, *surrogate_, target.handles.particles);
    put_frame(target.position, 0, start.position);
    put_frame(target.velocity, 0, start.velocity);
    return target;
}

std::vector<Rollout> ClipReader::read(const std::vector<Clip>& clips, const ClipFields& fields,
                                      int threads) const
{
    std::vector<Rollout> targets(clips.size());
    parallel_for(int(clips.size()), thread_count(threads),
                 [&](int i) { targets[std::size_t(i)] = read(clips[std::size_t(i)], fields); });
    return targets;
}

BatchReader::BatchReader(const ClipReader& reader, std::vector<Clip> clips, std::size_t batch,
                         std::uint64_t seed, std::size_t batches_done, const ClipFields& fields,
                         int threads, Prepare prepare)
    : reader_(&reader),
      clips_(std::move(clips)),
      batch_(batch),
      fields_(fields),
      threads_(threads),
      prepare_(std::move(prepare)),
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
    coming_ = std::async(std::launch::async, [this, chosen = std::move(chosen)] {
        Batch batch{chosen, reader_->read(chosen, fields_, threads_), nullptr};
        if (prepare_) batch.prepared = prepare_(batch.targets);
        return batch;
    });
}

BatchReader::Batch BatchReader::next()
{
    Batch batch = coming_.get();
    start();
    return batch;
}

}  // namespace springtime
