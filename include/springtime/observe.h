#pragma once

#include <cstdint>

#include "springtime/motion.h"

namespace springtime {

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
