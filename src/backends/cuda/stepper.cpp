#include <algorithm>

#include "backends/cuda/contacts.h"
#include "backends/cuda/cuda.h"
#include "backends/cuda/engine.h"
#include "core/assert.h"
#include "sim/frame_motion.h"

namespace springtime {

namespace cuda {

namespace {

// Steps in one launch: what moves is written down for each of them.
constexpr int kLaunchSteps = 1024;

class CudaStepper : public Stepper {
  public:
    CudaStepper(const Cloth& cloth, const SimulationOptions& options, int lanes)
        : name_(cuda_device_name()),
          engine_(cloth, options.environment),
          contacts_(options),
          lanes_(cloth.particle_count(), options.dt)
    {
        lanes_.begin(lanes);
    }

    int lane_count() const override { return lanes_.count(); }
    void load(int lane, const State& state, const Handles& handles) override
    {
        lanes_.load(lane, state, handles, std::nullopt, step_);
        motion_ = nullptr;
        walk_.begin(nullptr);
    }
    void store(int lane, State& state) const override
    {
        lanes_.state(lane, state);
        state.time = lanes_.time(lane, step_);
    }
    void advance(int steps) override
    {
        while (steps > 0) {
            const int count = std::min(steps, kLaunchSteps);
            launch_steps(count);
            steps -= count;
        }
        lanes_.fetch();
    }
    std::string name() const override { return name_; }
    void set_environment(const Environment& environment) override
    {
        engine_.set_environment(environment);
    }
    void hold(int lane, std::span<const int> particles) override { lanes_.hold(lane, particles); }
    void begin_frame(const FrameMotion& motion) override
    {
        SPRINGTIME_ASSERT(lane_count() == 1);
        motion_ = &motion;
        walk_.begin(&motion);
    }

  private:
    void launch_steps(int count)
    {
        step_ = lanes_.renumbered(step_);
        LaneSet::More more;
        FrameWalk walk = walk_;
        if (motion_ && !motion_->particles.empty()) {
            more = [&](int, int, const LaneSet::Place& place) {
                walk.next_step();
                walk.place_particles(lanes_.dt(), place);
            };
        }
        lanes_.send(step_, count, more);
        engine_.advance(lanes_, step_, count, {}, contacts_.send(lanes_, step_, count, walk_));
        step_ += count;
        for (int i = 0; i < count; ++i) walk_.next_step();
    }

    std::string name_;
    Engine engine_;
    Contacts contacts_;
    LaneSet lanes_;
    const FrameMotion* motion_ = nullptr;
    FrameWalk walk_;
    int step_ = 0;
};

}  // namespace

}  // namespace cuda

std::unique_ptr<Stepper> make_cuda_stepper(const Cloth& cloth, const SimulationOptions& options,
                                           int lanes)
{
    check_cuda_device();
    return std::make_unique<cuda::CudaStepper>(cloth, options, lanes);
}

}  // namespace springtime
