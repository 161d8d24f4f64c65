#include <chrono>
#include <set>

#include "model_file.h"

namespace springtime::baselines {

namespace {

using torch::Tensor;

// A rollout that was trained on, or left out to choose by, is no test.
void check_unseen(const TrainingRecord& record, const MotionTensors& motion,
                  const std::filesystem::path& model, const std::filesystem::path& path)
{
    const std::string remedy =
        "; give rollouts of another seed than those that " + model.string() + " was trained on";
    if (motion.seed == record.seed) {
        throw BadInput(path.string() + ": has seed " + std::to_string(motion.seed) +
                       ", which is that of the training" + remedy);
    }
    const std::set<std::int64_t> seen(record.fingerprints.begin(), record.fingerprints.end());
    for (std::size_t i = 0; i < motion.fingerprints.size(); ++i) {
        if (seen.count(motion.fingerprints[i]) == 0) continue;
        const auto frames = std::size_t(motion.frame_count());
        throw BadInput(path.string() + ": frame " + std::to_string(i % frames) + " of rollout " +
                       std::to_string(i / frames) +
                       " was in the training, although the seed is another" + remedy);
    }
}

struct Timing {
    double rollout_seconds = 0;  // for one simulated second of one rollout
    double particle_step = 0;    // of one step and particle, all rollouts at once [s]
};

MotionTensors first_frames(const MotionTensors& motion, std::int64_t rollouts, std::int64_t frames)
{
    MotionTensors part = rollouts_of(motion, 0, rollouts);
    part.position = part.position.narrow(1, 0, frames);
    part.velocity = part.velocity.narrow(1, 0, frames);
    return part;
}

Timing timing_of(const StoredModel& stored, const MotionTensors& motion)
{
    constexpr std::int64_t kFrames = 50;
    const std::int64_t frames =
        std::min(motion.frame_count(), kFrames * stored.model->frame_step() + 1);
    const auto seconds = [&](std::int64_t rollouts, std::int64_t count) {
        const MotionTensors part = first_frames(motion, rollouts, count);
        const auto start = std::chrono::steady_clock::now();
        stored.model->rollout(stored.weights, part).sum().item<double>();  // waits
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    seconds(1, std::min<std::int64_t>(frames, 3));  // warm caches
    const std::int64_t all = motion.rollout_count();
    const double one = seconds(1, frames), many = seconds(all, frames);
    const double simulated = double(frames - 1) * motion.frame_interval();
    const double steps =
        double((frames - 1) / stored.model->frame_step()) * stored.model->steps_per_frame(motion);
    return {one / simulated, many / (steps * double(all * motion.particle_count()))};
}

void evaluate_on(const EvaluateOptions& options, const std::filesystem::path& path,
                 const std::filesystem::path& out)
{
    const torch::Device device = device_named(options.device);
    const MotionTensors motion = read_motion_tensors(path, device);
    const StoredModel stored = read_model(options.model, motion);
    check_unseen(stored.record, motion, options.model, path);
    const Tensor moved = stored.model->rollout(stored.weights, motion);
    const Tensor error =
        frame_errors(motion, moved, stored.model->frame_step()).to(torch::kCPU).contiguous();
    const Timing timing = timing_of(stored, motion);

    std::vector<ArrayInfo> arrays{
        {"error", NumberType::f64, error.sizes().vec()},
        {"frame_interval", NumberType::f64, {1}},
        {"seconds_per_simulated_second", NumberType::f64, {1}},
        {"seconds_per_step_and_particle", NumberType::f64, {1}},
        {"parameters", NumberType::i64, {1}},
        {"fingerprint", NumberType::i64, {std::int64_t(motion.fingerprints.size())}}};
    if (options.positions) arrays.push_back({"position", NumberType::f32, moved.sizes().vec()});
    TensorWriter file(out,
                      {{"kind", stored.record.options.kind},
                       {"weights_id", stored.weights_id},
                       {"device", device.str()}},
                      arrays);
    file.write_bytes("error", NumberType::f64, 0, error.data_ptr(), error.numel());
    file.write("frame_interval",
               std::vector<double>{motion.frame_interval() * stored.model->frame_step()});
    file.write("seconds_per_simulated_second", std::vector<double>{timing.rollout_seconds});
    file.write("seconds_per_step_and_particle", std::vector<double>{timing.particle_step});
    file.write("parameters", std::vector<std::int64_t>{stored.model->layout().count()});
    file.write("fingerprint", motion.fingerprints);
    if (options.positions) {
        const Tensor kept = moved.to(torch::kCPU).contiguous();
        file.write_bytes("position", NumberType::f32, 0, kept.data_ptr(), kept.numel());
    }
    file.publish();
}

}  // namespace

void evaluate(const EvaluateOptions& options)
{
    const torch::NoGradGuard no_gradient;
    for (std::size_t i = 0; i < options.motions.size(); ++i) {
        evaluate_on(options, options.motions[i], options.outs.at(i));
    }
}

}  // namespace springtime::baselines
