#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "motion/clips.h"
#include "sim/frame_loss.h"
#include "sim/tape.h"
#include "sim/trajectory_gradient.h"
#include "springtime/motion.h"

namespace springtime {

// What a cloth has to follow: where it starts, what holds it, and the landmarks frame by frame.
struct Trajectory {
    State start;                  // of the particles; its time is zero
    Handles handles;              // of the particles
    std::size_t frame_count = 0;  // the start is the first
    // frames x landmarks x 3; NaN where one is missing [m]. Empty where a backend keeps the
    // landmarks of the rollout.
    std::vector<float> position;
    std::vector<std::uint8_t> free;  // by landmark: whether nothing holds it
    RolloutPart part;                // what of the motion it is

    bool counts(std::size_t frame, std::size_t landmark) const
    {
        return free[landmark] && !std::isnan(position[3 * (frame * free.size() + landmark)]);
    }
};

// Reads trajectories out of a motion. Where velocities are not stored, or landmarks are missing,
// the start is estimated from the frames around it, and projected onto the rest lengths of the
// surrogate if the motion was captured.
class TrajectoryReader {
  public:
    // All three must outlive the reader.
    TrajectoryReader(const Motion& motion, const Resampler& resampler, const Cloth& surrogate);

    // Up to `intervals` frame intervals, as many as the rollout has from there on. Where nobody
    // needs the landmarks, they need not be read.
    Trajectory read(const Clip& clip, std::size_t intervals, bool with_landmarks = true) const;
    std::vector<Trajectory> read(const std::vector<Clip>& clips, std::size_t intervals) const;
    // The same without anything that has to be read.
    Trajectory unread(const Clip& clip, std::size_t intervals) const;

    const Motion& motion() const { return *motion_; }

  private:
    const Motion* motion_;
    const Resampler* resampler_;
    const Cloth* surrogate_;
};

// The clips of one iteration: a share starts with its rollout, the others at random frames. They
// depend on the seed and the number of the iteration alone.
struct ClipDraw {
    std::size_t batch = 32;
    double start_share = 0.5;
    std::uint64_t seed = 1;

    std::vector<Clip> clips(const Motion& motion, const std::vector<std::size_t>& rollouts,
                            std::size_t intervals, int iteration) const;
};

// How far a cloth is from a trajectory.
using TrajectoryResult = TrajectoryGradient::Followed;

// Runs up to lane_count() trajectories side by side, of whatever lengths. Frames are `stride` steps
// apart. With gradients, adds that of the loss of each to its own.
template <class Real>
std::vector<TrajectoryResult> follow(Tape<Real>& tape, const LandmarkMap& map,
                                     std::span<const Trajectory* const> trajectories,
                                     const FrameLoss& loss, int stride, double speed_limit,
                                     std::span<ParameterValues* const> gradients);

}  // namespace springtime
