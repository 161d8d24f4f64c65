#pragma once

#include <vector>

#include "springtime/motion.h"

namespace springtime {

// A particle that follows held landmarks, and nothing else.
struct HeldParticle {
    struct Share {
        std::size_t handle;  // index into the handles of the motion
        double weight;
    };

    int particle = 0;
    std::vector<Share> shares;  // their weights sum to one
    // It lies beside the held landmarks and keeps the distance from them that it has at the start.
    bool attached = false;
};

// The particles that follow the held landmarks, in ascending order:
// - those between held landmarks alone;
// - the nearest particle of every held landmark. If it is none of those above, it is attached to
// that
//   landmark. Where a second held landmark is close enough to tell a direction, the particle
//   lies on the line through both, so that it turns with them.
// So an area that is held keeps its size: a disc of 1 m, 31 x 31 landmarks over 15.5 m, 32 x 32
// particles, has 12 particles inside on average; the first rule alone would hold 7.
std::vector<HeldParticle> held_particles(const Resampler& resampler, const std::vector<int>& held);

// The paths of such particles. `start` tells where attached particles are at time 0.
Handles handles_of(const std::vector<HeldParticle>& particles, const Handles& landmarks,
                   const State& start);

}  // namespace springtime
