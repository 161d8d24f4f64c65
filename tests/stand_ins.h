#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "learn/gradient.h"
#include "learn/limited_mean.h"
#include "sim/batch_recorder.h"
#include "sim/forces.h"
#include "sim/stepper.h"
#include "sim/tape.h"

// What stands in for a device: backends that take whole rollouts and clips, and hand them on to
// steppers and tapes as a device would to its kernels.
namespace springtime {

// Records the rollouts of a batch one after the other, from the last to the first.
class StepperRecorder : public BatchRecorder {
  public:
    StepperRecorder(const Cloth& cloth, const SimulationOptions& options, int lanes)
        : cloth_(cloth), options_(options), lanes_(lanes)
    {
    }

    int lane_count() const override { return lanes_; }
    std::string name() const override { return "stand-in"; }

    std::optional<StepReport> record(std::span<const Start> starts, std::size_t frames, int stride,
                                     bool with_accelerations, std::vector<Frames>& recorded,
                                     const std::function<void(double share)>& done) override
    {
        EXPECT_LE(int(starts.size()), lanes_);
        recorded.resize(starts.size());
        std::optional<StepReport> first;
        for (std::size_t i = starts.size(); i-- > 0;) {
            auto report = record_one(starts[i], frames, stride, with_accelerations, recorded[i]);
            if (report && (!first || report->step <= first->step)) {
                first = report;
                first->lane = int(i);
            }
            done(double(starts.size() - i) / double(starts.size()));
        }
        return first;
    }

  private:
    std::optional<StepReport> record_one(const Start& start, std::size_t frames, int stride,
                                         bool with_accelerations, Frames& to)
    {
        const auto stepper = make_batch_stepper(cloth_, options_);
        const std::vector<Handles> handles{*start.handles};
        std::vector<State> states{with_handles(*start.state, handles[0], options_.dt)};
        stepper->load(0, states[0], handles[0]);
        stepper->store(0, states[0]);
        to = {};
        const ForceTable<double> table(cloth_, options_.environment);
        for (std::size_t frame = 0; frame < frames; ++frame) {
            if (frame > 0) {
                auto report =
                    advance_checked(*stepper, states, handles, stride, cloth_, options_.dt);
                if (report) {
                    report->step += long(frame - 1) * stride;
                    return report;
                }
            }
            append(to.position, states[0].position);
            append(to.velocity, states[0].velocity);
            if (with_accelerations) {
                append(to.acceleration, acceleration(table, handles[0], states[0]));
            }
        }
        return std::nullopt;
    }

    static void append(std::vector<float>& to, const std::vector<Vec3d>& from)
    {
        for (const Vec3d& a : from) {
            for (int axis = 0; axis < 3; ++axis) to.push_back(float(a[axis]));
        }
    }

    Cloth cloth_;
    SimulationOptions options_;
    int lanes_;
};

// Takes clips for the published losses.
class TapeClips : public ClipGradient {
  public:
    TapeClips(const Cloth& cloth, const SimulationOptions& options, int stride)
        : cloth_(cloth), options_(options), stride_(stride)
    {
    }

    std::string name() const override { return "stand-in"; }
    Result run(PreparedClips& clips, const ParameterValues& parameters, bool with_gradient) override
    {
        std::vector<Rollout> rollouts;
        for (const ClipView& clip : clips.clips) {
            rollouts.push_back({clip.frame_count,
                                {clip.position.begin(), clip.position.end()},
                                {clip.velocity.begin(), clip.velocity.end()},
                                {clip.acceleration.begin(), clip.acceleration.end()},
                                *clip.handles});
            EXPECT_EQ(clip.start.position.size(), cloth_.particle_count());
            EXPECT_EQ(clip.start.position[0].x, double(clip.position[0]));
        }
        BatchGradient tapes(cloth_, options_, stride_, 1, Substeps{clips.substeps});
        const ClipTerms& weights = clips.weights;
        const auto found = tapes.run(
            rollouts, parameters,
            {.force = weights.force, .impulse = weights.impulse, .position = weights.position},
            with_gradient);
        return {{found.loss.force, found.loss.impulse, found.loss.position},
                with_gradient ? found.gradient.kinds : ParameterValues{}};
    }

