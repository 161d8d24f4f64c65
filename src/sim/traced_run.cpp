// A run that can be walked back.
#include <algorithm>
#include <limits>

#include "sim/global_adjoint.h"
#include "sim/stepper.h"
#include "sim/tape.h"
#include "springtime/error.h"
#include "springtime/simulation.h"

namespace springtime {

class RunTrace {
  public:
    virtual ~RunTrace() = default;
    virtual RunGradient back(std::span<const Vec3d> by_position, const Progress& progress) = 0;

    std::vector<Vec3d> positions;
    std::size_t particles = 0;
};

namespace {

// What a run is made of; a frame is `stride` steps of options.dt.
struct RunInputs {
    Cloth cloth;
    State start;
    Handles handles;
    SimulationOptions options;
    int frames = 0, stride = 1;
};

// Adds the derivative by the place of a handle at a time to those by the keys around it.
void add_to_keys(const Handles& handles, std::size_t handle, double time, const Vec3d& value,
                 std::vector<Vec3d>& keys)
{
    const KeyShare share = key_share(handles, time);
    const std::size_t at = share.before * handles.particles.size() + handle;
    keys[at] += (1 - share.part) * value;
    if (share.part > 0) keys[at + handles.particles.size()] += share.part * value;
}

// The velocity of a handle is that of its last step: (x(t) - x(t - h)) / h.
void gather_held(const RunInputs& run, const std::vector<HeldAdjoint>& held, RunGradient& gradient)
{
    const Handles& handles = run.handles;
    gradient.key_position.assign(handles.key_position.size(), {});
    const double dt = run.options.dt;
    std::size_t i = 0;
    for (int step = run.frames * run.stride; step >= 0; --step) {
        const double time = run.start.time + step * dt;
        for (std::size_t h = 0; h < handles.particles.size(); ++h, ++i) {
            const auto& [position, velocity] = held[i];
            if (!handles.moving()) {  // a pin stays where it starts
                gradient.start.position[std::size_t(handles.particles[h])] += position;
                continue;
            }
            const Vec3d rate = (1 / dt) * velocity;
            add_to_keys(handles, h, time, position + rate, gradient.key_position);
            add_to_keys(handles, h, time - dt, -rate, gradient.key_position);
        }
    }
}

template <class Real>
class Traced : public RunTrace {
  public:
    Traced(RunInputs run, std::unique_ptr<Tape<Real>> tape, const Progress& progress)
        : run_(std::move(run)), tape_(std::move(tape)), lanes_(std::size_t(tape_->lane_count()))
    {
        particles = run_.cloth.particle_count();
        tape_->set_parameters(parameters_of(run_.cloth));
        walk_there(progress);
    }

    RunGradient back(std::span<const Vec3d> by_position, const Progress& progress) override
    {
        if (!at_end_) walk_there(progress);
        at_end_ = false;
        tape_->begin_back();
        GlobalRetreat<Real> way(*tape_, run_.cloth, run_.options, {run_.handles});
        for (int frame = run_.frames; frame >= 0; --frame) {
            progress.report(
                {"gradient", double(run_.frames - frame), double(run_.frames), "frames", {}});
            add_adjoint(by_position.subspan(std::size_t(frame) * particles, particles));
            if (frame > 0) way.retreat(run_.stride);
        }
        way.end();
        RunGradient gradient;
        gradient.parameters = parameters_of(run_.cloth);
        for (auto& kind : gradient.parameters) std::fill(kind.begin(), kind.end(), 0.0);
        tape_->add_lane_gradient(0, gradient.parameters);
        gradient.start.time = run_.start.time;
        gradient.start.position = lane_of(tape_->position_adjoint());
        gradient.start.velocity = lane_of(tape_->velocity_adjoint());
        gradient.gravity = way.lanes()[0].gravity;
        gradient.drag = way.lanes()[0].drag;
        gather_held(run_, way.lanes()[0].held, gradient);
        return gradient;
    }

