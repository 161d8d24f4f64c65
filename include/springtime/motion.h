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
    std::string config;        // TOML that made it; may be empty
    std::string source_cloth;  // JSON of the source cloth; empty when unknown

    std::size_t landmark_count() const { return rest.size(); }
    double frame_interval() const { return dt * stride; }  // [s]
};

// One motion of the landmarks. Arrays are frames x landmarks x 3.
struct Rollout {
    std::size_t frame_count = 0;
    std::vector<float> position;      // [m]
    std::vector<float> velocity;      // [m/s]
    std::vector<float> acceleration;  // [m/s^2], at the step of the source; may be empty
    Handles handles;

    std::size_t landmark_count() const;
    // Position and velocity of one frame. The time counts from the first.
    State state(std::size_t frame, double frame_interval) const;
};

// A motion that is read piece by piece, so that it may be larger than memory. It is only ever read
// by one thread at a time.
struct MotionSource {
    MotionHeader header;
    std::vector<std::size_t> frame_counts;  // of every rollout
    std::function<Rollout(std::size_t rollout, std::size_t first, std::size_t count)> read;
};

}  // namespace springtime
