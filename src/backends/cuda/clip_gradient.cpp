#include <algorithm>

#include "backends/cuda/compare.h"
#include "backends/cuda/course.h"
#include "backends/cuda/cuda.h"
#include "backends/cuda/gradient_rows.h"
#include "core/assert.h"
#include "core/parallel.h"
#include "sim/stepper.h"

namespace springtime {

namespace cuda {

namespace {

using Clips = std::span<const ClipView>;

// What clips are compared with, on its way to the device: some frames of each, one clip after the
// other.
class Targets {
  public:
    // Of all frames, or of the first and the last.
    void send(Clips clips, std::span<const float> ClipView::*which, bool all);
    const float* data() const { return device_.data(); }
    void release() { device_.release(); }

  private:
    PinnedArray<float> host_;
    DeviceArray<float> device_;
};

void Targets::send(Clips clips, std::span<const float> ClipView::*which, bool all)
{
    const std::size_t frames = clips[0].frame_count, kept = all ? frames : 2;
    const std::size_t row = (clips[0].*which).size() / frames;
    host_.resize(clips.size() * kept * row);
    constexpr std::size_t kForOneThread = 1 << 18;  // numbers
    parallel_for(int(clips.size()), host_.size() > kForOneThread ? thread_count(0) : 1, [&](int i) {
        const std::span<const float> from = clips[std::size_t(i)].*which;
        SPRINGTIME_ASSERT(from.size() == frames * row);
        float* to = host_.data() + std::size_t(i) * kept * row;
        if (all) {
            std::copy(from.begin(), from.end(), to);
        } else {
            std::copy_n(from.begin(), row, to);
            std::copy_n(from.end() - std::ptrdiff_t(row), row, to + row);
        }
    });
    device_.assign(host_.span());
}

class CudaClipGradient : public ClipGradient {
  public:
    CudaClipGradient(const Cloth& cloth, const SimulationOptions& options, int stride,
                     const CudaMemory& memory);

    std::string name() const override { return name_; }
    Result run(std::span<const ClipView> clips, const ParameterValues& parameters,
               const ClipTerms& weights, int substeps, bool with_gradient) override;

  private:
    CourseShape shape_of(Clips clips, const ClipTerms& weights, int substeps, bool back) const;
    void load(Clips clips, const CourseShape& shape, int substeps);
    void send_targets(Clips clips, const ClipTerms& weights);
    CompareView view_of(const ClipTerms& weights, int substeps);
    void find_accelerations(CompareView& view);
    void go_back(CompareView& view, const CourseShape& shape, double scale);
    void release();