  private:
    void walk_there(const Progress& progress)
    {
        tape_->begin(run_.frames * run_.stride);
        tape_->load(0, run_.start, run_.handles);
        positions.clear();
        for (int frame = 0; frame <= run_.frames; ++frame) {
            progress.report({"run", double(frame), double(run_.frames), "frames", {}});
            if (frame > 0) tape_->advance(run_.stride);
            const std::vector<Vec3d> now = lane_of(tape_->position());
            positions.insert(positions.end(), now.begin(), now.end());
            check(frame);
        }
        at_end_ = true;
    }

    // A blow-up is one of the frame in which it shows.
    void check(int frame) const
    {
        const double dt = run_.options.dt, limit = largest_speed(run_.cloth.sheet, dt);
        const std::vector<Vec3d> velocity = lane_of(tape_->velocity());
        for (std::size_t p = 0; p < particles; ++p) {
            if (length(velocity[p]) <= limit) continue;  // false for NaN
            const long step = long(frame) * run_.stride;
            const StepReport report{int(p), step, run_.start.time + double(step) * dt};
            throw Failure("{}", describe(report, run_.cloth, run_.options));
        }
    }

    template <class T>
    std::vector<Vec3d> lane_of(std::span<T> array) const
    {
        std::vector<Vec3d> lane(particles);
        for (std::size_t p = 0; p < particles; ++p) {
            const T* x = &array[p * 3 * lanes_];
            lane[p] = {double(x[0]), double(x[lanes_]), double(x[2 * lanes_])};
        }
        return lane;
    }

    void add_adjoint(std::span<const Vec3d> by_position)
    {
        const std::span<Real> adjoint = tape_->position_adjoint();
        for (std::size_t p = 0; p < particles; ++p) {
            for (int axis = 0; axis < 3; ++axis) {
                adjoint[(3 * p + std::size_t(axis)) * lanes_] += Real(by_position[p][axis]);
            }
        }
    }

    RunInputs run_;
    std::unique_ptr<Tape<Real>> tape_;
    std::size_t lanes_;
    bool at_end_ = false;
};

}  // namespace

TracedRun::TracedRun(const Cloth& cloth, const State& start, const Handles& handles,
                     const SimulationOptions& options, int frames, const Progress& progress)
{
    check_tape_options(options);
    // A simulation checks all the rest, and knows its sub-steps.
    const int stride = Simulation(cloth, start, handles, options).substeps();
    if (frames < 0 || frames > std::numeric_limits<int>::max() / stride) {
        throw Error(Field{"frames"}, "{} frames of {} sub-steps: give 0 to {}", frames, stride,
                    std::numeric_limits<int>::max() / stride);
    }
    RunInputs run{cloth, start, handles, options, frames, stride};
    run.options.dt = options.dt / stride;
    run.options.substeps = 1;
    if (options.device == Device::reference) {
        auto tape = make_reference_tape(cloth, run.options);
        trace_ = std::make_unique<Traced<double>>(std::move(run), std::move(tape), progress);
    } else {
        auto tape = make_fast_tape(cloth, run.options);
        trace_ = std::make_unique<Traced<float>>(std::move(run), std::move(tape), progress);
    }
}

TracedRun::~TracedRun() = default;
TracedRun::TracedRun(TracedRun&&) noexcept = default;
TracedRun& TracedRun::operator=(TracedRun&&) noexcept = default;

const std::vector<Vec3d>& TracedRun::positions() const
{
    return trace_->positions;
}

std::size_t TracedRun::frame_count() const
{
    return trace_->positions.size() / trace_->particles;
}

RunGradient TracedRun::back(std::span<const Vec3d> by_position, const Progress& progress)
{
    if (by_position.size() != trace_->positions.size()) {
        throw Error(Field{"by_position"}, "{} derivatives for {} positions; give one each",
                    by_position.size(), trace_->positions.size());
    }
    return trace_->back(by_position, progress);
}

}  // namespace springtime
