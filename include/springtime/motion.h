#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "springtime/environment.h"
#include "springtime/handles.h"
#include "springtime/sheet.h"
#include "springtime/state.h"

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
};

// A motion that is read piece by piece, so that it may be larger than memory. It is only ever read
// by one thread at a time.
struct MotionSource {
    MotionHeader header;
    std::vector<std::size_t> frame_counts;  // of every rollout
    std::function<Rollout(std::size_t rollout, std::size_t first, std::size_t count)> read;
};

}  // namespace springtime
