#include "learner.h"

#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>

#ifdef SPRINGTIME_TORCH_CUDA
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace springtime::baselines {

using torch::Tensor;

#ifdef SPRINGTIME_TORCH_CUDA
struct Learner::Recording {
    at::cuda::CUDAGraph graph;
    bool made = false;
};
struct RecordableQueue::Guard {
    c10::cuda::CUDAStreamGuard stream{c10::cuda::getStreamFromPool()};
};
#else
struct Learner::Recording {};
struct RecordableQueue::Guard {};
#endif

RecordableQueue::RecordableQueue(const torch::Device& device)
{
    if (device.is_cuda()) guard_ = std::make_unique<Guard>();
}
RecordableQueue::~RecordableQueue() = default;

Learner::Learner(const Model& model, const MotionTensors& motion, const TrainOptions& options)
    : model_(model),
      motion_(motion),
      rate_(options.rate),
      averaging_(options.kind == "mgn" ? 0.999 : 0.98),
      warm_up_steps_(std::min(500.0, 0.02 * double(options.steps) + 1)),
      decay_steps_(0.5 * double(options.steps))
{
    weights = model.layout().start(options.seed).to(motion.device());
    mean = torch::zeros_like(weights);
    square = torch::zeros_like(weights);
    average = weights.clone();
    weights.set_requires_grad(true);
    const auto options_of_step = torch::TensorOptions().dtype(torch::kFloat64);
    step_ = torch::zeros({}, options_of_step.device(motion.device()));
    loss_sum_ = torch::zeros({}, weights.options().requires_grad(false));
    if (motion.device().is_cuda() && options.graphs) recording_ = std::make_unique<Recording>();
}
Learner::~Learner() = default;

void Learner::set_steps(std::int64_t steps)
{
    steps_ = steps;
    step_.fill_(double(steps));
}

// Adam (0.9, 0.999) with a short warm-up, then a rate that falls to a tenth over half of the
// planned steps, and towards a hundredth. The norm of the gradient is limited to 1.
void Learner::descend()
{
    constexpr double kFirst = 0.9, kSecond = 0.999, kLimit = 1;
    const Tensor loss = model_.loss(weights, motion_);
    Tensor gradient = torch::autograd::grad({loss}, {weights})[0];
    const torch::NoGradGuard no_gradient;
    loss_sum_.add_(loss.detach());
    step_.add_(1);
    gradient = gradient * (kLimit / (gradient.norm() + 1e-12)).clamp_max(1);
    mean.mul_(kFirst).add_(gradient, 1 - kFirst);
    square.mul_(kSecond).addcmul_(gradient, gradient, 1 - kSecond);
    const Tensor falling = 0.01 + 0.99 * torch::exp2(step_ * (-3.3219280948873626 / decay_steps_));
    const Tensor rate = rate_ * (step_ / warm_up_steps_).clamp_max(1) * falling;
    const Tensor first = 1 - torch::exp(step_ * std::log(kFirst));
    const Tensor second = 1 - torch::exp(step_ * std::log(kSecond));
    const Tensor factor = (rate / first).to(torch::kFloat32);
    weights.sub_(factor * mean / ((square / second.to(torch::kFloat32)).sqrt() + 1e-8));
    const Tensor keep =
        torch::minimum((1 + step_) / (10 + step_), torch::full_like(step_, averaging_));
    average.sub_((1 - keep).to(torch::kFloat32) * (average - weights));
}

void Learner::advance()
{
    ++steps_;
    ++since_;
#ifdef SPRINGTIME_TORCH_CUDA
    constexpr int kWarmUp = 3;  // steps that fill the pools of memory before one is recorded
    if (recording_ && warm_up_ >= kWarmUp) {
        if (!recording_->made) {
            recording_->graph.capture_begin();
            descend();
            recording_->graph.capture_end();
            recording_->made = true;
        }
        recording_->graph.replay();
        return;
    }
#endif
    ++warm_up_;
    descend();
}

void Learner::wait() const
{
    loss_sum_.item<float>();
}

double Learner::mean_loss()
{
    const double loss = loss_sum_.item<double>() / double(std::max<std::int64_t>(since_, 1));
    loss_sum_.zero_();
    since_ = 0;
    return loss;
}

}  // namespace springtime::baselines
