#pragma once

#include <functional>
#include <span>
#include <vector>

#include "backends/cuda/device_array.h"
#include "sim/stepper.h"

namespace springtime::cuda {

// A state on the device is six rows of numbers, [x y z vx vy vz][particle].
inline constexpr int kStateRows = 6;

// The lanes of a batch as kernels see them: pointers into the memory of the device.
struct LaneView {
    int count = 0;
    int particles = 0;
    float* state = nullptr;           // [lane][row][particle], the present ones
    const float* mobility = nullptr;  // [lane][particle]: the step for free particles, or zero
    const int* steps = nullptr;       // by lane: it stands still after so many
    // Held particles that move. Null where none does.
    const int* driven_slot = nullptr;  // [lane][particle]: which of them it is, or -1
    const float* driven = nullptr;     // [lane][step][slot][row] after each step of a launch;
                                       // NaN where nothing is said of it
    int driven_steps = 0, driven_width = 0;
};

// A batch of states of one cloth, one per lane, with what holds them.
class LaneSet {
  public:
    LaneSet(std::size_t particles, double dt) : particles_(particles), dt_(dt) {}

    // Lanes that are not loaded have all particles held at the origin.
    void begin(int lanes);
    // Without `steps` it runs as long as the others. Handles are placed as with_handles() does.
    void load(int lane, const State& state, const Handles& handles,
              std::optional<int> steps = std::nullopt);
    // Beside the handles of load().
    void hold(int lane, std::span<const int> particles);

    // Brings what was loaded, and the paths of `count` steps after step `first`, to the device.
    // Steps are counted from load(). `more` may place further particles: it calls
    // place(particle, position, velocity) for what it moves in a step of a lane.
    using Place = std::function<void(int particle, const Vec3d& position, const Vec3d& velocity)>;
    using More = std::function<void(int lane, int step, const Place& place)>;
    void send(int first, int count, const More& more = {});
    // Brings the present states back, for state().
    void fetch();

    // As of load() or fetch().
    void state(int lane, State& state) const;
    // The time after so many steps.
    double time(int lane, int step) const { return start_time_[lane] + double(step) * dt_; }

    LaneView view();
    int count() const { return int(handles_.size()); }
    std::size_t particles() const { return particles_; }
    double dt() const { return dt_; }
    // Memory of the device that a lane of so many steps in one launch takes. [bytes]
    static std::size_t bytes_per_lane(std::size_t particles, std::size_t moving_handles, int steps);

  private:
    bool any_moves() const;

    std::size_t particles_;
    double dt_;
    std::vector<Handles> handles_;
    std::vector<double> start_time_;
    std::vector<int> steps_;
    std::vector<float> host_state_, host_mobility_;
    bool loaded_ = false;  // since the last send()
    DeviceArray<float> state_, mobility_, driven_;
    DeviceArray<int> device_steps_, driven_slot_;
    int driven_steps_ = 0, driven_width_ = 0;
};

}  // namespace springtime::cuda
