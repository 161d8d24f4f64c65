#include "learn/rank_gradient.h"

#include "core/limited_shares.h"
#include "core/parallel.h"
#include "crew/wire_cloth.h"
#include "learn/limited_mean.h"
#include "learn/wire_clips.h"
#include "motion/motion_cache.h"

namespace springtime {

namespace {

enum class Question : std::uint8_t {
    run,       // losses and gradients of groups of clips
    follow,    // errors of trajectories
    gradient,  // errors and norms; the gradients are kept
    sum,       // of the gradients that were kept, each times its share
    reads,     // whether the rank can read clips by itself
};

WireWriter setup_of(const Cloth& surrogate, const SimulationOptions& options, int stride,
                    int threads, const Substeps& substeps, bool zeros_stay,
                    const GradientBackends& backends)
{
    WireWriter bytes;
    bytes(surrogate, options, stride, threads, substeps.count, zeros_stay,
          device_of(surrogate, options), backends.motion);
    if (backends.motion) bytes(*backends.read_for);
    return bytes;
}

class GradientTask : public RankTask {
  public:
    GradientTask(WireReader& setup, const RankTools& tools)
    {
        Cloth surrogate;
        SimulationOptions options;
        int stride = 1, threads = 0;
        Substeps substeps;
        bool zeros_stay = false;
        setup(surrogate, options, stride, threads, substeps.count, zeros_stay);
        check_same_device(surrogate, options, setup.next<std::string>());
        const auto source = setup.next<std::optional<SharedMotion>>();
        if (source) setup(read_for_);
        motion_ = open_shared(source, tools);
        if (motion_) {
            cache_ = std::make_shared<MotionCache>(*motion_);
            cache_->keep_rollouts(memory_to_spare() / std::size_t(tools.ranks.beside()));
            cached_ = through_cache(*motion_, cache_);
            resampler_.emplace(read_for_, motion_->header);
            reader_.emplace(cached_, *resampler_, read_for_);
        }
        threads_ = tools.threads(threads);
        gradient_.emplace(surrogate, options, stride, threads_, substeps, zeros_stay,
                          tools.heartbeat);
    }

    void answer(WireReader& request, WireWriter& answer) override
    {
        switch (request.next<Question>()) {
            case Question::run:
                return run(request, answer);
            case Question::follow:
                return follow(request, answer);
            case Question::gradient:
                return gradient(request, answer);
            case Question::sum:
                return sum(request, answer);
            case Question::reads:
                return answer(reader_.has_value());
        }
    }

  private:
    void run(WireReader& request, WireWriter& answer)
    {
        ParameterValues parameters;
        LossWeights weights;
        bool with_gradient = false;
        std::size_t whole = 0;
        std::vector<Rollout> clips;
        request(parameters, weights, with_gradient, whole, clips);
        answer(gradient_->run_groups(clips, parameters, weights, with_gradient, whole));
    }

    void follow(WireReader& request, WireWriter& answer)
    {
        FollowRequest from(request);
        std::vector<TrajectoryResult> results;
        for (const auto& followed :
             gradient_->follow(from.trajectories, from.map, from.parameters, from.loss, false)) {
            results.push_back(followed.result);
        }
        answer(results);
    }

    void gradient(WireReader& request, WireWriter& answer)
    {
        FollowRequest from(request);
        const auto slopes = request.next<ParameterValues>();
        parallel_for(int(from.trajectories.size()), threads_, [&](int i) {
            Trajectory& clip = from.trajectories[std::size_t(i)];
            if (!clip.start.position.empty()) return;  // it was sent
            clip = reader_->read({clip.part.rollout, clip.part.first_frame}, clip.frame_count - 1);
        });
        kept_ = gradient_->scaled(from.trajectories, from.map, from.parameters, from.loss, slopes);
        answer(kept_.results, kept_.norms);
    }

    void sum(WireReader& request, WireWriter& answer)
    {
        const auto first = request.next<std::size_t>();
        const auto shares = request.next<std::vector<double>>();
        answer(shared_sum(std::move(kept_.gradients), shares, first).parts());
    }

