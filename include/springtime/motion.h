#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "springtime/cloth.h"
#include "springtime/simulation.h"

namespace springtime {

// What all rollouts of a motion have in common.
struct MotionHeader {
    Sheet sheet;
    std::vector<SheetPoint> rest;  // landmarks in the flat sheet
    double dt = 1e-3;              // step of the source [s]
    int stride = 40;               // steps between stored frames
    Environment environment;
    std::uint64_t seed = 0;
    int rollouts_planned = 0;  // more than are stored when the making was interrupted
    bool contact = false;      // the cloth could touch obstacles or itself
    bool velocities = true;    // every rollout has them; otherwise positions are all there is
    bool gaps = false;         // landmarks may be missing in some frames
    bool captured = false;     // no step of a source is known: dt is but a fitting part of a frame
    std::string config;        // TOML that made it; may be empty
    std::string source_cloth;  // JSON of the source cloth; empty when unknown

    std::size_t landmark_count() const { return rest.size(); }
    double frame_interval() const { return dt * stride; }  // [s]
    // Velocities are those of half a step of this before. [s]
    double source_step() const { return captured ? 0 : dt; }
};

// One motion of the landmarks. Arrays are frames x landmarks x 3. A landmark that is missing in a
// frame has NaN in all three coordinates of its position there, and of all else that is stored.
struct Rollout {
    // Frames that an estimated state is taken from: two more than a quadratic needs.
    static constexpr std::size_t kStateFrames = 5;

    std::size_t frame_count = 0;
    std::vector<float> position;      // [m]
    std::vector<float> velocity;      // [m/s]; empty when positions are all there is
    std::vector<float> acceleration;  // [m/s^2], at the step of the source; may be empty
    Handles handles;

    std::size_t landmark_count() const;
    bool seen(std::size_t frame, std::size_t landmark) const;
    // Position and velocity of one frame. The time counts from the first. What is stored is taken
    // as it is. Without velocities, and where a landmark is missing, a quadratic in time through
    // the kStateFrames nearest to it that show the landmark says both; the velocity is then that of
    // the half step before, at t - dt/2, as the integrator has it: v = (x[n] - x[n-1]) / dt. Fewer
    // frames give a line, a single one rest; a landmark that is only seen more than two frames to
    // one side is put two frames beyond them, on a line. A pin is at rest at the mean of where it
    // was seen; a moving handle is on its path. Throws Error naming a landmark that no frame shows.
    State state(std::size_t frame, double frame_interval, double dt = 0) const;
    State state(std::size_t frame, const MotionHeader& header) const;
    // Frames [first, first + count). Times count from the first of them.
    Rollout frames(std::size_t first, std::size_t count, double frame_interval) const;
};

// What arrays of positions alone do not say.
struct CaptureOptions {
    Environment environment{};
    std::vector<int> pinned{};  // landmarks that are held fast
    // Landmarks that are held and moved: their observed paths are prescribed, on straight lines
    // through gaps.
    std::vector<int> driven{};
    double longest_step = 1e-3;  // [s]; dt is the longest whole part of a frame below it
};

// Landmarks over time, with all that is known beside them: the input of learning. It lies in memory
// or is read segment by segment, so that it may be larger than memory. It is only ever read by one
// thread at a time.
struct Motion {
    MotionHeader header;
    std::vector<std::size_t> frame_counts;  // of every rollout
    // Frames [first, first + count) of a rollout. Times count from the first of them.
    std::function<Rollout(std::size_t rollout, std::size_t first, std::size_t count)> read;

    std::size_t rollout_count() const { return frame_counts.size(); }

    static Motion from_rollouts(const MotionHeader& header, std::vector<Rollout> rollouts);

