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

// Motions: landmarks over time, in memory or read from a file, and how they map to the particles of
// a surrogate.
namespace springtime {

// ---- Motions

inline constexpr int kLargestStride = 1000000;

// What all rollouts of a motion have in common.
struct MotionHeader {
    Sheet sheet;
    std::vector<SheetPoint> rest;  // landmarks in the flat sheet
    double dt = 1e-3;              // step of the source [s]
    int stride = 40;               // steps between stored frames
    Environment environment;
    std::uint64_t seed = 0;
    int rollouts_planned = 0;          // more than are stored if generating was interrupted
    bool contact = false;              // the cloth could touch obstacles or itself
    bool velocities = true;            // every rollout has them; false: there are positions alone
    bool gaps = false;                 // landmarks may be missing in some frames
    bool captured = false;             // the step of the source is unknown; dt is a part of a frame
    std::string config;                // TOML that made it; may be empty
    std::string source_cloth;          // JSON of the source cloth; empty when unknown
    std::optional<Globals> globals{};  // what with_globals() has applied

    std::size_t landmark_count() const { return rest.size(); }
    double frame_interval() const { return dt * stride; }  // [s]
    // Stored velocities are those at half of this step before the frame. [s]
    double source_step() const { return captured ? 0 : dt; }
};

// One motion of the landmarks. Arrays are frames x landmarks x 3. If a landmark is missing in a
// frame, all numbers that are stored of it there are NaN.
struct Rollout {
    // Number of frames that a state is estimated from: two more than a quadratic needs.
    static constexpr std::size_t kStateFrames = 5;

    std::size_t frame_count = 0;
    std::vector<float> position;      // [m]
    std::vector<float> velocity;      // [m/s]; empty if there are positions alone
    std::vector<float> acceleration;  // [m/s^2], at the step of the source; may be empty
    Handles handles;

    std::size_t landmark_count() const;
    bool seen(std::size_t frame, std::size_t landmark) const;
    // Position and velocity of one frame. The time counts from the first frame. Stored values are
    // taken as they are. Without velocities, or for a missing landmark, both are estimated by a
    // quadratic in time through the kStateFrames nearest frames that show the landmark. The
    // estimated velocity is that at t - dt/2, as the integrator has it: v = (x[n] - x[n-1]) / dt.
    // If fewer frames show the landmark, a line is used; if one frame does, the landmark is at
    // rest. If the landmark is seen only more than two frames to one side, the line is extended by
    // two frames. A pin is at rest at its mean observed position. A moving handle is on its path.
    // Throws Error naming a landmark that no frame shows.
    State state(std::size_t frame, double frame_interval, double dt = 0) const;
    State state(std::size_t frame, const MotionHeader& header) const;
    // Frames first to first + count - 1. Times count from the first of them.
    Rollout frames(std::size_t first, std::size_t count, double frame_interval) const;
};

// What is known of captured motion beside its positions.
struct CaptureOptions {
    Environment environment{};
    std::vector<int> pinned{};  // landmarks that are held in place
    // Landmarks that are held and moved. They follow their observed paths, in straight lines
    // through gaps.
    std::vector<int> driven{};
    double longest_step = 1e-3;  // [s]; dt is the largest whole part of a frame up to this
};

// Where another process finds a motion: a file, and which of its rollouts, as they are.
struct MotionSource {
    std::string path;
    std::vector<std::size_t> rollouts;
};

// Landmarks over time, with all that is known beside them: the input of learning. A motion lies in
// memory or is read in segments, so that it may be larger than memory. It is read by one thread at
// a time.
struct Motion {
    MotionHeader header;
    std::vector<std::size_t> frame_counts;  // of every rollout
    // Frames first to first + count - 1 of a rollout. Times count from the first of them.
    std::function<Rollout(std::size_t rollout, std::size_t first, std::size_t count)> read;
    std::optional<MotionSource> source{};  // whoever makes `read` tell something else resets it

    std::size_t rollout_count() const { return frame_counts.size(); }

    static Motion from_rollouts(const MotionHeader& header, std::vector<Rollout> rollouts);

    // Captured motion. `positions` is frames x landmarks x 3 [m], with NaN where a landmark is not
    // seen. Several recordings are given as one array each. The arrays are copied. Throws Error
    // that names the wrong field.
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

// A short run of consecutive frames of a rollout.
struct Clip {
    std::size_t rollout = 0;
    std::size_t first_frame = 0;

