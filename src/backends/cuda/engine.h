#pragma once

#include <memory>
#include <string>

#include "backends/cuda/contact.h"
#include "backends/cuda/lane_set.h"
#include "springtime/cloth.h"
#include "springtime/simulation.h"

namespace springtime::cuda {

// Records of states: every `every` steps of a launch one is written, the first after the first
// `every` steps.
struct Records {
    float* to = nullptr;          // [lane][record][row][particle]
    std::size_t lane_stride = 0;  // numbers from lane to lane
    int every = 1;
};

// What a loss adds to the adjoints of the states at frames. Each is null or [lane][frame][xyz]
// [particle]; `lane_stride` and numbers of frames are common to all three.
struct FrameAdjoints {
    const float* position = nullptr;
    const float* velocity = nullptr;
    const float* acceleration = nullptr;  // of the acceleration in the state of the frame
    std::size_t lane_stride = 0;
    int frames = 0;
    int stride = 1;  // steps from frame to frame
};

// On the way back some steps are summed in float before they go to sums in double. That happens at
// multiples of this many steps, so it makes no difference whether a launch ends at one of them.
SPRINGTIME_HD constexpr int carry_steps(int stride)
{
    constexpr int kAbout = 128;
    return stride >= kAbout ? stride : kAbout / stride * stride;
}

// The elements of a cloth on the device, and the kernels that advance batches of its states there
// and back. It chooses between kernels for grids of springs and those for lists of elements.
class Engine {
  public:
    Engine(const Cloth& cloth, const Environment& environment);
    ~Engine();
    Engine(Engine&&) noexcept;

    void set_environment(const Environment& environment);
    // Of all learned parameters, then, if there is one more array, of the masses (sim/tape.h).
    void set_parameters(const ParameterValues& values);

    // Steps first + 1 to first + count of all lanes, which were sent for them.
    void advance(LaneSet& lanes, int first, int count, const Records& records = {},
                 const ContactView* contact = nullptr);

    // The accelerations of some states of every lane, to [lane][state][xyz][particle]. Zero on what
    // is held.
    void accelerations(const LaneView& lanes, const StatesView& states, float* to);
    // The same in double, for records: computed from the parameters in double.
    void exact_accelerations(const LaneView& lanes, const StatesView& states, float* to);

    // ---- The way back

    // Forgets the gradient; begins with adjoints of zero.
    void begin_back(LaneSet& lanes);
    // Goes back over the steps first + 1 to first + count. `tape` has the states after steps
    // first, first + 1, ..., first + count: [lane][count + 1][row][particle], `lane_stride` apart.
    // The adjoints of a frame are added by the retreat that begins or ends there first.
    void retreat(LaneSet& lanes, int first, int count, const float* tape, std::size_t lane_stride,
                 const FrameAdjoints& adjoints);
    // The gradient of every lane so far, [lane][number], on the device. Numbers are those of all
    // arrays of ParameterValues, one after the other.
    const double* gradient(int lanes);
    std::size_t number_count() const;

    std::size_t particle_count() const;
    // Memory of the device for the way back of one lane, beside tapes. [bytes]
    std::size_t bytes_per_lane_back() const;
    // For people and tests: "grid", "grid in 4 blocks", "list", "list in 16 blocks".
    std::string kernel_name() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace springtime::cuda
