#include <algorithm>
#include <atomic>

#include "backends/cuda/compare.h"
#include "backends/cuda/course.h"
#include "backends/cuda/cuda.h"
#include "backends/cuda/gradient_rows.h"
#include "backends/cuda/loaded_clips.h"
#include "sim/stepper.h"

namespace springtime {

namespace cuda {

namespace {

using Clips = std::span<const ClipView>;

struct CudaPreparedClips : PreparedClips {
    CudaPreparedClips(std::vector<ClipView> views, const ClipTerms& of_loss, int parts,
                      std::shared_ptr<LoadedPool> from)
        : PreparedClips(std::move(views), of_loss, parts), pool(std::move(from))
    {
    }
    ~CudaPreparedClips() override
    {
        if (loaded) pool->give_back(std::move(loaded));
    }

    std::shared_ptr<LoadedPool> pool;
    std::unique_ptr<LoadedClips> loaded;  // all clips; null where they take too much memory
};

class CudaClipGradient : public ClipGradient {
  public:
    CudaClipGradient(const Cloth& cloth, const SimulationOptions& options, int stride,
                     const CudaMemory& memory);

    std::string name() const override { return name_; }
    std::unique_ptr<PreparedClips> prepare(std::vector<ClipView> clips, const ClipTerms& weights,
                                           int substeps) override;
    Result run(PreparedClips& clips, const ParameterValues& parameters,
               bool with_gradient) override;

  private:
    std::size_t target_bytes(const PreparedClips& batch) const;
    void load(Clips clips, const PreparedClips& batch, LoadedClips& to);
    void unload(CudaPreparedClips& batch);

    CourseShape shape_of(Clips clips, const CudaPreparedClips& batch, bool back) const;
    void run_loaded(LoadedClips& loaded, const PreparedClips& batch, const CourseShape& shape,
                    std::size_t first_row, Result& result);
    CompareView view_of(LoadedClips& loaded, const PreparedClips& batch);
    void find_accelerations(CompareView& view, LaneSet& lanes);
    void go_back(CompareView& view, LaneSet& lanes, const CourseShape& shape, double scale);
    void release();