    // Captured motion. `positions` is frames x landmarks x 3 [m], NaN where a landmark is not seen;
    // of several recordings one array each. It is copied. Throws Error naming the field that is
    // wrong.
    static Motion from_arrays(const Sheet& sheet, const std::vector<SheetPoint>& rest,
                              double frames_per_second, std::span<const float> positions,
                              const CaptureOptions& options = {});
    static Motion from_arrays(const Sheet& sheet, const std::vector<SheetPoint>& rest,
                              double frames_per_second, std::span<const double> positions,
                              const CaptureOptions& options = {});
    static Motion from_arrays(const Sheet& sheet, const std::vector<SheetPoint>& rest,
                              double frames_per_second,
                              const std::vector<std::span<const float>>& recordings,
                              const CaptureOptions& options = {});
    static Motion from_arrays(const Sheet& sheet, const std::vector<SheetPoint>& rest,
                              double frames_per_second,
                              const std::vector<std::span<const double>>& recordings,
                              const CaptureOptions& options = {});
};

// What motion that was observed, not made, needs before it can be learned from.

// The motion with every rollout cut into that many segments of about the same length, each a
// rollout that knows nothing of the others; no frame is in two of them. Nothing is copied: what the
// motion reads from must outlive it. Throws Error when there are fewer than two frames for each.
Motion cut_into_segments(const Motion& motion, std::size_t segments);

// Segments to cut each of a few rollouts into, so that leaving one out costs little: as many as
// make five of all of them and leave a second in each; of a single rollout half a second, and two
// at least.
std::size_t segment_count(const Motion& motion);

// Takes out of observed positions what noise has put into the springs. A millimetre of noise on
// springs of 2 cm holds more energy than the sheet's weight, and a run that began with it would
// shake itself apart, so that only overdamped cloths looked good. Some sweeps move the ends of
// structural and diagonal springs towards rest lengths. That evens out what neighbouring springs
// disagree about; a stretch that they share stays, since the pulls from both sides cancel.
// Velocities stay as they are. Handles are not moved.
void project_onto_rest_lengths(State& state, const Cloth& cloth, const std::vector<int>& handles);

// Rows and columns, when the points are a regular grid, given row by row from the north-west.
std::optional<Grid> regular_grid(const std::vector<SheetPoint>& rest);

// The grid of a surrogate: that of the landmarks, when they are one of 3 to 64 a side, otherwise
// about as many particles as landmarks with the aspect of the sheet, 4 to 32 a side.
Grid fitting_grid(const MotionHeader& header);

// Takes fields over the landmarks of a source to the particles of a surrogate. Every particle has
// three landmarks around it in the flat sheet, with barycentric weights: they sum to one, and an
// affine motion of the landmarks is reproduced to rounding.
class Resampler {
  public:
    struct Weights {
        std::array<int, 3> landmark{};
        std::array<double, 3> weight{};  // zero where a landmark does not count
    };

    // Throws Error when the landmarks do not span the plane.
    Resampler(const std::vector<SheetPoint>& landmarks, const std::vector<SheetPoint>& particles);

    const std::vector<Weights>& weights() const { return weights_; }
    // Whether every particle lies on a landmark, so that nothing is interpolated.
    bool exact() const;
    std::size_t landmark_count() const { return landmark_count_; }
    std::size_t particle_count() const { return weights_.size(); }

    // Any field of three components per landmark, one frame or several: positions, velocities,
    // accelerations, forces.
    std::vector<float> apply(std::span<const float> field) const;

    // A rollout of the landmarks as one of the particles. A particle is missing where any landmark
    // that counts for it is. A particle that hangs on a handle is a handle. When all of them hang
    // on standing handles alone they are pins; otherwise they follow the weighted paths of their
    // landmarks: those of moving handles by their keys, taken at every frame, all others as
    // observed, on straight lines through gaps. Throws Error naming a landmark on
    // such a path that no frame shows.
    Rollout apply(const Rollout& rollout, double frame_interval) const;
    State apply(const State& state) const;

  private:
    std::size_t landmark_count_ = 0;
    std::vector<Weights> weights_;
};

// Root of the mean squared distance between the particles of a cloth and the same points of the
// sheet on another cloth. [m]
double sheet_rmse(const Cloth& cloth, const State& state, const Cloth& other,
                  const State& other_state);

}  // namespace springtime
