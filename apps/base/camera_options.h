#pragma once

#include <optional>

#include "options.h"
#include "springtime/generate.h"

namespace springtime::app {

// When frames are stored, and what a camera sees of them. Without values where none are given: a
// stored configuration then lacks them, as those of files from before these flags do.
struct CameraOptions {
    std::optional<double> fps, noise, gaps, gap_seconds;
    std::optional<int> every;
    bool positions_only = false;
};

void add_camera(const Flags& flags, CameraOptions& options);
// Flags that contradict each other, or --stride beside them, must not be lost silently.
void check_camera(const CameraOptions& options, bool stride_given);
ObserveOptions observe_options(const CameraOptions& options);
// The longest step up to the given one of which a whole number makes a frame, where a rate is
// given.
void set_frame_rate(const CameraOptions& options, double& dt, int& stride);

}  // namespace springtime::app
