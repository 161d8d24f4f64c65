#include "neural_ode.h"

#include <algorithm>

namespace springtime::baselines {

namespace {

using torch::Tensor;

// One spread for all three directions: how large motions and forces are, not where they point.
Scaling even_scaling(const Tensor& values)
{
    const Scaling scaling = scaling_of(values);
    return {scaling.mean, scaling.std.square().mean().sqrt().expand({3}).contiguous()};
}

// [m/s^2]
Tensor net_acceleration(const Tensor& force, const Tensor& velocity, const MotionTensors& motion)
{
    return force / motion.mass + motion.gravity - motion.drag * velocity;
}

}  // namespace

NeuralOde::NeuralOde(const TrainOptions& options, const MotionTensors& motion)
    : batch_(options.batch), clip_steps_(options.clip_steps)
{
    const std::int64_t numbers = 3 * motion.particle_count();
    std::int64_t in = 2 * numbers;
    for (int layer = 0; layer < options.layers; ++layer) {
        layers_.push_back(layout_.add_linear(in, options.hidden));
        in = options.hidden;
    }
    layers_.push_back(layout_.add_linear(in, numbers));

    position_ = even_scaling(motion.position.slice(1, 0, {}, 8));
    velocity_ = even_scaling(motion.velocity.slice(1, 0, {}, 8));
    // Of the size of forces, and zero on the mean: a cloth that nothing holds together.
    const Tensor mean = torch::zeros({3}, motion.position.options());
    const Tensor typical = motion.gravity.norm() * motion.mass.mean();
    force_ = {mean, typical.expand({3}).contiguous()};
}

Tensor NeuralOde::force(const std::vector<Tensor>& parts, const Tensor& position,
                        const Tensor& velocity) const
{
    Tensor hidden =
        torch::cat({position_.scaled(position), velocity_.scaled(velocity)}, 1).flatten(1);
    for (const std::size_t layer : layers_) {
        hidden = at::linear(hidden, parts[layer], parts[layer + 1]);
        if (layer != layers_.back()) hidden = at::elu(hidden);
    }
    return force_.unscaled(hidden.view(position.sizes()));
}

// L = 1/(P F) sum |f - f*|^2 + 10/P |J - J*|^2 over the free particles, as for springs: f is the
// net force in the frames of the clip, J its impulse, which is the change of momentum.
Tensor NeuralOde::loss(const Tensor& weights, const MotionTensors& motion) const
{
    constexpr double kImpulseWeight = 10;
    const std::vector<Tensor> parts = layout_.parts(weights);
    const std::int64_t frames = motion.frame_count();
    const std::int64_t clip_frames =
        std::min<std::int64_t>(std::max(clip_steps_ / motion.stride, 1), frames - 1);
    const std::int64_t clips = (frames - 1) / clip_frames;
    const auto whole = torch::TensorOptions().dtype(torch::kInt64).device(motion.device());
    const Tensor rollout = torch::randint(motion.rollout_count(), {batch_}, whole);
    const Tensor first = rollout * frames + torch::randint(clips, {batch_}, whole) * clip_frames;
    const auto pick = [&](const Tensor& field, std::int64_t frame) {
        return field.reshape({-1, field.size(2), 3}).index_select(0, first + frame);
    };
    const Tensor free = motion.held.index_select(0, rollout).logical_not().to(torch::kFloat32);
    const Tensor weight = motion.mass * free;

    Tensor x = pick(motion.position, 0), v = pick(motion.velocity, 0);
    Tensor by_force = torch::zeros({}, x.options());
    for (std::int64_t frame = 0; frame < clip_frames; ++frame) {
        for (int step = 0; step < motion.stride; ++step) {
            const Tensor a = net_acceleration(force(parts, x, v), v, motion);
            if (step == 0 && motion.acceleration.defined()) {
                const Tensor wrong = weight * (a - pick(motion.acceleration, frame));
                by_force = by_force + wrong.square().sum();
            }
            v = v + motion.dt * free * a;
            x = x + motion.dt * v;
        }
    }
    const Tensor by_impulse = (weight * (v - pick(motion.velocity, clip_frames))).square().sum();
    return (by_force / double(clip_frames) + kImpulseWeight * by_impulse) / free.sum();
}

Tensor NeuralOde::rollout(const Tensor& weights, const MotionTensors& motion) const
{
    const torch::NoGradGuard no_gradient;
    const std::vector<Tensor> parts = layout_.parts(weights);
    const Tensor free = motion.held.logical_not().to(torch::kFloat32);
    Tensor x = motion.position.select(1, 0), v = motion.velocity.select(1, 0);
    std::vector<Tensor> frames{x};
    for (std::int64_t frame = 1; frame < motion.frame_count(); ++frame) {
        for (int step = 0; step < motion.stride; ++step) {
            v = v + motion.dt * free * net_acceleration(force(parts, x, v), v, motion);
            x = x + motion.dt * v;
        }
        x = torch::where(motion.held, motion.position.select(1, frame), x);
        frames.push_back(x);
    }
    return torch::stack(frames, 1);
}

}  // namespace springtime::baselines