  private:
    Cloth cloth_;
    SimulationOptions options_;
    int stride_;
};

// What a test sees of the trajectories that were taken.
struct TrajectoryTraffic {
    int followed = 0, with_landmarks = 0;  // trajectories
    std::size_t kept = 0;                  // rollouts
    std::size_t room = std::size_t(-1);    // for so many
    int batches = 0;
};

// Follows the trajectories of a batch one after the other, from the last to the first.
class TapeTrajectories : public TrajectoryGradient {
  public:
    TapeTrajectories(const Cloth& cloth, const SimulationOptions& options, int stride,
                     const LandmarkShares& landmarks, std::function<void()> heartbeat,
                     const LandmarkMap& map, TrajectoryTraffic& traffic)
        : cloth_(cloth),
          options_(options),
          stride_(stride),
          heartbeat_(std::move(heartbeat)),
          map_(map),
          traffic_(&traffic)
    {
        for (std::size_t i = 0; i < map.landmark_count(); ++i) {
            EXPECT_EQ(landmarks.particle[i], map.weights()[i].particle);
            EXPECT_EQ(landmarks.weight[i], map.weights()[i].weight);
        }
    }

    std::string name() const override { return "stand-in"; }

    bool keep(std::size_t rollout, std::span<const float> position) override
    {
        if (kept_.size() >= traffic_->room) return false;
        kept_[rollout].assign(position.begin(), position.end());
        ++traffic_->kept;
        return true;
    }

    Result follow(std::span<const TrajectoryView> views, const ParameterValues& values,
                  const FrameLoss& loss, int substeps, const Wish& wish) override
    {
        ++traffic_->batches;
        SimulationOptions step = options_;
        step.dt /= substeps;
        const auto tape =
            make_fast_tape(cloth_, step, {.zeros_stay = true, .heartbeat = heartbeat_});
        tape->set_parameters(values);
        const double speed = largest_speed(cloth_.sheet, step.dt);
        const bool back = wish.each || wish.scale;
        Result result;
        result.trajectories.resize(views.size());
        std::vector<ParameterValues> gradients(views.size(), zeros_like(values));
        for (std::size_t i = views.size(); i-- > 0;) {
            const Trajectory trajectory = trajectory_of(views[i]);
            const Trajectory* lane[] = {&trajectory};
            ParameterValues* gradient[] = {&gradients[i]};
            result.trajectories[i] =
                springtime::follow<float>(*tape, map_, lane, loss, stride_ * substeps, speed,
                                          back ? std::span<ParameterValues* const>(gradient)
                                               : std::span<ParameterValues* const>())[0];
        }
        if (wish.scale) result.mean = mean_of(result.trajectories, gradients, wish);
        if (wish.each) result.each = std::move(gradients);
        return result;
    }

  private:
    static ParameterValues zeros_like(ParameterValues values)
    {
        for (auto& kind : values) std::fill(kind.begin(), kind.end(), 0.0);
        return values;
    }

    Trajectory trajectory_of(const TrajectoryView& view)
    {
        ++traffic_->followed;
        traffic_->with_landmarks += !view.position.empty();
        const std::size_t row = 3 * map_.landmark_count(), count = view.frame_count * row;
        const float* from = view.position.data();
        if (view.position.empty()) {
            const std::vector<float>& whole = kept_.at(view.part.rollout);
            EXPECT_LE(view.part.first_frame * row + count, whole.size());
            from = whole.data() + view.part.first_frame * row;
        }
        return {*view.start,
                *view.handles,
                view.frame_count,
                {from, from + count},
                {view.free.begin(), view.free.end()},
                view.part};
    }

    static std::optional<ParameterValues> mean_of(const std::vector<Followed>& followed,
                                                  std::vector<ParameterValues> gradients,
                                                  const Wish& wish)
    {
        for (std::size_t i = 0; i < gradients.size(); ++i) {
            for (std::size_t k = 0; k < gradients[i].size(); ++k) {
                for (std::size_t e = 0; e < gradients[i][k].size(); ++e) {
                    gradients[i][k][e] *= (*wish.scale)[k][e];
                }
            }
            if (!std::isfinite(followed[i].loss)) gradients[i] = {{std::nan("")}};
        }
        return limited_mean(gradients, wish.limit);
    }

    Cloth cloth_;
    SimulationOptions options_;
    int stride_;
    std::function<void()> heartbeat_;
    const LandmarkMap& map_;
    TrajectoryTraffic* traffic_;
    std::map<std::size_t, std::vector<float>> kept_;
};

// Both must outlive what is made with these.
inline GradientBackends stand_ins(const LandmarkMap& map, TrajectoryTraffic& traffic)
{
    GradientBackends backends;
    backends.clips = [](const Cloth& cloth, const SimulationOptions& options, int stride) {
        return std::make_unique<TapeClips>(cloth, options, stride);
    };
    backends.trajectories = [&](const Cloth& cloth, const SimulationOptions& options, int stride,
                                const LandmarkShares& landmarks, std::function<void()> heartbeat) {
        return std::make_unique<TapeTrajectories>(cloth, options, stride, landmarks,
                                                  std::move(heartbeat), map, traffic);
    };
    return backends;
}

}  // namespace springtime
