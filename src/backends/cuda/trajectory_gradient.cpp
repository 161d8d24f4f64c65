#include <algorithm>
#include <map>

#include "backends/cuda/course.h"
#include "backends/cuda/cuda.h"
#include "backends/cuda/follow.h"
#include "backends/cuda/gradient_rows.h"
#include "core/limited_shares.h"
#include "core/parallel.h"
#include "sim/stepper.h"

namespace springtime {

namespace cuda {

namespace {

// Where the landmarks lie, on the device.
class Landmarks {
  public:
    Landmarks(const LandmarkShares& shares, std::size_t particles);
    LandmarksView view() const;
    std::size_t count() const { return count_; }

  private:
    std::size_t count_, particles_;
    DeviceArray<int> particle_, first_, landmark_;
    DeviceArray<float> weight_, share_;
};

Landmarks::Landmarks(const LandmarkShares& shares, std::size_t particles)
    : count_(shares.particle.size()), particles_(particles)
{
    std::vector<int> particle, first(particles + 1, 0), landmark;
    std::vector<float> weight, share;
    const auto for_each_share = [&](const auto& use) {
        for (std::size_t l = 0; l < count_; ++l) {
            for (std::size_t j = 0; j < 4; ++j) {
                if (shares.weight[l][j] != 0) {
                    use(int(l), std::size_t(shares.particle[l][j]), float(shares.weight[l][j]));
                }
            }
        }
    };
    for (std::size_t l = 0; l < count_; ++l) {
        for (std::size_t j = 0; j < 4; ++j) {
            particle.push_back(shares.particle[l][j]);
            weight.push_back(float(shares.weight[l][j]));
        }
    }
    for_each_share([&](int, std::size_t p, float) { ++first[p + 1]; });
    for (std::size_t p = 0; p < particles; ++p) first[p + 1] += first[p];
    landmark.resize(std::size_t(first[particles]));
    share.resize(landmark.size());
    std::vector<int> next = first;
    for_each_share([&](int l, std::size_t p, float w) {
        const std::size_t at = std::size_t(next[p]++);
        landmark[at] = l;
        share[at] = w;
    });
    particle_.assign(particle);
    weight_.assign(weight);
    first_.assign(first);
    landmark_.assign(landmark);
    share_.assign(share);
}

LandmarksView Landmarks::view() const
{
    return {int(count_),   int(particles_),  particle_.data(), weight_.data(),
            first_.data(), landmark_.data(), share_.data()};
}

// Some of the trajectories, side by side.
using Views = std::span<const TrajectoryView>;

class CudaTrajectoryGradient : public TrajectoryGradient {
  public:
    CudaTrajectoryGradient(const Cloth& cloth, const SimulationOptions& options, int stride,
                           const LandmarkShares& landmarks, std::function<void()> heartbeat,
                           const CudaMemory& memory);

    std::string name() const override { return name_; }
    bool keep(std::size_t rollout, std::span<const float> position) override;
    Result follow(std::span<const TrajectoryView> trajectories, const ParameterValues& values,
                  const FrameLoss& loss, int substeps, const Wish& wish) override;

  private:
    CourseShape shape_of(Views views, int substeps, bool back) const;
    void load(Views views, int substeps);
    void send_targets(Views views);
    FollowView view_of(const FrameLoss& loss, int substeps);
    void run(Views views, const CourseShape& shape, const FrameLoss& loss, int substeps,
             std::span<Followed> results, std::size_t first_row);
    void release();

    std::string name_;
    SimulationOptions options_;
    int stride_;
    std::function<void()> heartbeat_;
    double diagonal_speed_;  // that no particle may have, of a step that is not cut [m/s]
    std::size_t memory_;     // for kept landmarks and all that runs [bytes]
    Engine engine_;
    Landmarks landmarks_;
    Course course_;
    std::optional<LaneSet> lanes_;
    std::map<std::size_t, DeviceArray<float>> kept_;  // by rollout
    std::size_t kept_bytes_ = 0;
    GradientRows rows_;

