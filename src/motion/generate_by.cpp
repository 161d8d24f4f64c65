#include "motion/generate_by.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <future>

#include "core/parallel.h"
#include "springtime/error.h"

namespace springtime {

namespace {

// Some rollouts side by side: where they start, and what was recorded of them.
struct RecordedBatch {
    int first = 0;
    std::vector<RolloutStart> starts;
    std::vector<BatchRecorder::Frames> frames;
};

void find_starts(RecordedBatch& batch, const Cloth& cloth, const GenerateOptions& options,
                 int count)
{
    batch.starts.resize(std::size_t(count));
    parallel_for(count, thread_count(options.threads), [&](int i) {
        batch.starts[std::size_t(i)] = random_start(cloth, options, batch.first + i);
    });
}

std::vector<BatchRecorder::Start> views_of(const std::vector<RolloutStart>& starts)
{
    std::vector<BatchRecorder::Start> views;
    for (const RolloutStart& start : starts) views.push_back({&start.state, &start.handles});
    return views;
}

// The arrays go back afterwards: the next batch is recorded into them.
void hand_out(RecordedBatch& batch, std::size_t frame_count, const RolloutSink& sink)
{
    for (std::size_t i = 0; i < batch.starts.size(); ++i) {
        BatchRecorder::Frames& frames = batch.frames[i];
        Rollout rollout{frame_count, std::move(frames.position), std::move(frames.velocity),
                        std::move(frames.acceleration), batch.starts[i].handles};
        sink(batch.first + int(i), rollout);
        frames = {std::move(rollout.position), std::move(rollout.velocity),
                  std::move(rollout.acceleration)};
    }
}

// As many as the recorder likes, out of 2 GiB; two batches are in memory at a time.
int batch_width(const BatchRecorder& recorder, const Cloth& cloth, std::size_t frames)
{
    const double bytes = double(frames) * double(cloth.particle_count()) * 9 * sizeof(float);
    return int(std::clamp(0x1p31 / bytes, 1.0, double(recorder.lane_count())));
}

}  // namespace

void generate_by(BatchRecorder& recorder, const Cloth& cloth, const GenerateOptions& options,
                 int first, const RolloutSink& sink, const Progress& progress)
{
    const std::size_t frames =
        std::size_t(std::llround(options.seconds / (options.dt * options.stride))) + 1;
    const int width = batch_width(recorder, cloth, frames);
    std::array<RecordedBatch, 2> batches;
    std::future<void> writing;  // its destructor waits
    int turn = 0;
    for (int begin = first; begin < options.rollouts; begin += width, turn = 1 - turn) {
        RecordedBatch& batch = batches[std::size_t(turn)];
        const int count = std::min(width, options.rollouts - begin);
        batch.first = begin;
        find_starts(batch, cloth, options, count);
        const auto blow_up = recorder.record(
            views_of(batch.starts), frames, options.stride, true, batch.frames, [&](double share) {
                progress.report(
                    {"generate", begin + share * count, double(options.rollouts), "rollouts", {}});
            });
        if (writing.valid()) writing.get();
        if (blow_up) {
            throw Failure(
                "{}", describe(*blow_up, cloth, {options.dt, options.environment, options.device}));
        }
        writing = std::async(std::launch::async, [&] { hand_out(batch, frames, sink); });
    }
    if (writing.valid()) writing.get();
}

}  // namespace springtime
