#pragma once

#include "model.h"

namespace springtime::baselines {

// A neural ODE: a network takes positions and velocities of all particles at once and gives a force
// on each, in place of the springs. Gravity, drag, mass, step and integrator are those of the
// springs, and so is the loss: forces and impulses of clips.
class NeuralOde : public Model {
  public:
    NeuralOde(const TrainOptions& options, const MotionTensors& motion);

    torch::Tensor loss(const torch::Tensor& weights, const MotionTensors& motion) const override;
    torch::Tensor rollout(const torch::Tensor& weights, const MotionTensors& motion) const override;
    int steps_per_frame(const MotionTensors& motion) const override { return motion.stride; }
    std::vector<Scaling*> scalings() override { return {&position_, &velocity_, &force_}; }

    // The force on every particle: batch x particles x 3 [N].
    torch::Tensor force(const std::vector<torch::Tensor>& parts, const torch::Tensor& position,
                        const torch::Tensor& velocity) const;

  private:
    int batch_, clip_steps_;
    std::vector<std::size_t> layers_;
    Scaling position_, velocity_, force_;
};

}  // namespace springtime::baselines