    std::string name_;
    SimulationOptions options_;
    int stride_;
    double diagonal_speed_;  // that no particle may have, of a step that is not cut [m/s]
    Engine engine_;
    Course course_;
    Stream sending_;
    std::shared_ptr<LoadedPool> pool_ = std::make_shared<LoadedPool>();
    std::atomic<std::size_t> most_loaded_;  // targets of a batch that is loaded ahead [bytes]
    LoadedClips some_;                      // clips of a batch that is not
    GradientRows rows_;
    DeviceArray<float> mass_, accelerations_, impulse_;
    DeviceArray<float> position_adjoint_, velocity_adjoint_, acceleration_adjoint_;
    DeviceArray<ComparedFrame> compared_;
    DeviceArray<ComparedClip> clips_;
};

CudaClipGradient::CudaClipGradient(const Cloth& cloth, const SimulationOptions& options, int stride,
                                   const CudaMemory& memory)
    : name_(cuda_device_name()),
      options_(options),
      stride_(stride),
      diagonal_speed_(largest_speed(cloth.sheet, options.dt)),
      engine_(cloth, options.environment),
      course_(engine_, std::min(memory.most, free_memory() / 10 * 9)),
      most_loaded_(course_.memory() / 8),
      mass_(std::vector<float>(cloth.mass.begin(), cloth.mass.end()))
{
}

// At most.
std::size_t CudaClipGradient::target_bytes(const PreparedClips& batch) const
{
    if (batch.clips.empty()) return 0;
    return batch.clips.size() * batch.clips[0].frame_count *
           std::size_t(target_arrays(batch.weights)) * 3 * engine_.particle_count() * sizeof(float);
}

// Some clips of the batch, or all.
void CudaClipGradient::load(Clips clips, const PreparedClips& batch, LoadedClips& to)
{
    const int steps = int(clips[0].frame_count - 1) * stride_ * batch.substeps;
    to.load(clips, batch.weights, engine_.particle_count(), options_.dt / batch.substeps, steps,
            sending_);
}

// No batch as large as this one is loaded ahead any more.
void CudaClipGradient::unload(CudaPreparedClips& batch)
{
    if (!batch.loaded) return;
    batch.loaded.reset();
    most_loaded_ = std::min(most_loaded_.load(), target_bytes(batch) - 1);
}

std::unique_ptr<PreparedClips> CudaClipGradient::prepare(std::vector<ClipView> clips,
                                                         const ClipTerms& weights, int substeps)
{
    auto batch = std::make_unique<CudaPreparedClips>(std::move(clips), weights, substeps, pool_);
    if (batch->clips.empty() || target_bytes(*batch) > most_loaded_) return batch;
    batch->loaded = pool_->take();
    try {
        load(batch->clips, *batch, *batch->loaded);
    } catch (const OutOfMemory&) {
        unload(*batch);
    }
    return batch;
}

CourseShape CudaClipGradient::shape_of(Clips clips, const CudaPreparedClips& batch, bool back) const
{
    const ClipTerms& weights = batch.weights;
    CourseShape shape;
    shape.stride = stride_ * batch.substeps;
    shape.steps = int(clips[0].frame_count - 1) * shape.stride;
    shape.back = back;
    for (const ClipView& clip : clips) {
        if (!clip.handles->moving()) continue;
        shape.moving_handles = std::max(shape.moving_handles, clip.handles->particles.size());
    }
    shape.lane_sets = batch.loaded ? 2 : 1;  // the next batch may be loaded meanwhile
    // Frames of vectors: targets, adjoints and accelerations.
    const bool forces = weights.force != 0 || weights.impulse != 0;
    const int targets = target_arrays(weights);
    const int arrays = shape.lane_sets * targets + targets + (forces ? 1 : 0);
    shape.other =
        clips[0].frame_count * (std::size_t(arrays) * 3 * engine_.particle_count() * sizeof(float) +
                                sizeof(ComparedFrame));
    return shape;
}

CompareView CudaClipGradient::view_of(LoadedClips& loaded, const PreparedClips& batch)
{
    LaneSet& lanes = loaded.lanes();
    CompareView view;
    view.lanes = lanes.count();
    view.particles = int(engine_.particle_count());
    view.states = course_.frames();
    view.mass = mass_.data();
    view.mobility = lanes.view().mobility;
    view.weights = batch.weights;
    view.dt = lanes.dt();
    view.speed_limit = diagonal_speed_ * batch.substeps;
    view.target_position = loaded.position();
    view.target_velocity = loaded.velocity();
    view.target_acceleration = loaded.acceleration();
    compared_.resize(std::size_t(view.lanes) * std::size_t(view.states.per_lane));
    clips_.resize(std::size_t(view.lanes));
    impulse_.resize(3 * std::size_t(view.lanes) * engine_.particle_count());
    view.frames = compared_.data();
    view.clips = clips_.data();
    view.impulse = impulse_.data();
    return view;
}

void CudaClipGradient::find_accelerations(CompareView& view, LaneSet& lanes)
{
    if (view.weights.force == 0 && view.weights.impulse == 0) return;
    StatesView states = view.states;
    if (view.weights.force == 0) {
        states.stride *= std::size_t(states.per_lane - 1);
        states.per_lane = 2;
    }
    accelerations_.resize(3 * std::size_t(view.lanes) * std::size_t(states.per_lane) *
                          engine_.particle_count());
    engine_.accelerations(lanes.view(), states, accelerations_.data());
    view.acceleration = accelerations_.data();
}

// The gradient of `scale` times the sum over the lanes is the engine's then.
void CudaClipGradient::go_back(CompareView& view, LaneSet& lanes, const CourseShape& shape,
                               double scale)
{
    const std::size_t lane = 3 * std::size_t(shape.frames()) * engine_.particle_count();
    const auto room = [&](DeviceArray<float>& array, bool wanted) -> float* {
        if (!wanted) return nullptr;
        array.resize(std::size_t(view.lanes) * lane);
        return array.data();
    };
    const ClipTerms& w = view.weights;
    view.position_adjoint = room(position_adjoint_, w.position != 0);
    view.velocity_adjoint = room(velocity_adjoint_, w.impulse != 0);
    view.acceleration_adjoint = room(acceleration_adjoint_, w.force != 0 || w.impulse != 0);
    push_differences(view, scale);
    course_.back(lanes,
                 {view.position_adjoint, view.velocity_adjoint, view.acceleration_adjoint, lane,
                  shape.frames(), shape.stride},
                 {});
}

void CudaClipGradient::release()
{
    course_.release();
    for (auto* array :
         {&accelerations_, &position_adjoint_, &velocity_adjoint_, &acceleration_adjoint_}) {
        array->release();
    }
    some_ = {};
    pool_->release();
}

// Gradients of the clips become rows from `first_row` on.
void CudaClipGradient::run_loaded(LoadedClips& loaded, const PreparedClips& batch,
                                  const CourseShape& shape, std::size_t first_row, Result& result)
{
    const double scale = 1 / double(batch.clips.size());
    LaneSet& lanes = loaded.lanes();
    lanes.restart();
    course_.there(lanes, shape, {});
    CompareView view = view_of(loaded, batch);
    find_accelerations(view, lanes);
    compare(view);
    if (shape.back) {
        go_back(view, lanes, shape, scale);
        rows_.put(first_row, view.lanes, engine_.gradient(view.lanes));
    }
    for (const ComparedClip& clip : clips_.fetched()) {
        result.loss.force += scale * clip.terms.force;
        result.loss.impulse += scale * clip.terms.impulse;
        result.loss.position += scale * clip.terms.position;
    }
}

ClipGradient::Result CudaClipGradient::run(PreparedClips& prepared,
                                           const ParameterValues& parameters, bool with_gradient)
{
    auto& batch = dynamic_cast<CudaPreparedClips&>(prepared);
    const Clips clips = batch.clips;
    engine_.set_parameters(parameters);
    if (with_gradient) rows_.begin(clips.size(), parameters, nullptr);
    Result result;
    std::size_t width = clips.size();
    for (std::size_t begin = 0; begin < clips.size();) {
        const Clips rest = clips.subspan(begin, std::min(width, clips.size() - begin));
        const CourseShape shape = shape_of(rest, batch, with_gradient);
        width = course_.lanes_that_fit(shape, rest.size());
        if (width < clips.size()) unload(batch);
        const bool loaded = batch.loaded != nullptr;
        try {
            if (!loaded) load(rest.first(width), batch, some_);
            run_loaded(loaded ? *batch.loaded : some_, batch, shape, begin, result);
            begin += width;
        } catch (const OutOfMemory&) {
            // Others use the device, too.
            unload(batch);
            release();
            if (width == 1 && !loaded) throw;
            width = (width + 1) / 2;
            course_.set_memory(course_.memory() / 2);
        }
    }
    if (with_gradient) result.gradient = rows_.sum(std::vector<double>(clips.size(), 1));
    return result;
}

}  // namespace

}  // namespace cuda

std::unique_ptr<ClipGradient> make_cuda_clip_gradient(const Cloth& cloth,
                                                      const SimulationOptions& options, int stride,
                                                      const CudaMemory& memory)
{
    check_cuda_device();
    return std::make_unique<cuda::CudaClipGradient>(cloth, options, stride, memory);
}

}  // namespace springtime