    Cloth read_for_;
    int threads_ = 1;
    std::optional<Motion> motion_;  // nothing: the first rank sends clips
    std::shared_ptr<MotionCache> cache_;
    Motion cached_;
    std::optional<Resampler> resampler_;
    std::optional<TrajectoryReader> reader_;
    std::optional<BatchGradient> gradient_;
    BatchGradient::Scaled kept_;
};

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from)
{
    to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

std::unique_ptr<RankTask> make_gradient_task(WireReader& setup, const RankTools& tools)
{
    return std::make_unique<GradientTask>(setup, tools);
}

RankGradient::RankGradient(Crew& crew, const Cloth& surrogate, const SimulationOptions& options,
                           int stride, int threads, const Substeps& substeps, bool zeros_stay,
                           std::function<void()> heartbeat, const GradientBackends& backends)
    : heartbeat_(std::move(heartbeat)),
      task_(crew, kGradientTask,
            setup_of(surrogate, options, stride, threads, substeps, zeros_stay, backends))
{
    WireWriter request;
    request(Question::reads);
    for (int rank = 1; rank < task_.rank_count(); ++rank) task_.ask(rank, request);
    for (int rank = 1; rank < task_.rank_count(); ++rank) {
        const std::vector<std::byte> bytes = answer(rank);
        if (!WireReader(bytes).next<bool>()) all_read_ = false;
    }
}

std::pair<std::size_t, std::size_t> RankGradient::clips_to_read(const BatchGradient& own,
                                                                std::size_t count) const
{
    if (!all_read_) return {0, count};
    const Part part = parts_of(own, count, false).front();
    return {part.begin, part.end};
}

// Those that have anything to do, this rank first. Where sums are taken by groups of lanes, groups
// stay whole.
std::vector<RankGradient::Part> RankGradient::parts_of(const BatchGradient& own, std::size_t clips,
                                                       bool whole) const
{
    const std::size_t lanes = own.lane_count(), ranks = std::size_t(task_.rank_count());
    const std::size_t count = whole ? (clips + lanes - 1) / lanes : clips;
    const std::size_t size = whole ? lanes : 1;
    std::vector<Part> parts;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        const auto [begin, end] = part_of(count, whole ? 1 : lanes, int(rank), int(ranks));
        if (rank > 0 && begin == end) continue;
        parts.push_back({int(rank), size * begin, std::min(clips, size * end)});
    }
    return parts;
}

BatchGradient::Result RankGradient::run(BatchGradient& own, const std::vector<Rollout>& clips,
                                        const ParameterValues& parameters,
                                        const LossWeights& weights, bool with_gradient)
{
    const std::span<const Rollout> all(clips);
    const std::vector<Part> parts = parts_of(own, clips.size(), true);
    for (const auto& [rank, begin, end] : parts) {
        if (rank == 0) continue;
        WireWriter request;
        request(Question::run, parameters, weights, with_gradient, clips.size(),
                all.subspan(begin, end - begin));
        task_.ask(rank, request);
    }
    std::vector<BatchGradient::Result> groups;
    for (const auto& [rank, begin, end] : parts) {
        if (rank == 0) {
            if (begin < end) {
                groups = own.run_groups(all.subspan(begin, end - begin), parameters, weights,
                                        with_gradient, clips.size());
            }
        } else {
            append(groups, WireReader(answer(rank)).next<std::vector<BatchGradient::Result>>());
        }
    }
    return own.sum_of(std::move(groups));
}

std::vector<TrajectoryResult> RankGradient::follow(BatchGradient& own,
                                                   std::span<const Trajectory> trajectories,
                                                   const LandmarkMap& map,
                                                   const ParameterValues& parameters,
                                                   const FrameLoss& loss)
{
    const std::vector<Part> parts = parts_of(own, trajectories.size(), false);
    const auto of = [&](const Part& part) {
        return trajectories.subspan(part.begin, part.end - part.begin);
    };
    for (const Part& part : parts) {
        if (part.rank == 0) continue;
        WireWriter request;
        request(Question::follow);
        FollowRequest::write(request, of(part), map, parameters, loss);
        task_.ask(part.rank, request);
    }
    std::vector<TrajectoryResult> results;
    for (const Part& part : parts) {
        if (part.rank > 0) {
            append(results, WireReader(answer(part.rank)).next<std::vector<TrajectoryResult>>());
            continue;
        }
        if (part.begin == part.end) continue;
        for (const auto& one : own.follow_here(of(part), map, parameters, loss, false)) {
            results.push_back(one.result);
        }
    }
    return results;
}

BatchGradient::Mean RankGradient::limited_mean(BatchGradient& own,
                                               std::span<const Trajectory> trajectories,
                                               const LandmarkMap& map,
                                               const ParameterValues& parameters,
                                               const FrameLoss& loss, const ParameterValues& slopes,
                                               double limit)
{
    const std::vector<Part> parts = parts_of(own, trajectories.size(), false);
    const auto of = [&](const Part& part) {
        return trajectories.subspan(part.begin, part.end - part.begin);
    };
    for (const Part& part : parts) {
        if (part.rank == 0) continue;
        WireWriter request;
        request(Question::gradient);
        FollowRequest::write(request, of(part), map, parameters, loss);
        request(slopes);
        task_.ask(part.rank, request);
    }
    BatchGradient::Scaled here;
    if (parts[0].begin < parts[0].end) {
        here = own.scaled(of(parts[0]), map, parameters, loss, slopes);
    }
    BatchGradient::Mean mean{here.results, {}};
    std::vector<double> norms = here.norms;
    for (const Part& part : parts) {
        if (part.rank == 0) continue;
        const std::vector<std::byte> bytes = answer(part.rank);
        WireReader reader(bytes);
        append(mean.trajectories, reader.next<std::vector<TrajectoryResult>>());
        append(norms, reader.next<std::vector<double>>());
    }
    const auto shares = limited_shares(norms, limit);
    if (!shares) return mean;
    const auto shares_of = [&](const Part& part) {
        return std::span<const double>(*shares).subspan(part.begin, part.end - part.begin);
    };
    for (const Part& part : parts) {
        if (part.rank == 0) continue;
        WireWriter request;
        request(Question::sum, part.begin, shares_of(part));
        task_.ask(part.rank, request);
    }
    GradientSum sum = shared_sum(std::move(here.gradients), shares_of(parts[0]), 0);
    for (const Part& part : parts) {
        if (part.rank == 0) continue;
        const std::vector<std::byte> bytes = answer(part.rank);
        for (auto& node : WireReader(bytes).next<std::vector<GradientSum::Part>>()) {
            sum.add(std::move(node));
        }
    }
    mean.gradient = sum.total();
    return mean;
}

}  // namespace springtime
