#include "learn/trajectory.h"

#include <algorithm>
#include <cmath>

#include "core/assert.h"
#include "core/random.h"
#include "learn/clip_reader.h"
#include "springtime/error.h"

namespace springtime {

TrajectoryReader::TrajectoryReader(const Motion& motion, const Resampler& resampler,
                                   const Cloth& surrogate)
    : motion_(&motion), resampler_(&resampler), surrogate_(&surrogate)
{
}

Trajectory TrajectoryReader::read(const Clip& clip, std::size_t intervals,
                                  bool with_landmarks) const
{
    const MotionHeader& header = motion_->header;
    const double interval = header.frame_interval();
    Trajectory result = unread(clip, intervals);
    // A stored start tells itself; one that is estimated depends on what is read around it.
    const bool start_alone = !with_landmarks && header.velocities && !header.gaps;
    const std::size_t frames = start_alone ? 1 : result.frame_count;
    const FrameWindow window = window_around(*motion_, clip, frames - 1);
    const State landmarks = window.rollout.state(window.clip_start, header);
    result.start = resampler_->apply(landmarks);
    result.start.time = 0;
    Rollout seen = window.rollout.frames(window.clip_start, frames, interval);
    if (with_landmarks) result.position = std::move(seen.position);
    result.free.assign(header.landmark_count(), 1);
    for (const int landmark : seen.handles.particles) result.free[std::size_t(landmark)] = 0;
    Rollout held;  // without observed paths: nothing can depend on them
    held.handles = std::move(seen.handles);
    result.handles = resampler_->apply(held, interval, landmarks).handles;
    if (header.captured && !header.velocities) {
        project_onto_rest_lengths(result.start, *surrogate_, result.handles.particles);
    }
    return result;
}

Trajectory TrajectoryReader::unread(const Clip& clip, std::size_t intervals) const
{
    const std::size_t left = motion_->frame_counts[clip.rollout] - 1 - clip.first_frame;
    Trajectory result;
    result.part = {clip.rollout, clip.first_frame};
    result.frame_count = std::min(intervals, left) + 1;
    return result;
}

std::vector<Trajectory> TrajectoryReader::read(const std::vector<Clip>& clips,
                                               std::size_t intervals) const
{
    std::vector<Trajectory> result;
    for (const Clip& clip : clips) result.push_back(read(clip, intervals));
    return result;
}

std::vector<Clip> ClipDraw::clips(const Motion& motion, const std::vector<std::size_t>& rollouts,
                                  std::size_t intervals, int iteration) const
{
    ClipShuffle shuffle(rollouts.size(), seed, std::uint64_t(iteration) * batch);
    Random random = Random::stream(seed, std::uint64_t(iteration));
    const auto starts = std::size_t(std::llround(start_share * double(batch)));
    std::vector<Clip> drawn;
    for (std::size_t i = 0; i < batch; ++i) {
        const std::size_t rollout = rollouts[shuffle.next()];
        const std::size_t last = motion.frame_counts[rollout] - 1;
        const std::size_t latest = last - std::min(intervals, last);
        const auto frame = std::size_t(random.uniform() * double(latest + 1));
        drawn.push_back({rollout, i < starts ? 0 : frame});
    }
    return drawn;
}

namespace {

// Some trajectories side by side, there and back.
template <class Real>
class FollowRun {
  public:
    FollowRun(Tape<Real>& tape, const LandmarkMap& map,
              std::span<const Trajectory* const> trajectories, const FrameLoss& loss, int stride,
              double speed_limit)
        : tape_(tape),
          map_(map),
          trajectories_(trajectories),
          loss_(loss),
          stride_(stride),
          speed_limit_(speed_limit),
          lanes_(std::size_t(tape.lane_count())),
          landmarks_(3 * map.landmark_count() * lanes_),
          results_(trajectories.size())
    {
        for (const Trajectory* trajectory : trajectories) {
            frames_ = std::max(frames_, trajectory->frame_count);
        }
        scale_.assign(frames_ * lanes_, 0);
    }

    std::vector<TrajectoryResult> walk_there()
    {
        tape_.begin(int(frames_ - 1) * stride_);
        for (std::size_t lane = 0; lane < trajectories_.size(); ++lane) {
            tape_.load(int(lane), trajectories_[lane]->start, trajectories_[lane]->handles);
        }
        for (std::size_t f = 0; f < frames_; ++f) {
            if (f > 0) tape_.advance(stride_);
            map_.apply(tape_.position().data(), lanes_, landmarks_.data());
            for (std::size_t lane = 0; lane < trajectories_.size(); ++lane) measure(f, lane);
        }
        for (std::size_t lane = 0; lane < trajectories_.size(); ++lane) finish(lane);
        return results_;
    }