    bool operator==(const Clip&) const = default;
};

// ---- Preparing captured motion

// Cuts every rollout into `segments` segments of about equal length. Each segment is a rollout of
// its own, and no frame is in two of them. Nothing is copied: the source of the motion must outlive
// the result. Throws Error when a segment would have fewer than two frames.
Motion cut_into_segments(const Motion& motion, std::size_t segments);

// The number of segments to cut each rollout into, so that few rollouts can be split into training
// and validation: enough for five segments in all, but each at least a second long. A single
// rollout gives at least two segments, of half a second or more.
std::size_t segment_count(const Motion& motion);

// Some rollouts of a motion, in the given order. Nothing is copied, as above.
Motion select_rollouts(const Motion& motion, const std::vector<std::size_t>& rollouts);

// Removes from observed positions the strain that noise has put into the springs. A millimetre of
// noise on springs of 2 cm holds more energy than the weight of the sheet. A run that began with it
// would shake itself apart, and only overdamped cloths would do well. A few sweeps move the ends of
// structural and diagonal springs towards rest lengths. This evens out differences between
// neighbouring springs. A stretch that neighbours share stays, because the corrections from both
// sides cancel. Velocities are not changed, and handles are not moved.
void project_onto_rest_lengths(State& state, const Cloth& cloth, const std::vector<int>& handles);

// The motion as its globals say: the size of the sheet and the places of landmarks in it, gravity,
// drag, the paths of held landmarks, and where landmarks really are beside where a tracker shows
// them. The last only if the motion has as many landmarks as the tracker of the globals. A cloth
// that is made for this motion (make_surrogate) keeps the globals. A motion that globals were
// applied to stays as it is. Nothing is copied, as above. Throws Error if the motion states another
// size than the globals say.
Motion with_globals(const Motion& motion, const Globals& globals);

// ---- Starting from a motion

// Whether points of a sheet are the same, to a thousandth of a millimetre, as files may round them.
bool same_places(const std::vector<SheetPoint>& a, const std::vector<SheetPoint>& b);

// Where a run begins that follows a rollout, and what the motion says of the world.
struct MotionStart {
    State state;
    Handles handles;
    Environment environment;
    double dt = 1e-3;       // [s]
    bool observed = false;  // with the noise of a camera
};

// The start of a rollout for a cloth. Where its particles are not the landmarks, it is carried over
// to them. `source` names the motion in messages.
MotionStart start_of(const Motion& motion, std::size_t rollout, const Cloth& cloth,
                     const std::string& source);

// ---- Grids and resampling

// The rows and columns of points that form a regular grid, row by row from the north-west. Points
// on a line, equally spaced, are one row or one column.
std::optional<Grid> regular_grid(const std::vector<SheetPoint>& rest);

// A grid for a surrogate. It is the grid of the landmarks if they form one of 3 to 64 a side.
// Landmarks on a line are a rope: it gets a row with the spacing of the two closest landmarks, 3 to
// 64 particles. Otherwise the grid has about as many particles as there are landmarks, in the
// aspect of the sheet, 4 to 32 a side.
Grid fitting_grid(const MotionHeader& header);

// Maps fields over the landmarks of a source to the particles of a surrogate. Every particle has
// three landmarks around it in the flat sheet, with barycentric weights. If landmarks and particles
// lie on one line, as those of a rope do, a particle has the four landmarks around it, with the
// weights of a cubic. The weights sum to one, so that an affine motion of the landmarks is
// reproduced to rounding. A particle at the place of a landmark is that landmark.
class Resampler {
  public:
    struct Weights {
        std::array<int, 4> landmark{};
        std::array<double, 4> weight{};  // zero where a landmark does not count
    };

    // Throws Error when the landmarks do not span the plane, or the line of the particles.
    Resampler(const std::vector<SheetPoint>& landmarks, const std::vector<SheetPoint>& particles);
    // The landmarks of a motion keep their share of length and width, as in a LandmarkMap.
    Resampler(const Cloth& cloth, const MotionHeader& header);

    const std::vector<Weights>& weights() const { return weights_; }
    // Whether every particle lies on a landmark, so that nothing is interpolated.
    bool exact() const;
    std::size_t landmark_count() const { return landmark_rest_.size(); }
    std::size_t particle_count() const { return weights_.size(); }
    const std::vector<SheetPoint>& landmark_rest() const { return landmark_rest_; }
    const std::vector<SheetPoint>& particle_rest() const { return particle_rest_; }

    // The landmarks next to a particle with linear weights: its own, or the two neighbours on a
    // line.
    const Weights& around(std::size_t particle) const
    {
        return linear_.empty() ? weights_[particle] : linear_[particle];
    }
    // The particles with a weight for any of the landmarks.
    std::vector<int> leaning_on(const std::vector<int>& landmarks) const;

