#pragma once

#include <cstdint>

#include "backends/cuda/engine.h"
#include "sim/frame_loss.h"

// How far lanes are from the landmarks that they follow, and what that says of their states. The
// formulas are those of sim/frame_loss.h.
namespace springtime::cuda {

// Where landmarks lie on a cloth, and the same the other way round.
struct LandmarksView {
    int landmarks = 0, particles = 0;
    const int* particle = nullptr;  // [landmark][4]
    const float* weight = nullptr;  // [landmark][4], zero where a particle does not count
    // The shares of a particle in landmarks: those from first[particle] to first[particle + 1].
    const int* first = nullptr;
    const int* landmark = nullptr;  // [share]
    const float* share = nullptr;   // [share]
};

// What a lane follows: frames x landmarks x 3.
struct TargetView {
    const float* position = nullptr;
    int frames = 0;
};

// What is known of a frame of a lane. Here and below, no byte is left unwritten that is copied
// later: checkers of memory mind.
struct FollowedFrame {
    double loss = 0, error = 0;  // [m]
    double scale = 0;            // of its adjoints; zero where no landmark is seen
    std::int64_t seen = 0;       // landmarks
};

struct FollowedLane {
    double loss = 0, error = 0;  // sums over the frames, NaN where the cloth blew up
    std::int64_t frames = 0;     // that show any landmark
};

struct FollowView {
    int lanes = 0;
    StatesView states;  // at frames
    LandmarksView map;
    const TargetView* targets = nullptr;  // by lane
    const std::uint8_t* free = nullptr;   // [lane][landmark]
    FrameLoss loss;
    double speed_limit = 0;             // [m/s]
    FollowedFrame* measured = nullptr;  // [lane][frame]
    FollowedLane* followed = nullptr;   // by lane
    float* adjoint = nullptr;           // of positions, [lane][frame][xyz][particle]
};

// Fills `measured` and `followed`.
void measure(const FollowView& view);
// Fills `adjoint` from them.
void push_positions(const FollowView& view);

}  // namespace springtime::cuda
