#pragma once

#include <cstddef>

namespace springtime::cuda {

// Frames of all lanes on their way to the host.
struct FramesView {
    int lanes = 0, frames = 0, particles = 0;
    const float* state = nullptr;         // [lane][frame][row][particle], `lane_stride` apart
    std::size_t lane_stride = 0;          // numbers
    const float* acceleration = nullptr;  // [lane][frame][xyz][particle], or null
    double speed_limit = 0;               // [m/s]
    float* packed = nullptr;              // [lane][array][frame][particle][xyz]
    int* bad = nullptr;                   // [lane][frame]: whether a particle left all bounds

    // Positions, velocities and, if there are any, accelerations.
    int arrays() const { return acceleration ? 3 : 2; }
};

// Brings frames into the order of a BatchRecorder, and looks for what sim/stepper.h calls a
// blow-up.
void pack_frames(const FramesView& frames);

}  // namespace springtime::cuda
