#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "springtime/error.h"
#include "springtime/motion.h"
#include "springtime/simulation.h"

namespace springtime {

// What a run left behind. When it blew up or was cancelled, the frames before that are there.
struct Recording {
    Rollout rollout;
    std::optional<StepReport> blow_up;
    bool settled = false;  // only when it was watched
};

// Advances the simulation and keeps every stride-th step, the present state included. With a rest
// rule it ends early, once the cloth has settled and all paths have ended. When it is cancelled,
// `recording` has the frames so far.
void record(Simulation& simulation, std::size_t frames, int stride, Recording& recording,
            const Progress& progress = {}, const std::optional<RestRule>& rest = {});
Recording record(Simulation& simulation, std::size_t frames, int stride,
                 const Progress& progress = {}, const std::optional<RestRule>& rest = {});

// Falling rollouts: the flat sheet in a random orientation, held at random anchors.
struct GenerateOptions {
    int rollouts = 512;
    double seconds = 8;  // [s] per rollout
    double dt = 1e-3;    // [s]
    int stride = 40;     // steps between stored frames
    int anchors = 2;
    int anchor_size = 3;  // an anchor holds anchor_size x anchor_size particles of a grid
    // [m]; above 0 an anchor is a disc of the sheet instead, and the cloth need not be a grid
    double anchor_radius = 0;
    // Particles that every rollout pins, instead of random anchors. The sheet then starts level but
    // for a small tilt, which differs from rollout to rollout.
    std::vector<int> pinned{};
    Environment environment;
    std::uint64_t seed = 1;
    int threads = 0;  // 0: all cores
    Device device = Device::automatic;
};

// Takes finished rollouts in the order of their index.
using RolloutSink = std::function<void(int index, const Rollout&)>;

// Throws Error unless rollouts of this cloth can be made with these options.
void check_generate(const Cloth& cloth, const GenerateOptions& options);

// Start and anchors of rollout `index`; depends on the seed and the index alone. The rotation and
// the places of discs are those of the sheet, whatever its particles: meshes of one sheet can be
// compared rollout by rollout.
struct RolloutStart {
    State state;
    Handles handles;
};
RolloutStart random_start(const Cloth& cloth, const GenerateOptions& options, int index);

// Simulates rollouts first .. options.rollouts - 1. The result does not depend on the number of
// threads. When it is cancelled, the sink has had the rollouts that were finished. Throws Failure
// when a rollout blows up.
void generate(const Cloth& cloth, const GenerateOptions& options, int first,
              const RolloutSink& sink, const Progress& progress = {});

// How a camera sees a motion.
struct ObserveOptions {
    double noise = 0;           // standard deviation of every coordinate [m]: white, Gaussian
    double gaps = 0;            // share of the landmarks that is missing in a frame
    double gap_seconds = 0.25;  // mean length of a gap [s]; never below a frame
    bool positions_only = false;
};

// Throws Error unless motion can be seen so. Noise needs positions_only: a true velocity beside a
// noisy position would tell what no camera can.
void check_observe(const ObserveOptions& options, const MotionHeader& header);

// What the header of the observed motion says.
void observe_header(MotionHeader& header, const ObserveOptions& options);

// The rollout as it is seen. Every landmark gets noise, pins too, independently in every frame, and
// is lost and found again at random; accelerations go with the velocities. What is prescribed
// stays: the list of handles, and the keys of moving ones. A function of the rollout, the options,
// the seed and the rollout's number.
Rollout observe(const Rollout& rollout, const MotionHeader& header, const ObserveOptions& options,
                std::uint64_t seed, std::size_t rollout_number);

}  // namespace springtime
