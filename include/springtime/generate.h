#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "springtime/record.h"

namespace springtime {

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
// threads. Returns false when the hook stopped it. Throws Failure when a rollout blows up.
bool generate(const Cloth& cloth, const GenerateOptions& options, int first,
              const RolloutSink& sink, const ProgressHook& progress);

}  // namespace springtime