    std::string name_;
    SimulationOptions options_;
    int stride_;
    double diagonal_speed_;  // that no particle may have, of a step that is not cut [m/s]
    Engine engine_;
    Course course_;
    std::optional<LaneSet> lanes_;
    GradientRows rows_;
    DeviceArray<float> mass_, accelerations_, impulse_;
    Targets position_, velocity_, acceleration_;
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
      mass_(std::vector<float>(cloth.mass.begin(), cloth.mass.end()))
{
}

CourseShape CudaClipGradient::shape_of(Clips clips, const ClipTerms& weights, int substeps,
                                       bool back) const
{
    CourseShape shape;
    shape.stride = stride_ * substeps;
    shape.steps = int(clips[0].frame_count - 1) * shape.stride;
    shape.back = back;
    for (const ClipView& clip : clips) {
        if (!clip.handles->moving()) continue;
        shape.moving_handles = std::max(shape.moving_handles, clip.handles->particles.size());
    }
    // Frames of vectors: targets, adjoints and accelerations.
    const bool forces = weights.force != 0 || weights.impulse != 0;
    const std::size_t arrays =
        (weights.position != 0 ? 2 : 0) + (forces ? 3 : 0) + (weights.impulse != 0 ? 2 : 0);
    shape.other = clips[0].frame_count *
                  (arrays * 3 * engine_.particle_count() * sizeof(float) + sizeof(ComparedFrame));
    return shape;
}

void CudaClipGradient::load(Clips clips, const CourseShape& shape, int substeps)
{
    const double dt = options_.dt / substeps;
    if (!lanes_ || lanes_->dt() != dt) lanes_.emplace(engine_.particle_count(), dt);
    lanes_->begin(int(clips.size()));
    constexpr std::size_t kForOneThread = 1 << 16;  // particles
    const std::size_t particles = clips.size() * engine_.particle_count();
    parallel_for(int(clips.size()), particles > kForOneThread ? thread_count(0) : 1, [&](int i) {
        const ClipView& clip = clips[std::size_t(i)];
        lanes_->load(i, clip.start, *clip.handles, shape.steps);
    });
}

void CudaClipGradient::send_targets(Clips clips, const ClipTerms& weights)
{
    if (weights.position != 0) position_.send(clips, &ClipView::position, true);
    if (weights.force != 0 || weights.impulse != 0) {
        acceleration_.send(clips, &ClipView::acceleration, weights.force != 0);
    }
    if (weights.impulse != 0) velocity_.send(clips, &ClipView::velocity, false);
}

CompareView CudaClipGradient::view_of(const ClipTerms& weights, int substeps)
{
    CompareView view;
    view.lanes = lanes_->count();
    view.particles = int(engine_.particle_count());
    view.states = course_.frames();
    view.mass = mass_.data();
    view.mobility = lanes_->view().mobility;
    view.weights = weights;
    view.dt = lanes_->dt();
    view.speed_limit = diagonal_speed_ * substeps;
    view.target_position = position_.data();
    view.target_velocity = velocity_.data();
    view.target_acceleration = acceleration_.data();
    compared_.resize(std::size_t(view.lanes) * std::size_t(view.states.per_lane));
    clips_.resize(std::size_t(view.lanes));
    impulse_.resize(3 * std::size_t(view.lanes) * engine_.particle_count());
    view.frames = compared_.data();
    view.clips = clips_.data();
    view.impulse = impulse_.data();
    return view;
}

void CudaClipGradient::find_accelerations(CompareView& view)
{
    if (view.weights.force == 0 && view.weights.impulse == 0) return;
    StatesView states = view.states;
    if (view.weights.force == 0) {
        states.stride *= std::size_t(states.per_lane - 1);
        states.per_lane = 2;
    }
    accelerations_.resize(3 * std::size_t(view.lanes) * std::size_t(states.per_lane) *
                          engine_.particle_count());
    engine_.accelerations(lanes_->view(), states, accelerations_.data());
    view.acceleration = accelerations_.data();
}

// The gradient of `scale` times the sum over the lanes is the engine's then.
void CudaClipGradient::go_back(CompareView& view, const CourseShape& shape, double scale)
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
    course_.back(*lanes_,
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
    for (auto* targets : {&position_, &velocity_, &acceleration_}) targets->release();
}

ClipGradient::Result CudaClipGradient::run(std::span<const ClipView> clips,
                                           const ParameterValues& parameters,
                                           const ClipTerms& weights, int substeps,
                                           bool with_gradient)
{
    const double scale = 1 / double(clips.size());
    engine_.set_parameters(parameters);
    if (with_gradient) rows_.begin(clips.size(), parameters, nullptr);
    Result result;
    std::size_t width = clips.size();
    for (std::size_t begin = 0; begin < clips.size();) {
        Clips some = clips.subspan(begin, std::min(width, clips.size() - begin));
        const CourseShape shape = shape_of(some, weights, substeps, with_gradient);
        width = course_.lanes_that_fit(shape, some.size());
        some = some.first(width);
        try {
            load(some, shape, substeps);
            send_targets(some, weights);
            course_.there(*lanes_, shape, {});
            CompareView view = view_of(weights, substeps);
            find_accelerations(view);
            compare(view);
            if (with_gradient) {
                go_back(view, shape, scale);
                rows_.put(begin, view.lanes, engine_.gradient(view.lanes));
            }
            for (const ComparedClip& clip : clips_.fetched()) {
                result.loss.force += scale * clip.terms.force;
                result.loss.impulse += scale * clip.terms.impulse;
                result.loss.position += scale * clip.terms.position;
            }
            begin += some.size();
        } catch (const OutOfMemory&) {
            // Others use the device, too.
            release();
            if (width == 1) throw;
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
