#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "springtime/cloth.h"
#include "springtime/simulation.h"

namespace springtime {

// A clip as a backend sees it: where it starts, what holds it, and what it is compared with, frame
// by frame. Arrays are frames x particles x 3; what is missing is NaN.
struct ClipView {
    State start;
    const Handles* handles = nullptr;
    std::size_t frame_count = 0;
    std::span<const float> position, velocity, acceleration;
};

// The terms of the loss (ClipLoss in learn/loss.h defines them), or their weights.
struct ClipTerms {
    double force = 0, impulse = 0, position = 0;
    bool operator==(const ClipTerms&) const = default;
};

// A batch of clips that is ready to run, with what does not depend on parameters. A backend may add
// what it has of them on its own side. The arrays that the views point to must outlive it.
struct PreparedClips {
    PreparedClips(std::vector<ClipView> views, const ClipTerms& of_loss, int parts)
        : clips(std::move(views)), weights(of_loss), substeps(parts)
    {
    }
    virtual ~PreparedClips() = default;

    std::vector<ClipView> clips;
    ClipTerms weights;
    int substeps;  // how many parts each step is cut into; frames are as far apart as before
};

// The second seam of a backend, beside the Stepper: clips and parameters in, loss and gradient out.
// A backend that has one keeps states, tapes and sums on its own side. All clips have the same
// number of frames. The result does not depend on how the backend shares out the work.
class ClipGradient {
  public:
    struct Result {
        ClipTerms loss;            // means over the clips, unweighted
        ParameterValues gradient;  // of the weighted sum; empty unless asked for
    };

    virtual ~ClipGradient() = default;
    virtual std::string name() const = 0;  // of the device, for people
    // Another thread may call it while run() is at work on other clips.
    virtual std::unique_ptr<PreparedClips> prepare(std::vector<ClipView> clips,
                                                   const ClipTerms& weights, int substeps)
    {
        return std::make_unique<PreparedClips>(std::move(clips), weights, substeps);
    }
    // Of clips that this backend has prepared, as often as wanted.
    virtual Result run(PreparedClips& clips, const ParameterValues& parameters,
                       bool with_gradient) = 0;
};

// Implemented by backends/registry.cpp. Null for a device without one: its tapes do it then.
std::unique_ptr<ClipGradient> make_clip_gradient(const Cloth& cloth,
                                                 const SimulationOptions& options, int stride);

}  // namespace springtime
