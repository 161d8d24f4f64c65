#pragma once

#include <memory>
#include <optional>

#include "backends/cuda/contact.h"
#include "backends/cuda/device_array.h"
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

    // Steps first + 1 to first + count of all lanes.
    void advance(LaneSet& lanes, int first, int count, const Records& records = {},
                 const ContactView* contact = nullptr);

    // The accelerations of `count` states, [state][row][particle] to [state][xyz][particle]. Those
    // of the states of one lane follow each other, `per_lane` of them. Zero on what is held.
    void accelerations(const LaneView& lanes, const float* states, std::size_t per_lane, float* to);
    // The same in double, for records: computed from the parameters in double.
    void exact_accelerations(const LaneView& lanes, const float* states, std::size_t per_lane,
                             float* to);

    // ---- The way back

    // Forgets the gradient; begins with adjoints of zero.
    void begin_back(LaneSet& lanes);
    // Goes back over the steps first + 1 to first + count. `tape` has the states after steps
    // first, first + 1, ..., first + count: [lane][count + 1][row][particle], `lane_stride` apart.
    // The adjoints of a frame are added when the way back passes it, that of step `first` only if
    // that is the start of all.
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

// Runs lanes there and back. It keeps as many states as fit into memory: all of them, or those of
// one stretch and the first of each, and runs a stretch again before it goes back over it.
class Course {
  public:
    // `memory` is what tapes may take. [bytes]
    Course(Engine& engine, std::size_t memory);

    // How many lanes fit side by side, at least one: of so many steps, with `other` bytes of the
    // caller's for each lane.
    int lanes_that_fit(int steps, int stride, std::size_t other) const;

    // From the states that are loaded. `heartbeat` is called every now and then.
    void there(LaneSet& lanes, int steps, int stride, const std::function<void()>& heartbeat);
    // The states at frames, the start is the first: of frame f of lane l at
    // frames() + l * frame_lane_stride() + f * frame_stride().
    const float* frames() const { return frames_; }
    std::size_t frame_lane_stride() const { return frame_lane_stride_; }
    std::size_t frame_stride() const { return frame_stride_; }
    int frame_count() const { return steps_ / stride_ + 1; }

    // Back to the start; the gradient is the engine's then.
    void back(LaneSet& lanes, FrameAdjoints adjoints, const std::function<void()>& heartbeat);

  private:
    int stretch_of(int steps, std::size_t lanes) const;
    void run(LaneSet& lanes, int first, int count, const Records& records);

    Engine& engine_;
    std::size_t memory_;
    int steps_ = 0, stride_ = 1, stretch_ = 1;
    bool keeps_all_ = false;
    DeviceArray<float> tape_;          // of the present stretch, or of all
    DeviceArray<float> kept_;          // the first states of all stretches
    DeviceArray<float> frame_states_;  // where the tape does not hold all
    const float* frames_ = nullptr;
    std::size_t frame_lane_stride_ = 0, frame_stride_ = 0;
};

}  // namespace springtime::cuda
