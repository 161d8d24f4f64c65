#include "motion/rank_recorder.h"

#include <algorithm>

#include "crew/wire_cloth.h"
#include "motion/stepper_recorder.h"

namespace springtime {

inline auto fields(BatchRecorder::Frames& frames)
{
    auto& [position, velocity, acceleration] = frames;
    return std::tie(position, velocity, acceleration);
}

namespace {

// That of this rank.
std::unique_ptr<BatchRecorder> own_recorder(const Cloth& cloth, const SimulationOptions& options,
                                            std::size_t rollouts, std::size_t steps, int threads)
{
    auto recorder = make_batch_recorder(cloth, options, rollouts, steps);
    return recorder ? std::move(recorder) : make_stepper_recorder(cloth, options, threads);
}

class RecordTask : public RankTask {
  public:
    RecordTask(WireReader& setup, const RankTools& tools) : heartbeat_(tools.heartbeat)
    {
        Cloth cloth;
        SimulationOptions options;
        std::size_t rollouts = 0, steps = 0;
        int threads = 0;
        setup(cloth, options, rollouts, steps, threads);
        check_same_device(cloth, options, setup.next<std::string>());
        recorder_ = own_recorder(cloth, options, rollouts, steps, tools.threads(threads));
    }

    void answer(WireReader& request, WireWriter& answer) override
    {
        std::size_t frames = 0, count = 0;
        int stride = 1;
        bool with_accelerations = false;
        request(frames, stride, with_accelerations, count);
        std::vector<State> states(count);
        std::vector<Handles> handles(count);
        std::vector<BatchRecorder::Start> starts;
        for (std::size_t i = 0; i < count; ++i) {
            request(states[i], handles[i]);
            starts.push_back({&states[i], &handles[i]});
        }
        const std::optional<StepReport> blow_up = recorder_->record(
            starts, frames, stride, with_accelerations, recorded_, [&](double) { heartbeat_(); });
        answer(blow_up);
        for (std::size_t i = 0; !blow_up && i < count; ++i) answer(recorded_[i]);
    }

  private:
    std::function<void()> heartbeat_;
    std::unique_ptr<BatchRecorder> recorder_;
    std::vector<BatchRecorder::Frames> recorded_;
};

class RankRecorder : public BatchRecorder {
  public:
    RankRecorder(Crew& crew, const Cloth& cloth, const SimulationOptions& options,
                 std::size_t rollouts, std::size_t steps, int threads)
        : own_(own_recorder(cloth, options, rollouts, steps, crew.threads(threads))),
          together_(std::size_t(std::max(1, own_->lane_count() / crew.threads(threads)))),
          task_(crew, kRecordTask, setup(cloth, options, rollouts, steps, threads))
    {
    }

    int lane_count() const override { return own_->lane_count() * task_.rank_count(); }
    std::string name() const override
    {
        return fmt::format("{} on {} ranks", own_->name(), task_.rank_count());
    }
    std::optional<StepReport> record(std::span<const Start> starts, std::size_t frames, int stride,
                                     bool with_accelerations, std::vector<Frames>& recorded,
                                     const std::function<void(double share)>& done) override;

  private:
    static WireWriter setup(const Cloth& cloth, const SimulationOptions& options,
                            std::size_t rollouts, std::size_t steps, int threads)
    {
        WireWriter bytes;
        bytes(cloth, options, rollouts, steps, threads, device_of(cloth, options));
        return bytes;
    }
    void ask(int rank, std::span<const Start> starts, std::size_t frames, int stride,
             bool with_accelerations);

    std::unique_ptr<BatchRecorder> own_;
    std::size_t together_;  // lanes that a thread runs
    Crew::Task task_;
};

void RankRecorder::ask(int rank, std::span<const Start> starts, std::size_t frames, int stride,
                       bool with_accelerations)
{
    WireWriter request;
    request(frames, stride, with_accelerations, starts.size());
    for (const Start& start : starts) request(*start.state, *start.handles);
    task_.ask(rank, request);
}

std::optional<StepReport> RankRecorder::record(std::span<const Start> starts, std::size_t frames,
                                               int stride, bool with_accelerations,
                                               std::vector<Frames>& recorded,
                                               const std::function<void(double share)>& done)
{
    const int ranks = task_.rank_count();
    const auto part = [&](int rank) {
        const auto [begin, end] = part_of(starts.size(), together_, rank, ranks);
        return starts.subspan(begin, end - begin);
    };
    recorded.resize(std::max(recorded.size(), starts.size()));
    for (int rank = 1; rank < ranks; ++rank) {
        if (!part(rank).empty()) ask(rank, part(rank), frames, stride, with_accelerations);
    }
    double share = 0;
    std::optional<StepReport> blow_up;
    if (!part(0).empty()) {
        blow_up = own_->record(part(0), frames, stride, with_accelerations, recorded,
                               [&](double now) { done(share = now); });
    }
    for (int rank = 1; rank < ranks; ++rank) {
        const std::span<const Start> own = part(rank);
        if (own.empty()) continue;
        const std::vector<std::byte> bytes = task_.answer(rank, [&] { done(share); });
        WireReader answer(bytes);
        const auto first = std::size_t(own.data() - starts.data());
        auto found = answer.next<std::optional<StepReport>>();
        if (found && !blow_up) {
            found->lane += int(first);
            blow_up = found;
        }
        for (std::size_t i = 0; !found && i < own.size(); ++i) answer(recorded[first + i]);
    }
    return blow_up;
}

}  // namespace

std::unique_ptr<BatchRecorder> make_rank_recorder(Crew& crew, const Cloth& cloth,
                                                  const SimulationOptions& options,
                                                  std::size_t rollouts, std::size_t steps,
                                                  int threads)
{
    return std::make_unique<RankRecorder>(crew, cloth, options, rollouts, steps, threads);
}

std::unique_ptr<RankTask> make_record_task(WireReader& setup, const RankTools& tools)
{
    return std::make_unique<RecordTask>(setup, tools);
}

}  // namespace springtime