    // The adjoint of a frame: scale h'(s) (x - x^), with scale = slope / (n F).
    void walk_back()
    {
        tape_.begin_back();
        for (std::size_t f = frames_; f-- > 0;) {
            map_.apply(tape_.position().data(), lanes_, landmarks_.data());
            std::fill(back_.begin(), back_.end(), Real(0));
            back_.resize(landmarks_.size());
            for (std::size_t lane = 0; lane < trajectories_.size(); ++lane) push(f, lane);
            map_.add_adjoint(back_.data(), lanes_, tape_.position_adjoint().data());
            if (f > 0) tape_.retreat(stride_);
        }
    }

  private:
    Vec3d difference(std::size_t frame, std::size_t lane, std::size_t landmark) const
    {
        const Trajectory& target = *trajectories_[lane];
        const float* x = &target.position[3 * (frame * target.free.size() + landmark)];
        const Real* at = &landmarks_[3 * landmark * lanes_ + lane];
        return {double(at[0]) - x[0], double(at[lanes_]) - x[1], double(at[2 * lanes_]) - x[2]};
    }

    void measure(std::size_t f, std::size_t lane)
    {
        const Trajectory& target = *trajectories_[lane];
        if (f >= target.frame_count) return;
        double sum = 0, plain = 0;
        std::size_t seen = 0;
        for (std::size_t l = 0; l < target.free.size(); ++l) {
            if (!target.counts(f, l)) continue;
            const Vec3d d = difference(f, lane, l);
            sum += loss_.bent(dot(d, d));
            plain += dot(d, d);
            ++seen;
        }
        if (seen == 0) return;
        const double error = std::sqrt(sum / double(seen));
        TrajectoryResult& result = results_[lane];
        result.loss += loss_.of(error);
        result.error += std::sqrt(plain / double(seen));
        ++result.frames;
        scale_[f * lanes_ + lane] = loss_.slope(error) / double(seen);
    }

    void finish(std::size_t lane)
    {
        TrajectoryResult& result = results_[lane];
        if (result.frames == 0) return;
        result.loss /= double(result.frames);
        result.error /= double(result.frames);
        // A blow-up may stay finite for a while; its error means nothing.
        const auto v = tape_.velocity();
        for (std::size_t i = lane; i < v.size(); i += lanes_) {
            if (std::abs(double(v[i])) <= speed_limit_) continue;
            result.loss = result.error = std::nan("");
            return;
        }
    }

    void push(std::size_t f, std::size_t lane)
    {
        const Trajectory& target = *trajectories_[lane];
        const TrajectoryResult& result = results_[lane];
        const double scale = scale_[f * lanes_ + lane];
        if (f >= target.frame_count || scale == 0 || !std::isfinite(result.loss)) return;
        for (std::size_t l = 0; l < target.free.size(); ++l) {
            if (!target.counts(f, l)) continue;
            const Vec3d d = difference(f, lane, l);
            const double by = scale / double(result.frames) * loss_.bent_slope(dot(d, d));
            Real* to = &back_[3 * l * lanes_ + lane];
            for (int axis = 0; axis < 3; ++axis)
                to[std::size_t(axis) * lanes_] = Real(by * d[axis]);
        }
    }

    Tape<Real>& tape_;
    const LandmarkMap& map_;
    std::span<const Trajectory* const> trajectories_;
    const FrameLoss& loss_;
    int stride_;
    double speed_limit_;
    std::size_t lanes_, frames_ = 0;
    std::vector<Real> landmarks_, back_;  // [landmark][xyz][lane], of the present frame
    std::vector<double> scale_;           // [frame][lane]
    std::vector<TrajectoryResult> results_;
};

}  // namespace

template <class Real>
std::vector<TrajectoryResult> follow(Tape<Real>& tape, const LandmarkMap& map,
                                     std::span<const Trajectory* const> trajectories,
                                     const FrameLoss& loss, int stride, double speed_limit,
                                     std::span<ParameterValues* const> gradients)
{
    SPRINGTIME_ASSERT(!trajectories.empty() && int(trajectories.size()) <= tape.lane_count());
    FollowRun<Real> run(tape, map, trajectories, loss, stride, speed_limit);
    const std::vector<TrajectoryResult> results = run.walk_there();
    if (gradients.empty()) return results;
    run.walk_back();
    for (std::size_t lane = 0; lane < trajectories.size(); ++lane) {
        if (std::isfinite(results[lane].loss)) tape.add_lane_gradient(int(lane), *gradients[lane]);
    }
    return results;
}

template std::vector<TrajectoryResult> follow(Tape<float>&, const LandmarkMap&,
                                              std::span<const Trajectory* const>, const FrameLoss&,
                                              int, double, std::span<ParameterValues* const>);
template std::vector<TrajectoryResult> follow(Tape<double>&, const LandmarkMap&,
                                              std::span<const Trajectory* const>, const FrameLoss&,
                                              int, double, std::span<ParameterValues* const>);

}  // namespace springtime
