#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/frame_loss.h"
#include "springtime/cloth.h"
#include "springtime/simulation.h"

namespace springtime {

// A landmark is a weighted sum of up to four particles; a weight is zero where one does not count.
struct LandmarkShares {
    std::vector<std::array<int, 4>> particle;  // by landmark
    std::vector<std::array<double, 4>> weight;
};

// A part of a rollout: which one, and the frame in it that the part begins with.
struct RolloutPart {
    std::size_t rollout = 0, first_frame = 0;
};

// A trajectory as a backend sees it (Trajectory in learn/trajectory.h).
struct TrajectoryView {
    const State* start = nullptr;        // of the particles, at time zero
    const Handles* handles = nullptr;    // of the particles
    std::size_t frame_count = 0;         // the start is the first
    std::span<const std::uint8_t> free;  // by landmark: whether nothing holds it
    // frames x landmarks x 3, NaN where one is missing [m]. Empty where the backend keeps the
    // landmarks of the rollout: then `part` says which frames count.
    std::span<const float> position;
    RolloutPart part;
};

// Beside ClipGradient the other form of a backend's second seam: trajectories and parameters in,
// errors and gradient out. States, tapes, targets and sums stay on the backend's side. Results do
// not depend on how the backend shares out the work.
class TrajectoryGradient {
  public:
    struct Followed {
        double loss = 0;         // mean over the frames; NaN where the cloth blew up
        double error = 0;        // mean over the frames of the plain root mean square [m], likewise
        std::size_t frames = 0;  // that show any landmark
    };
    // What is asked for beside the errors.
    struct Wish {
        // The gradient of each trajectory by the parameters.
        bool each = false;
        // The mean of the gradients by the coordinates of a descent, each scaled down to `limit`
        // times the median of their norms (learn/limited_mean.h). `scale` has the
        // derivative of every parameter by its coordinate.
        const ParameterValues* scale = nullptr;
        double limit = 0;
    };
    struct Result {
        std::vector<Followed> trajectories;
        std::vector<ParameterValues> each;    // empty unless asked for
        std::optional<ParameterValues> mean;  // nothing if half or more are not finite
    };

    virtual ~TrajectoryGradient() = default;

    virtual std::string name() const = 0;  // of the device, for people
    // Keeps the landmarks of a rollout, frames x landmarks x 3. False where there is no room.
    virtual bool keep(std::size_t rollout, std::span<const float> position) = 0;
    // `substeps` is how many parts each step is cut into; frames are as far apart as before. The
    // values may have one more array, the masses (sim/tape.h).
    virtual Result follow(std::span<const TrajectoryView> trajectories,
                          const ParameterValues& values, const FrameLoss& loss, int substeps,
                          const Wish& wish) = 0;
};

// Implemented by backends/registry.cpp. Null for a device without one: its tapes do it then.
// `heartbeat` is called every few steps; what it throws ends the run.
std::unique_ptr<TrajectoryGradient> make_trajectory_gradient(const Cloth& cloth,
                                                             const SimulationOptions& options,
                                                             int stride,
                                                             const LandmarkShares& landmarks,
                                                             std::function<void()> heartbeat);

}  // namespace springtime
