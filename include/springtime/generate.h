#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "springtime/error.h"
#include "springtime/motion.h"
#include "springtime/simulation.h"

// Motion from simulation: recording a run, generating many rollouts, and what a camera would see.
namespace springtime {

// ---- Recording

// The frames of a run. After a blow-up or when it is cancelled, it has the frames before that.
struct Recording {
    Rollout rollout;
    std::optional<StepReport> blow_up;
    bool settled = false;  // always false without a rest rule
};

// Advances the simulation and keeps every stride-th step, beginning with the present state. With a
// rest rule, recording ends early once the cloth has settled and all paths have ended. When
// recording is cancelled, `recording` has the frames so far.
void record(Simulation& simulation, std::size_t frames, int stride, Recording& recording,
            const Progress& progress = {}, const std::optional<RestRule>& rest = {});
Recording record(Simulation& simulation, std::size_t frames, int stride,
                 const Progress& progress = {}, const std::optional<RestRule>& rest = {});

// ---- Generating

// Rollouts of a falling sheet. It starts flat in a random orientation and is held at random
// anchors.
struct GenerateOptions {
    int rollouts = 512;
    double seconds = 8;  // [s] per rollout
    double dt = 1e-3;    // [s]
    int stride = 40;     // steps between stored frames
    int anchors = 2;
    int anchor_size = 3;  // an anchor holds anchor_size x anchor_size particles of a grid
    // [m]. Above 0, an anchor is a disc of the sheet instead, and the cloth need not be a grid.
    double anchor_radius = 0;
    // Particles that are pinned in every rollout, instead of random anchors. The sheet then starts
    // level, with a small tilt that differs from rollout to rollout.
    std::vector<int> pinned{};
    Environment environment;
    std::uint64_t seed = 1;
    int threads = 0;  // 0: all cores
    Device device = Device::automatic;
    Crew* crew = nullptr;  // shares the work, with as many threads on every rank
};

// Receives finished rollouts in the order of their index.
using RolloutSink = std::function<void(int index, const Rollout&)>;

// Throws Error unless rollouts of this cloth can be generated with these options.
void check_generate(const Cloth& cloth, const GenerateOptions& options);

// The start and the anchors of rollout `index`. They depend on the seed and the index alone. The
// rotation and the positions of discs do not depend on the particles, so that several meshes of one
// sheet can be compared rollout by rollout.
struct RolloutStart {
    State state;
    Handles handles;
};
RolloutStart random_start(const Cloth& cloth, const GenerateOptions& options, int index);

// Simulates rollouts `first` to options.rollouts - 1. The result does not depend on the number of
// threads. When it is cancelled, the sink has received all finished rollouts. Throws Failure when a
// rollout blows up.
void generate(const Cloth& cloth, const GenerateOptions& options, int first,
              const RolloutSink& sink, const Progress& progress = {});

// ---- Observing

// Frames per second instead of a number of steps: `dt` becomes the longest step up to the given one
// of which a whole number, the stride, makes a frame.
void set_frame_rate(double fps, double& dt, int& stride);

// How a camera sees a motion.
struct ObserveOptions {
    double noise = 0;           // standard deviation of every coordinate [m]: white, Gaussian
    double gaps = 0;            // share of the landmarks that are missing in a frame
    double gap_seconds = 0.25;  // mean length of a gap [s]; never below a frame
    bool positions_only = false;
    // Of a grid of landmarks, only every so many rows and columns, with all four edges.
    int every = 1;
};

// Throws Error unless the options are valid for this motion. Noise needs positions_only, because no
// camera measures true velocities beside noisy positions.
void check_observe(const ObserveOptions& options, const MotionHeader& header);

// Changes the header of a motion into that of the observed motion.
void observe_header(MotionHeader& header, const ObserveOptions& options);

// The rollout as a camera sees it; the header is that of the observed motion. Every landmark, pins
// included, gets independent noise in every frame and is missing at random. Accelerations are
// dropped together with velocities. The list of handles and the keys of moving handles stay, but
// for landmarks that are not seen at all. The result depends on the rollout, the options, the seed
// and the number of the rollout alone.
Rollout observe(const Rollout& rollout, const MotionHeader& header, const ObserveOptions& options,
                std::uint64_t seed, std::size_t rollout_number);

}  // namespace springtime
