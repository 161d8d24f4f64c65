#pragma once

#include <functional>

#include "sim/batch_recorder.h"
#include "springtime/evaluate.h"

namespace springtime {

// Receives the surrogate at every frame of every rollout, with its error there [m], which is NaN in
// a frame that does not count. Several threads call it, but of one rollout the frames come in
// order.
using FrameWatcher =
    std::function<void(std::size_t rollout, std::size_t frame, const State& state, double error)>;

// As make_batch_recorder(), which a test may replace.
using MakeRecorder = std::function<std::unique_ptr<BatchRecorder>(
    const Cloth&, const SimulationOptions&, std::size_t rollouts, std::size_t steps)>;

// surrogate_error() with somebody to watch.
MotionError watched_error(const Cloth& surrogate, const Motion& motion, Device device, int threads,
                          const Progress& progress, int substeps, const FrameWatcher& watcher,
                          const MakeRecorder& make_recorder = make_batch_recorder);

}  // namespace springtime
