#pragma once

#include <functional>
#include <optional>
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

// Some states of every lane, [row][particle]: the state i of a lane lies at
// from + lane * lane_stride + i * stride.
struct StatesView {
    const float* from = nullptr;
    std::size_t lane_stride = 0, stride = 0;  // numbers
    int per_lane = 0;
};

// The keys of a lane's handles on the device, and when it was loaded.
struct LanePath {
    KeyPath path;
    double start_time = 0;
    int start_step = 0;
};

// The positions and velocities of [row][particle].
void unpack_state(std::span<const float> rows, State& state);

// A batch of states of one cloth, one per lane, with what holds them.
class LaneSet {
  public:
    LaneSet(std::size_t particles, double dt) : particles_(particles), dt_(dt) {}

    // Lanes that are not loaded have all particles held at the origin.
    void begin(int lanes);
    // Without `steps` it runs as long as the others. Handles are placed as with_handles() does.
    // `at` is how many steps the batch has made. After begin(), different lanes may be loaded by
    // different threads.
    void load(int lane, const State& state, const Handles& handles,
              std::optional<int> steps = std::nullopt, int at = 0);
    // Counts steps from zero again before their count is full: what step `step` is from now on.
    int renumbered(int step);
    // Goes back to the states of load(), which may not have been fetched since.
    void restart();
    // Beside the handles of load().
    void hold(int lane, std::span<const int> particles);

    // Brings what was loaded, and the paths of `count` steps after step `first`, to the device.
    // Steps are counted from begin(). `more` may place further particles: it calls
    // place(particle, position, velocity) for what it moves in a step of a lane, after the
    // handles.
    using Place = std::function<void(int particle, const Vec3d& position, const Vec3d& velocity)>;
    using More = std::function<void(int lane, int step, const Place& place)>;
    void send(int first, int count, const More& more = {});
    // Brings the present states back, for state().
    void fetch();

    // As of load() or fetch().
    void state(int lane, State& state) const;
    // The time after so many steps.
    double time(int lane, int step) const
    {
        return start_time_[lane] + double(step - start_step_[lane]) * dt_;
    }

    LaneView view();
    int count() const { return int(handles_.size()); }
    std::size_t particles() const { return particles_; }
    double dt() const { return dt_; }
    // Memory of the device that a lane of so many steps in one launch takes. [bytes]
    static std::size_t bytes_per_lane(std::size_t particles, std::size_t moving_handles, int steps);

  private:
    // What `more` or a handle says of a particle.
    struct Placed {
        int lane, step, particle;  // `step` from 0
        Vec3d position, velocity;
    };
    void send_states();
    void send_keys();
    void send_slots();
    void send_places(int first, int count, const More& more);
    void write_paths(int first, int count);

    std::size_t particles_;
    double dt_;
    std::vector<Handles> handles_;
    std::vector<double> start_time_;
    std::vector<int> start_step_, steps_;
    PinnedArray<float> host_state_, host_mobility_;
    bool loaded_ = false;  // since the last send()
    bool ahead_ = false;   // the device has newer states
    std::vector<Placed> placed_;
    std::vector<int> host_slot_;
    std::vector<float> host_driven_;
    std::vector<LanePath> host_paths_;
    std::vector<double> host_key_time_;
    std::vector<Vec3d> host_key_position_;
    DeviceArray<float> state_, mobility_, driven_;
    DeviceArray<int> device_steps_, driven_slot_;
    DeviceArray<double> key_time_;
    DeviceArray<Vec3d> key_position_;
    DeviceArray<LanePath> paths_;
    int driven_steps_ = 0, driven_width_ = 0;
    bool has_keys_ = false;          // paths_ knows the handles of all lanes
    bool slots_of_handles_ = false;  // driven_slot_ knows the handles alone
};

}  // namespace springtime::cuda
