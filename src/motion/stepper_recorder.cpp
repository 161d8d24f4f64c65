#include "motion/stepper_recorder.h"

#include <algorithm>
#include <mutex>

#include "core/parallel.h"
#include "motion/record.h"
#include "sim/stepper.h"

namespace springtime {

namespace {

struct AnotherThreadEnded {};

// Counts the frames of all groups; what the listener throws ends all of them.
class Shares {
  public:
    Shares(double total, const std::function<void(double)>& done) : total_(total), done_(done) {}

    void add(double frames)
    {
        const std::lock_guard lock(mutex_);
        if (ended_) throw AnotherThreadEnded{};
        frames_ += frames;
        ended_ = true;  // unless the listener returns
        done_(frames_ / total_);
        ended_ = false;
    }

  private:
    std::mutex mutex_;
    double frames_ = 0, total_;
    bool ended_ = false;
    const std::function<void(double)>& done_;
};

class StepperRecorder : public BatchRecorder {
  public:
    StepperRecorder(const Cloth& cloth, const SimulationOptions& options, int threads)
        : cloth_(cloth), options_(options), threads_(thread_count(threads))
    {
        const auto stepper = make_batch_stepper(cloth, options);
        width_ = std::size_t(stepper->lane_count());
        name_ = stepper->name();
    }

    int lane_count() const override { return int(width_) * threads_; }
    std::string name() const override { return name_; }
    std::optional<StepReport> record(std::span<const Start> starts, std::size_t frames, int stride,
                                     bool with_accelerations, std::vector<Frames>& recorded,
                                     const std::function<void(double share)>& done) override;

  private:
    Cloth cloth_;
    SimulationOptions options_;
    int threads_;
    std::size_t width_ = 1;
    std::string name_;
};

std::optional<StepReport> StepperRecorder::record(std::span<const Start> starts, std::size_t frames,
                                                  int stride, bool with_accelerations,
                                                  std::vector<Frames>& recorded,
                                                  const std::function<void(double share)>& done)
{
    const std::size_t groups = (starts.size() + width_ - 1) / width_;
    std::vector<std::optional<StepReport>> blow_ups(groups);
    recorded.resize(std::max(recorded.size(), starts.size()));
    Shares shares(double(starts.size() * frames), done);
    parallel_for(int(groups), threads_, [&](int group) {
        const std::size_t begin = std::size_t(group) * width_;
        const std::size_t end = std::min(begin + width_, starts.size());
        std::vector<RolloutStart> own;
        for (std::size_t i = begin; i < end; ++i) {
            own.push_back({*starts[i].state, *starts[i].handles});
        }
        try {
            RecordedLanes lanes =
                record_lanes(cloth_, options_, own, frames, stride, with_accelerations,
                             [&](double part) { shares.add(part * double(own.size())); });
            auto& blow_up = blow_ups[std::size_t(group)] = lanes.blow_up;
            if (blow_up) blow_up->lane += int(begin);
            for (std::size_t i = begin; !blow_up && i < end; ++i) {
                Rollout& rollout = lanes.rollouts[i - begin];
                recorded[i] = {std::move(rollout.position), std::move(rollout.velocity),
                               std::move(rollout.acceleration)};
            }
        } catch (const AnotherThreadEnded&) {  // that thread says why
        }
    });
    for (const auto& blow_up : blow_ups) {
        if (blow_up) return blow_up;
    }
    return std::nullopt;
}

}  // namespace

std::unique_ptr<BatchRecorder> make_stepper_recorder(const Cloth& cloth,
                                                     const SimulationOptions& options, int threads)
{
    return std::make_unique<StepperRecorder>(cloth, options, threads);
}

}  // namespace springtime