    std::vector<TargetView> host_targets_;
    std::vector<std::uint8_t> host_free_;
    DeviceArray<float> positions_;  // of trajectories that bring their landmarks
    DeviceArray<TargetView> targets_;
    DeviceArray<std::uint8_t> free_;
    DeviceArray<FollowedFrame> measured_;
    DeviceArray<FollowedLane> followed_;
    DeviceArray<float> adjoint_;
};

CudaTrajectoryGradient::CudaTrajectoryGradient(const Cloth& cloth, const SimulationOptions& options,
                                               int stride, const LandmarkShares& landmarks,
                                               std::function<void()> heartbeat,
                                               const CudaMemory& memory)
    : name_(cuda_device_name()),
      options_(options),
      stride_(stride),
      heartbeat_(std::move(heartbeat)),
      diagonal_speed_(largest_speed(cloth.sheet, options.dt)),
      memory_(std::min(memory.most, free_memory() / 10 * 9)),
      engine_(cloth, options.environment),
      landmarks_(landmarks, cloth.particle_count()),
      course_(engine_, memory_)
{
}

// Up to half of the memory.
bool CudaTrajectoryGradient::keep(std::size_t rollout, std::span<const float> position)
{
    if (kept_bytes_ + position.size_bytes() > memory_ / 2) return false;
    for (bool again = true;; again = false) {
        try {
            kept_[rollout].assign(position);
            break;
        } catch (const OutOfMemory&) {
            kept_.erase(rollout);
            if (!again) return false;
            release();
        }
    }
    kept_bytes_ += position.size_bytes();
    course_.set_memory(std::min(course_.memory(), memory_ - kept_bytes_));
    return true;
}

CourseShape CudaTrajectoryGradient::shape_of(Views views, int substeps, bool back) const
{
    CourseShape shape;
    std::size_t frames = 1;
    bool brings_landmarks = false;
    for (const TrajectoryView& view : views) {
        frames = std::max(frames, view.frame_count);
        brings_landmarks |= !view.position.empty();
        if (view.handles->moving()) {
            shape.moving_handles = std::max(shape.moving_handles, view.handles->particles.size());
        }
    }
    shape.stride = stride_ * substeps;
    shape.steps = int(frames - 1) * shape.stride;
    shape.back = back;
    const std::size_t vector = 3 * sizeof(float);
    shape.other = landmarks_.count() + frames * sizeof(FollowedFrame);
    if (brings_landmarks) shape.other += frames * landmarks_.count() * vector;
    if (back) shape.other += frames * engine_.particle_count() * vector;
    return shape;
}

void CudaTrajectoryGradient::load(Views views, int substeps)
{
    const double dt = options_.dt / substeps;
    if (!lanes_ || lanes_->dt() != dt) lanes_.emplace(engine_.particle_count(), dt);
    lanes_->begin(int(views.size()));
    constexpr std::size_t kForOneThread = 1 << 16;  // particles
    const std::size_t particles = views.size() * engine_.particle_count();
    parallel_for(int(views.size()), particles > kForOneThread ? thread_count(0) : 1, [&](int i) {
        const TrajectoryView& view = views[std::size_t(i)];
        lanes_->load(i, *view.start, *view.handles, int(view.frame_count - 1) * stride_ * substeps);
    });
}

void CudaTrajectoryGradient::send_targets(Views views)
{
    const std::size_t row = 3 * landmarks_.count();
    std::size_t brought = 0;
    for (const TrajectoryView& view : views) brought += view.position.size();
    positions_.resize(brought);
    host_targets_.clear();
    host_free_.clear();
    brought = 0;
    for (const TrajectoryView& view : views) {
        TargetView& target = host_targets_.emplace_back();
        target.frames = int(view.frame_count);
        if (view.position.empty()) {
            target.position = kept_.at(view.part.rollout).data() + view.part.first_frame * row;
        } else {
            positions_.put(brought, view.position);
            target.position = positions_.data() + brought;
            brought += view.position.size();
        }
        host_free_.insert(host_free_.end(), view.free.begin(), view.free.end());
    }
    targets_.assign(host_targets_);
    free_.assign(host_free_);
}

FollowView CudaTrajectoryGradient::view_of(const FrameLoss& loss, int substeps)
{
    FollowView view;
    view.lanes = lanes_->count();
    view.states = course_.frames();
    view.map = landmarks_.view();
    view.targets = targets_.data();
    view.free = free_.data();
    view.loss = loss;
    view.speed_limit = diagonal_speed_ * substeps;
    const std::size_t rows = std::size_t(view.lanes) * std::size_t(view.states.per_lane);
    measured_.resize(rows);
    followed_.resize(std::size_t(view.lanes));
    view.measured = measured_.data();
    view.followed = followed_.data();
    return view;
}

// With a way back, gradients become rows from `first_row` on.
void CudaTrajectoryGradient::run(Views views, const CourseShape& shape, const FrameLoss& loss,
                                 int substeps, std::span<Followed> results, std::size_t first_row)
{
    load(views, substeps);
    send_targets(views);
    course_.there(*lanes_, shape, heartbeat_);
    FollowView view = view_of(loss, substeps);
    measure(view);
    if (shape.back) {
        const std::size_t lane = 3 * std::size_t(shape.frames()) * engine_.particle_count();
        adjoint_.resize(views.size() * lane);
        view.adjoint = adjoint_.data();
        push_positions(view);
        FrameAdjoints adjoints;
        adjoints.position = adjoint_.data();
        adjoints.lane_stride = lane;
        adjoints.frames = shape.frames();
        adjoints.stride = shape.stride;
        course_.back(*lanes_, adjoints, heartbeat_);
        rows_.put(first_row, view.lanes, engine_.gradient(view.lanes));
    }
    const std::vector<FollowedLane> followed = followed_.fetched();
    for (std::size_t i = 0; i < views.size(); ++i) {
        const double frames = double(std::max<std::int64_t>(followed[i].frames, 1));
        results[i] = {followed[i].loss / frames, followed[i].error / frames,
                      std::size_t(followed[i].frames)};
    }
}

void CudaTrajectoryGradient::release()
{
    course_.release();
    adjoint_.release();
    positions_.release();
    measured_.release();
}

TrajectoryGradient::Result CudaTrajectoryGradient::follow(
    std::span<const TrajectoryView> trajectories, const ParameterValues& values,
    const FrameLoss& loss, int substeps, const Wish& wish)
{
    const bool back = wish.each || wish.scale;
    Result result;
    result.trajectories.resize(trajectories.size());
    engine_.set_parameters(values);
    if (back) rows_.begin(trajectories.size(), values, wish.scale);
    std::size_t width = trajectories.size();
    for (std::size_t begin = 0; begin < trajectories.size();) {
        const Views rest =
            trajectories.subspan(begin, std::min(width, trajectories.size() - begin));
        const CourseShape shape = shape_of(rest, substeps, back);
        width = course_.lanes_that_fit(shape, rest.size());
        const Views views = rest.first(width);
        try {
            run(views, shape, loss, substeps,
                std::span(result.trajectories).subspan(begin, views.size()), begin);
            begin += views.size();
        } catch (const OutOfMemory&) {
            // Others use the device, too.
            release();
            if (width == 1) throw;
            width = (width + 1) / 2;
            course_.set_memory(course_.memory() / 2);
        }
    }
    // What blew up has a gradient that means nothing.
    const auto blown = [&](std::size_t i) { return !std::isfinite(result.trajectories[i].loss); };
    if (wish.scale) {
        std::vector<double> norms = rows_.norms();
        for (std::size_t i = 0; i < norms.size(); ++i) {
            if (blown(i)) norms[i] = std::nan("");
        }
        if (const auto shares = limited_shares(norms, wish.limit)) result.mean = rows_.sum(*shares);
    }
    if (wish.each) {
        for (std::size_t i = 0; i < trajectories.size(); ++i) {
            result.each.push_back(rows_.row(i));
            if (!blown(i)) continue;
            for (auto& array : result.each.back()) std::fill(array.begin(), array.end(), 0.0);
        }
    }
    return result;
}

}  // namespace

}  // namespace cuda

std::unique_ptr<TrajectoryGradient> make_cuda_trajectory_gradient(
    const Cloth& cloth, const SimulationOptions& options, int stride,
    const LandmarkShares& landmarks, std::function<void()> heartbeat, const CudaMemory& memory)
{
    check_cuda_device();
    return std::make_unique<cuda::CudaTrajectoryGradient>(cloth, options, stride, landmarks,
                                                          std::move(heartbeat), memory);
}

}  // namespace springtime
