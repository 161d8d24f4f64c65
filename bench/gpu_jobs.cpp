#include "gpu_jobs.h"

#include <fmt/core.h>

#include <chrono>

#include "presets.h"
#include "springtime/springtime.h"

namespace springtime::bench {

namespace {

class Clock {
  public:
    double seconds() const
    {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    }

  private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

GenerateOptions run_of(int rollouts, std::uint64_t seed, int stride)
{
    GenerateOptions run = app::reference_run();
    run.rollouts = rollouts;
    run.seed = seed;
    run.stride = stride;
    run.device = Device::cuda;
    return run;
}

Motion motion_of(const Cloth& source, const GenerateOptions& run)
{
    MotionHeader header = header_for(source, {run.dt, run.environment, run.device}, run.stride,
                                     run.seed, run.rollouts, "");
    std::vector<Rollout> rollouts;
    generate(source, run, 0, [&](int, const Rollout& rollout) { rollouts.push_back(rollout); });
    return Motion::from_rollouts(header, std::move(rollouts));
}

GpuJob time_generating(const Cloth& source, int rollouts)
{
    const Clock clock;
    std::size_t frames = 0;
    generate(source, run_of(rollouts, 1, 40), 0,
             [&](int, const Rollout& rollout) { frames += rollout.frame_count; });
    return {fmt::format("generate, {} finite-element rollouts of 8 s", rollouts),
            clock.seconds(),
            0,
            fmt::format("{} frames", frames),
            {}};
}

GpuJob time_learning(const std::string& name, const Motion& motion, const Motion& unseen,
                     LearnOptions options)
{
    options.device = Device::cuda;
    const Clock clock;
    std::map<std::string, double> stages;
    double before = 0;
    const Progress progress([&](const ProgressUpdate& update) {
        const double now = clock.seconds();
        stages[std::string(update.stage)] += now - before;
        before = now;
        return true;
    });
    const Learned learned = learn(motion, options, progress);
    const double seconds = clock.seconds();
    stages["after the last report"] = seconds - before;
    const MotionError error = surrogate_error(learned.cloth, unseen, Device::cuda, 0);
    return {name, seconds, learned.training_seconds,
            fmt::format("{:.3f} +- {:.3f} m on {} unseen rollouts", error.mean, error.std,
                        unseen.rollout_count()),
            stages};
}

// The schedule that was published for finite elements, and its start.
LearnOptions published_protocol()
{
    LearnOptions options;
    options.method = LearnMethod::gradient;
    options.grid = Grid{32, 32};
    options.stiffness_iterations = 256;
    options.damping_iterations = 64;
    options.rounds = 1;
    options.patience = 0;
    options.validate_every = 64;
    options.clip_steps = 500;
    options.stiffness_start = 50;
    options.damping_start = 3;
    options.force_weight = {0, 1};
    options.impulse_weight = {1, 0};
    return options;
}

}  // namespace

std::vector<GpuJob> run_gpu_jobs(int rollouts)
{
    const Cloth source = app::reference_cloth(app::kReferenceMesh, MeshCut::diagonal);
    std::vector<GpuJob> jobs{time_generating(source, rollouts)};
    const Motion motion = motion_of(source, run_of(rollouts, 1, 20));
    const Motion unseen = motion_of(source, run_of(32, 9000003, 20));
    jobs.push_back(time_learning(fmt::format("train, defaults, {} rollouts", rollouts), motion,
                                 unseen, LearnOptions{}));
    jobs.push_back(time_learning("train, published protocol, 256 + 64 iterations", motion, unseen,
                                 published_protocol()));
    return jobs;
}

}  // namespace springtime::bench
