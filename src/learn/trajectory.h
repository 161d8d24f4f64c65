#pragma once

#include <cstdint>
#include <future>
#include <limits>
#include <span>
#include <vector>

#include "motion/clips.h"
#include "sim/tape.h"
#include "springtime/motion.h"

namespace springtime {

// What a cloth has to follow: where it starts, what holds it, and the landmarks frame by frame.
struct Trajectory {
    State start;                     // of the particles; its time is zero
    Handles handles;                 // of the particles
    std::size_t frame_count = 0;     // the start is the first
    std::vector<float> position;     // frames x landmarks x 3; NaN where one is missing [m]
    std::vector<std::uint8_t> free;  // by landmark: whether nothing holds it

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

    // Up to `intervals` frame intervals, as many as the rollout has from there on.
    Trajectory read(const Clip& clip, std::size_t intervals) const;
    std::vector<Trajectory> read(const std::vector<Clip>& clips, std::size_t intervals) const;

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

// How far a cloth is from a trajectory. The error of a frame is the root mean square of the
// distance over the landmarks that are free and seen,
//   r = sqrt(1/n sum h(|x - x^|^2)),  h(s) = 2 w^2 (sqrt(1 + s/w^2) - 1),
// which is the plain one for an infinite width w; beyond a finite width h grows like the distance
// instead of its square, so that outliers count less. The loss is the mean over the frames of r, or
// of its square. Below the floor r counts like r^2, so that the gradient of an error that is
// rounding or noise vanishes.
struct TrajectoryLoss {
    double floor = 0;                                        // [m]
    double width = std::numeric_limits<double>::infinity();  // [m]
    bool squares = false;

    double of(double frame_error) const;
    // Derivative of of() by its argument, over the argument: what the adjoint of a frame is scaled
    // by.
    double slope(double frame_error) const;
};

struct TrajectoryResult {
    double loss = 0;
    double error = 0;  // mean over the frames of the plain root mean square; NaN: it blew up [m]
    std::size_t frames = 0;  // that show any landmark
};

// Runs up to lane_count() trajectories side by side, of whatever lengths. Frames are `stride` steps
// apart. With gradients, adds that of the loss of each to its own.
template <class Real>
std::vector<TrajectoryResult> follow(Tape<Real>& tape, const LandmarkMap& map,
                                     std::span<const Trajectory* const> trajectories,
                                     const TrajectoryLoss& loss, int stride, double speed_limit,
                                     std::span<ParameterValues* const> gradients);

}  // namespace springtime
