#include <algorithm>
#include <utility>

#include "backends/cuda/cuda.h"
#include "backends/cuda/engine.h"
#include "backends/cuda/frames.h"
#include "backends/cuda/stream.h"
#include "core/assert.h"
#include "core/parallel.h"
#include "sim/stepper.h"

namespace springtime {

namespace cuda {

namespace {

// What is recorded side by side.
struct Task {
    std::span<const BatchRecorder::Start> starts;
    std::span<BatchRecorder::Frames> recorded;
    std::size_t frames = 0;
    int stride = 1;
    bool with_accelerations = false;

    int arrays() const { return with_accelerations ? 3 : 2; }
    long steps() const { return long(frames - 1) * stride; }
    std::size_t moving_handles() const
    {
        std::size_t most = 0;
        for (const auto& start : starts) {
            if (start.handles->moving()) most = std::max(most, start.handles->particles.size());
        }
        return most;
    }
};

// How much of it is run and brought to the host at a time.
struct Plan {
    std::size_t lanes = 1;
    int frames = 1, steps = 1;
};

// One launch, and the frames that it ends with: the whole run is a row of these. The first has no
// steps and the start as its frame. Where a frame takes several launches only the last has one.
struct Piece {
    long first_step = 0;
    std::size_t first_frame = 0;
    int steps = 0, frames = 1;

    long end() const { return first_step + steps; }
    Piece next(const Task& task, const Plan& plan) const
    {
        Piece piece{end(), first_frame + std::size_t(frames), 0, 0};
        if (task.stride <= plan.steps) {
            const std::size_t most = std::size_t(std::min(plan.frames, plan.steps / task.stride));
            piece.frames = int(std::min(most, task.frames - piece.first_frame));
            piece.steps = piece.frames * task.stride;
        } else {
            const int left = task.stride - int(piece.first_step % task.stride);
            piece.steps = std::min(left, plan.steps);
            piece.frames = piece.steps == left;
        }
        return piece;
    }
    int every() const { return frames > 0 ? steps / frames : steps + 1; }
};

// One of two: while frames go to the host from one, the other is filled.
struct Slot {
    DeviceArray<float> packed;
    DeviceArray<int> bad;
    PinnedArray<float> host;
    PinnedArray<int> host_bad;
    Event filled, copied;

    void resize(std::size_t numbers, std::size_t rows)
    {
        packed.resize(numbers);
        bad.resize(rows);
        host.resize(numbers);
        host_bad.resize(rows);
    }
};

// Before buffers may go or be filled anew, also after an exception, the device has to be done.
struct Finish {
    ~Finish() { cudaDeviceSynchronize(); }
};

class CudaRecorder : public BatchRecorder {
  public:
    CudaRecorder(const Cloth& cloth, const SimulationOptions& options, const CudaMemory& memory,
                 int most_steps);

    int lane_count() const override { return lane_count_; }
    std::string name() const override { return name_; }
    std::optional<StepReport> record(std::span<const Start> starts, std::size_t frames, int stride,
                                     bool with_accelerations, std::vector<Frames>& recorded,
                                     const std::function<void(double share)>& done) override;

  private:
    std::size_t bytes_per_lane(const Task& task, const Plan& plan) const;
    Plan plan_for(const Task& task) const;
    void prepare(const Task& task, const Plan& plan);
    void release();
    void load(const Task& task);
    void advance(int steps, const Records& records);
    FramesView view_of(int frames, Slot& slot);

    std::optional<StepReport> run(const Task& task, const Plan& plan,
                                  const std::function<void(double share)>& done);
    void start(const Task& task, const Piece& piece, Slot& slot);
    void keep_starts();
    std::optional<std::size_t> finish(const Task& task, const Piece& piece, Slot& slot);
    StepReport first_bad(const Task& task, const Plan& plan, std::size_t frame,
                         const std::function<void()>& heartbeat);
    std::optional<StepReport> first_bad_of(int steps);

