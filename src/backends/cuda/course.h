#pragma once

#include <cstddef>
#include <functional>

#include "backends/cuda/device_array.h"
#include "backends/cuda/engine.h"
#include "backends/cuda/stream.h"

namespace springtime::cuda {

// What lanes are to run.
struct CourseShape {
    int steps = 0, stride = 1;  // steps from frame to frame
    bool back = false;
    std::size_t moving_handles = 0;  // of a lane, at most
    int lane_sets = 1;               // of the caller, with those that do not run
    std::size_t other = 0;           // the caller's memory for a lane [bytes]

    int frames() const { return steps / stride + 1; }
};

// Runs lanes there and back. It keeps as many states as fit into memory: all of them, or those of
// one stretch and the first of each, and runs a stretch again before it goes back over it.
class Course {
  public:
    // `memory` is for all lanes. [bytes]
    Course(Engine& engine, std::size_t memory) : engine_(engine), memory_(memory) {}

    // How many of `lanes` to run side by side, at least one.
    std::size_t lanes_that_fit(const CourseShape& shape, std::size_t lanes) const;
    void set_memory(std::size_t memory) { memory_ = memory; }
    std::size_t memory() const { return memory_; }
    // Gives back what it holds.
    void release();

    // From the states that are loaded. `heartbeat` is called after every launch.
    void there(LaneSet& lanes, const CourseShape& shape, const std::function<void()>& heartbeat);
    // The states at frames, the start is the first.
    StatesView frames() const { return frames_; }
    // Back to the start; the gradient is the engine's then.
    void back(LaneSet& lanes, const FrameAdjoints& adjoints,
              const std::function<void()>& heartbeat);

  private:
    int stretch_of(const CourseShape& shape) const;
    int launch_of(const CourseShape& shape, std::size_t lanes) const;
    std::size_t bytes_per_lane(const CourseShape& shape, bool all) const;
    void make_room(const CourseShape& shape, std::size_t lanes);
    void run(LaneSet& lanes, int first, int count, const Records& records);
    void keep_state(LaneSet& lanes, DeviceArray<float>& to, std::size_t place,
                    std::size_t lane_stride);
    void back_over_all(LaneSet& lanes, const FrameAdjoints& adjoints,
                       const std::function<void()>& heartbeat);
    void back_over_stretch(LaneSet& lanes, int first, const FrameAdjoints& adjoints,
                           const std::function<void()>& heartbeat);

    Engine& engine_;
    std::size_t memory_;
    CourseShape shape_;
    bool keeps_all_ = false;
    DeviceArray<float> tape_;          // of all steps, or of a stretch
    DeviceArray<float> kept_;          // the first states of all stretches
    DeviceArray<float> frame_states_;  // where the tape has not all steps
    StatesView frames_;
    std::size_t tape_stride_ = 0, kept_stride_ = 0;  // from lane to lane
    Pace pace_;
};

}  // namespace springtime::cuda
