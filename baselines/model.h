#pragma once

#include <memory>
#include <string>
#include <vector>

#include "baseline.h"
#include "motion_tensors.h"
#include "tensor_file.h"

namespace springtime::baselines {

// Weights of all layers, one after the other in one tensor: an optimiser then needs a few
// operations, not a few for each layer.
class Layout {
  public:
    // A layer y = W x + b; returns the place of W among the parts, and b follows.
    std::size_t add_linear(std::int64_t in, std::int64_t out);
    std::size_t add_norm(std::int64_t width);  // scale, then shift

    std::int64_t count() const { return count_; }
    // As PyTorch starts such layers: uniform within 1/sqrt(in); scale 1, shift 0.
    torch::Tensor start(std::uint64_t seed) const;
    std::vector<torch::Tensor> parts(const torch::Tensor& flat) const;

  private:
    struct Part {
        std::vector<std::int64_t> shape;
        double bound;  // of the uniform start; 0: constant
        double constant;
    };
    void add(const Part& part);

    std::vector<Part> parts_;
    std::int64_t count_ = 0;
};

// What mean and spread of an input or output are.
struct Scaling {
    torch::Tensor mean, std;

    torch::Tensor scaled(const torch::Tensor& value) const { return (value - mean) / std; }
    torch::Tensor unscaled(const torch::Tensor& value) const { return value * std + mean; }
};
// Over all but the last dimension. Spreads below `least` are taken for `least`.
Scaling scaling_of(const torch::Tensor& values, double least = 1e-8);

// A network and how it moves a cloth.
class Model {
  public:
    virtual ~Model() = default;

    const Layout& layout() const { return layout_; }
    // Of a random batch of the motion.
    virtual torch::Tensor loss(const torch::Tensor& weights, const MotionTensors& motion) const = 0;
    // Positions of every frame_step()-th frame, from the state of the first frame and the paths of
    // held particles alone.
    virtual torch::Tensor rollout(const torch::Tensor& weights,
                                  const MotionTensors& motion) const = 0;
    virtual int frame_step() const { return 1; }
    virtual int steps_per_frame(const MotionTensors&) const { return 1; }
    // Means and spreads, to be kept with the weights.
    virtual std::vector<Scaling*> scalings() = 0;

  protected:
    Layout layout_;
};

// A model for cloth of this motion; the scalings come from it, too.
std::unique_ptr<Model> make_model(const TrainOptions& options, const MotionTensors& motion);

// What is absent in the options becomes what was published or chosen for the kind.
TrainOptions with_defaults(TrainOptions options);

}  // namespace springtime::baselines