    std::string name_;
    Engine engine_;
    LaneSet lanes_;
    double speed_limit_;
    std::size_t memory_;  // for all buffers [bytes]
    int most_steps_;      // of a launch
    int lane_count_ = 1;
    int step_ = 0;  // as lanes_ counts them
    DeviceArray<float> records_, accelerations_;
    std::size_t lane_stride_ = 0;  // of the records
    Slot slots_[2];
    Stream copying_;
};

// For the frames of a piece on the host, which take time to allocate. [bytes]
constexpr std::size_t kStaging = std::size_t(128) << 20;

CudaRecorder::CudaRecorder(const Cloth& cloth, const SimulationOptions& options,
                           const CudaMemory& memory, int most_steps)
    : name_(cuda_device_name()),
      engine_(cloth, options.environment),
      lanes_(cloth.particle_count(), options.dt),
      speed_limit_(largest_speed(cloth.sheet, options.dt)),
      memory_(std::min(memory.most, free_memory() / 10 * 9)),
      most_steps_(most_steps)
{
    // Several waves of blocks, so that the last does not leave much of the device idle.
    constexpr std::size_t kMostLanes = 1024;
    const std::size_t frame = 9 * cloth.particle_count() * sizeof(float);
    const Task usual{{}, {}, 2, 1, true};
    const std::size_t fitting = memory_ / bytes_per_lane(usual, {});
    lane_count_ =
        int(std::clamp(std::min(2 * kStaging / frame, fitting), std::size_t(1), kMostLanes));
}

std::size_t CudaRecorder::bytes_per_lane(const Task& task, const Plan& plan) const
{
    const std::size_t slots = 2 * 3 * std::size_t(task.arrays());
    const std::size_t rows = kStateRows + (task.with_accelerations ? 3 : 0) + slots;
    return std::size_t(plan.frames) *
               (rows * lanes_.particles() * sizeof(float) + 2 * sizeof(int)) +
           LaneSet::bytes_per_lane(lanes_.particles(), task.moving_handles(), plan.steps);
}

// All lanes at once, if there is memory for one frame of each.
Plan CudaRecorder::plan_for(const Task& task) const
{
    Plan plan;
    plan.lanes = task.starts.size();
    for (;; plan.lanes = (plan.lanes + 1) / 2) {
        const std::size_t particles = plan.lanes * lanes_.particles();
        const std::size_t frame = particles * 3 * std::size_t(task.arrays()) * sizeof(float);
        plan.steps = std::min(steps_of_launch(particles), most_steps_);
        const std::size_t most = std::min(kStaging / frame, std::size_t(plan.steps / task.stride));
        plan.frames = int(std::clamp(most, std::size_t(1), task.frames));
        plan.steps = std::min(plan.steps, std::max(plan.frames, 1) * task.stride);
        while (plan.frames > 1 && plan.lanes * bytes_per_lane(task, plan) > memory_) {
            plan.frames = (plan.frames + 1) / 2;
            plan.steps = plan.frames * task.stride;
        }
        if (plan.lanes == 1 || plan.lanes * bytes_per_lane(task, plan) <= memory_) return plan;
    }
}

void CudaRecorder::prepare(const Task& task, const Plan& plan)
{
    const std::size_t rows = plan.lanes * std::size_t(plan.frames), count = lanes_.particles();
    lane_stride_ = std::size_t(plan.frames) * kStateRows * count;
    records_.resize(plan.lanes * lane_stride_);
    if (task.with_accelerations) accelerations_.resize(rows * 3 * count);
    for (Slot& slot : slots_) slot.resize(rows * 3 * count * std::size_t(task.arrays()), rows);
}

void CudaRecorder::release()
{
    records_.release();
    accelerations_.release();
    for (Slot& slot : slots_) {
        slot.packed.release();
        slot.bad.release();
    }
}

void CudaRecorder::load(const Task& task)
{
    step_ = 0;
    lanes_.begin(int(task.starts.size()));
    for (std::size_t lane = 0; lane < task.starts.size(); ++lane) {
        lanes_.load(int(lane), *task.starts[lane].state, *task.starts[lane].handles);
    }
}

void CudaRecorder::advance(int steps, const Records& records)
{
    step_ = lanes_.renumbered(step_);
    lanes_.send(step_, steps);
    if (steps > 0) engine_.advance(lanes_, step_, steps, records);
    step_ += steps;
}

FramesView CudaRecorder::view_of(int frames, Slot& slot)
{
    FramesView view;
    view.lanes = lanes_.count();
    view.frames = frames;
    view.particles = int(lanes_.particles());
    view.state = records_.data();
    view.lane_stride = lane_stride_;
    view.speed_limit = speed_limit_;
    view.packed = slot.packed.data();
    view.bad = slot.bad.data();
    return view;
}

// The frame of the first piece.
void CudaRecorder::keep_starts()
{
    const std::size_t state = kStateRows * lanes_.particles() * sizeof(float);
    SPRINGTIME_CUDA(cudaMemcpy2DAsync(records_.data(), lane_stride_ * sizeof(float),
                                      lanes_.view().state, state, state,
                                      std::size_t(lanes_.count()), cudaMemcpyDeviceToDevice));
}

void CudaRecorder::start(const Task& task, const Piece& piece, Slot& slot)
{
    advance(piece.steps,
            piece.frames > 0 ? Records{records_.data(), lane_stride_, piece.every()} : Records{});
    if (piece.steps == 0) keep_starts();
    if (piece.frames > 0) {
        FramesView view = view_of(piece.frames, slot);
        if (task.with_accelerations) {
            engine_.exact_accelerations(
                lanes_.view(),
                {records_.data(), lane_stride_, kStateRows * lanes_.particles(), piece.frames},
                accelerations_.data());
            view.acceleration = accelerations_.data();
        }
        pack_frames(view);
    }
    slot.filled.record();
    slot.filled.hold_up(copying_.get());
    const std::size_t rows = task.starts.size() * std::size_t(piece.frames);
    const std::size_t numbers = rows * 3 * lanes_.particles() * std::size_t(task.arrays());
    SPRINGTIME_CUDA(cudaMemcpyAsync(slot.host.data(), slot.packed.data(), numbers * sizeof(float),
                                    cudaMemcpyDeviceToHost, copying_.get()));
    SPRINGTIME_CUDA(cudaMemcpyAsync(slot.host_bad.data(), slot.bad.data(), rows * sizeof(int),
                                    cudaMemcpyDeviceToHost, copying_.get()));
    slot.copied.record(copying_.get());
}

// Waits for a piece and hands out its frames. Returns the first frame in which a particle has left
// all bounds, whatever the lane; nobody looks at the start.
std::optional<std::size_t> CudaRecorder::finish(const Task& task, const Piece& piece, Slot& slot)
{
    slot.copied.wait();
    const std::size_t frames = std::size_t(piece.frames), lanes = task.starts.size();
    for (std::size_t frame = 0; frame < frames && piece.steps > 0; ++frame) {
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            if (slot.host_bad[lane * frames + frame]) return piece.first_frame + frame;
        }
    }
    constexpr std::size_t kForOneThread = 1 << 18;  // numbers
    const std::size_t row = 3 * lanes_.particles(), part = frames * row;
    const std::size_t numbers = lanes * part * std::size_t(task.arrays());
    parallel_for(int(lanes), numbers > kForOneThread ? thread_count(0) : 1, [&](int lane) {
        BatchRecorder::Frames& to = task.recorded[std::size_t(lane)];
        const float* from =
            slot.host.data() + std::size_t(lane) * std::size_t(task.arrays()) * part;
        for (auto* array : {&to.position, &to.velocity, &to.acceleration}) {
            if (array == &to.acceleration && !task.with_accelerations) continue;
            if (piece.first_frame == 0) array->resize(task.frames * row);
            std::copy_n(from, part, array->data() + piece.first_frame * row);
            from += part;
        }
    });
    return std::nullopt;
}

std::optional<StepReport> CudaRecorder::run(const Task& task, const Plan& plan,
                                            const std::function<void(double share)>& done)
{
    const Finish on_leaving;
    prepare(task, plan);
    load(task);
    Piece pieces[2];
    start(task, pieces[0], slots_[0]);
    double share = 0;
    for (int turn = 0;; turn = 1 - turn) {
        const Piece& piece = pieces[turn];
        const bool more = piece.end() < task.steps();
        if (more) {
            pieces[1 - turn] = piece.next(task, plan);
            start(task, pieces[1 - turn], slots_[1 - turn]);
        }
        if (const auto frame = finish(task, piece, slots_[turn])) {
            return first_bad(task, plan, *frame, [&] { done(share); });
        }
        share = more ? double(piece.end()) / double(task.steps()) : 1;
        done(share);
        if (!more) return std::nullopt;
    }
}

// Runs again up to the frame before, then looks at every step.
StepReport CudaRecorder::first_bad(const Task& task, const Plan& plan, std::size_t frame,
                                   const std::function<void()>& heartbeat)
{
    load(task);
    Pace pace;
    const long before = long(frame - 1) * task.stride;
    for (long step = 0; step < before;) {
        const int count = int(std::min(long(plan.steps), before - step));
        advance(count, {});
        pace.launched(heartbeat);
        step += count;
    }
    for (int looked = 0; looked < task.stride; looked += plan.frames) {
        const int count = std::min(plan.frames, task.stride - looked);
        advance(count, {records_.data(), lane_stride_, 1});
        if (auto report = first_bad_of(count)) {
            report->step += before + looked;
            return *report;
        }
        heartbeat();
    }
    throw Failure("the device ran twice from the same start and came to another end");
}

// Of the steps that were just recorded, every one.
std::optional<StepReport> CudaRecorder::first_bad_of(int steps)
{
    pack_frames(view_of(steps, slots_[0]));
    const std::size_t lanes = std::size_t(lanes_.count()), size = kStateRows * lanes_.particles();
    std::vector<int> bad(lanes * std::size_t(steps));
    slots_[0].bad.fetch(0, bad);
    for (int i = 0; i < steps; ++i) {
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            if (!bad[lane * std::size_t(steps) + std::size_t(i)]) continue;
            std::vector<float> rows(size);
            records_.fetch(lane * lane_stride_ + std::size_t(i) * size, rows);
            State state;
            unpack_state(rows, state);
            const auto particle = first_bad_particle(state, speed_limit_);
            SPRINGTIME_ASSERT(particle);
            return StepReport{*particle, i + 1, lanes_.time(int(lane), step_ - steps + i + 1),
                              int(lane)};
        }
    }
    return std::nullopt;
}

std::optional<StepReport> CudaRecorder::record(std::span<const Start> starts, std::size_t frames,
                                               int stride, bool with_accelerations,
                                               std::vector<Frames>& recorded,
                                               const std::function<void(double share)>& done)
{
    recorded.resize(starts.size());
    std::optional<StepReport> first;
    std::size_t width = starts.size();
    for (std::size_t begin = 0; begin < starts.size();) {
        Task task{starts.subspan(begin), std::span(recorded).subspan(begin), frames, stride,
                  with_accelerations};
        const auto narrow = [&](std::size_t lanes) {
            width = std::min(width, lanes);
            task.starts = task.starts.first(std::min(width, task.starts.size()));
        };
        narrow(width);
        const Plan plan = plan_for(task);
        narrow(plan.lanes);
        try {
            auto report = run(task, plan, [&](double share) {
                done((double(begin) + share * double(task.starts.size())) / double(starts.size()));
            });
            if (report) report->lane += int(begin);
            if (report && (!first || report->step < first->step)) first = report;
            begin += task.starts.size();
        } catch (const OutOfMemory&) {
            if (width == 1) throw;
            release();
            width = (width + 1) / 2;
        }
    }
    return first;
}

}  // namespace

}  // namespace cuda

std::unique_ptr<BatchRecorder> make_cuda_recorder(const Cloth& cloth,
                                                  const SimulationOptions& options,
                                                  const CudaMemory& memory, int most_steps)
{
    check_cuda_device();
    return std::make_unique<cuda::CudaRecorder>(cloth, options, memory, most_steps);
}

}  // namespace springtime