    // Maps any field of three components per landmark, in one frame or several: positions,
    // velocities, accelerations, forces.
    std::vector<float> apply(std::span<const float> field) const;

    // Maps a rollout of the landmarks to the particles. A particle is missing where a landmark with
    // a weight for it is missing. Handles follow held landmarks alone, never a path that was
    // observed of free cloth: a particle between held landmarks follows their weighted paths. A
    // held landmark takes the nearest particle along, too, at the distance that it has in the first
    // frame. Any other particle that leans on a held and a free landmark is free. `start`
    // is the state of the landmarks in the first frame; without it, rollout.state() tells it.
    Rollout apply(const Rollout& rollout, double frame_interval,
                  const std::optional<State>& start = std::nullopt) const;
    State apply(const State& state) const;

  private:
    void weigh_in_plane();

    std::vector<SheetPoint> landmark_rest_, particle_rest_;
    std::vector<Weights> weights_;
    std::vector<Weights> linear_;  // on a line alone
};

// The opposite of a Resampler: the landmarks of a motion as points of a cloth, so that the cloth
// can be compared where the motion was seen. Every landmark is a weighted sum of up to four
// particles: bilinear in its cell of a grid, cubic along a grid of one row, linear in a triangle of
// particles without a grid. The weights sum to one and reproduce an affine motion. A landmark at
// the place of a particle is that particle.
class LandmarkMap {
  public:
    struct Weights {
        std::array<int, 4> particle{};
        std::array<double, 4> weight{};  // zero where a particle does not count
    };

    // `landmarks` lie in `sheet`, whose size may differ from that of the cloth: a landmark keeps
    // its share of length and width. Along a grid of one row only its share of the length counts,
    // along one column that of the width.
    LandmarkMap(const Cloth& cloth, const Sheet& sheet, const std::vector<SheetPoint>& landmarks);
    LandmarkMap(const Cloth& cloth, const MotionHeader& header);
    // Of weights that are known, one entry per landmark.
    LandmarkMap(std::size_t particles, std::vector<Weights> weights)
        : particle_count_(particles), weights_(std::move(weights))
    {
    }

    const std::vector<Weights>& weights() const { return weights_; }
    std::size_t landmark_count() const { return weights_.size(); }
    std::size_t particle_count() const { return particle_count_; }
    // Whether every landmark lies on a particle, so that nothing is interpolated.
    bool exact() const;

    // The landmarks of a field over the particles.
    std::vector<Vec3d> apply(std::span<const Vec3d> particles) const;

    // The same for arrays [particle][xyz][lane] and [landmark][xyz][lane].
    template <class T>
    void apply(const T* particles, std::size_t lanes, T* landmarks) const
    {
        const std::size_t row = 3 * lanes;
        for (std::size_t i = 0; i < weights_.size(); ++i) {
            T* to = landmarks + i * row;
            for (std::size_t j = 0; j < row; ++j) to[j] = T(0);
            for_each_share(i, [&](std::size_t particle, double weight) {
                const T* from = particles + particle * row;
                for (std::size_t j = 0; j < row; ++j) to[j] += T(weight) * from[j];
            });
        }
    }

    // The transposed map: adds the adjoints of the landmarks to those of the particles.
    template <class T>
    void add_adjoint(const T* landmarks, std::size_t lanes, T* particles) const
    {
        const std::size_t row = 3 * lanes;
        for (std::size_t i = 0; i < weights_.size(); ++i) {
            const T* from = landmarks + i * row;
            for_each_share(i, [&](std::size_t particle, double weight) {
                T* to = particles + particle * row;
                for (std::size_t j = 0; j < row; ++j) to[j] += T(weight) * from[j];
            });
        }
    }

  private:
    // Particles and weights of a landmark, without those that do not count.
    template <class Use>
    void for_each_share(std::size_t landmark, Use use) const
    {
        const Weights& weights = weights_[landmark];
        for (std::size_t j = 0; j < weights.weight.size(); ++j) {
            if (weights.weight[j] != 0) use(std::size_t(weights.particle[j]), weights.weight[j]);
        }
    }

    std::size_t particle_count_ = 0;
    std::vector<Weights> weights_;
};

// Root mean square of the distance between the particles of a cloth and the same points of the
// sheet on another cloth. [m]
double sheet_rmse(const Cloth& cloth, const State& state, const Cloth& other,
                  const State& other_state);

}  // namespace springtime
