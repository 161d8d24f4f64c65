#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "springtime/simulation.h"

namespace springtime {

// A batch that runs whole rollouts on the backend's side and hands out their frames, for
// generating and evaluating. It knows no contact.
class BatchRecorder {
  public:
    struct Start {
        const State* state = nullptr;
        const Handles* handles = nullptr;
    };
    // frames x particles x 3
    struct Frames {
        std::vector<float> position, velocity, acceleration;
    };

    virtual ~BatchRecorder() = default;

    // How many rollouts it likes to run at once: more than that wait, fewer leave it idle.
    virtual int lane_count() const = 0;
    virtual std::string name() const = 0;  // of the device, for people
    // Runs one rollout per start, of so many frames; the start is the first. Accelerations are
    // computed in double, zero on handles, and only if they are asked for. `done` is called with
    // the share of the steps after every piece of the run; what it throws ends it. After a blow-up
    // the report says where, counted in steps, and the frames mean nothing.
    virtual std::optional<StepReport> record(std::span<const Start> starts, std::size_t frames,
                                             int stride, bool with_accelerations,
                                             std::vector<Frames>& recorded,
                                             const std::function<void(double share)>& done) = 0;
};

// Implemented by backends/registry.cpp. Null for a device without one: its steppers do it then.
// `rollouts` is how many there will be in all, also of those that exist already: Device::automatic
// chooses by the work.
std::unique_ptr<BatchRecorder> make_batch_recorder(const Cloth& cloth,
                                                   const SimulationOptions& options,
                                                   std::size_t rollouts, std::size_t steps);

}  // namespace springtime
