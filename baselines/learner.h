#pragma once

#include <memory>

#include "model.h"

namespace springtime::baselines {

// Adam on the weights of a model, all on the device: a step can be recorded there once and then
// replayed. The average of the weights is what is validated and kept.
class Learner {
  public:
    Learner(const Model& model, const MotionTensors& motion, const TrainOptions& options);
    ~Learner();

    void advance();
    void wait() const;  // until the device has done all steps
    // The mean loss since the last call. Waits for the device.
    double mean_loss();
    std::int64_t steps() const { return steps_; }
    void set_steps(std::int64_t steps);

    torch::Tensor weights, mean, square, average;

  private:
    struct Recording;

    void descend();

    const Model& model_;
    const MotionTensors& motion_;
    double rate_, averaging_, warm_up_steps_, decay_steps_;
    torch::Tensor step_;  // on the device, for the schedule
    torch::Tensor loss_sum_;
    std::int64_t steps_ = 0, since_ = 0, warm_up_ = 0;
    std::unique_ptr<Recording> recording_;  // absent: every step is launched anew
};

// While it lives, work for the GPU is put into a queue that can be recorded.
class RecordableQueue {
  public:
    explicit RecordableQueue(const torch::Device& device);
    ~RecordableQueue();

  private:
    struct Guard;
    std::unique_ptr<Guard> guard_;
};

}  // namespace springtime::baselines
