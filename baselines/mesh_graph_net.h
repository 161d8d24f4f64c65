#pragma once

#include "model.h"

namespace springtime::baselines {

// The mesh as rows of neighbours: slot (n, k) is the edge from the k-th neighbour of n to n. Rows
// are filled up with edges of a particle to itself, which are not present. All particles then sum
// their messages without a scatter, in a fixed order.
struct MeshGraph {
    MeshGraph(const torch::Tensor& edges, std::int64_t particles, torch::Device device);

    torch::Tensor sender;   // slots: the particle that an edge comes from
    torch::Tensor reverse;  // slots: the slot of the opposite edge
    torch::Tensor present;  // particles x neighbours x 1, 1 or 0
    std::int64_t particles = 0, neighbours = 0;

    // Particles (batch x particles x values) to slots (batch x particles x neighbours x values).
    torch::Tensor gather(const torch::Tensor& nodes) const;
};

// Three layers with ReLU between them, the last with a LayerNorm unless it decodes.
struct Mlp {
    Mlp(Layout& layout, std::int64_t in, std::int64_t width, std::int64_t out, bool normalised);

    torch::Tensor operator()(const std::vector<torch::Tensor>& parts,
                             const torch::Tensor& input) const;
    // The first layer as a sum of shares: its weights for every `width` inputs, and its shift.
    std::vector<torch::Tensor> shares(const std::vector<torch::Tensor>& parts,
                                      std::int64_t width) const;
    const torch::Tensor& shift(const std::vector<torch::Tensor>& parts) const;
    // What follows that sum.
    torch::Tensor rest(const std::vector<torch::Tensor>& parts, const torch::Tensor& sum) const;

    std::size_t first, second, third, norm = 0;
    bool normalised;
};

// MeshGraphNets (Pfaff et al. 2021), on the source's own mesh and without edges in the world, since
// the source does not touch itself.
class MeshGraphNet : public Model {
  public:
    MeshGraphNet(const TrainOptions& options, const MotionTensors& motion);

    torch::Tensor loss(const torch::Tensor& weights, const MotionTensors& motion) const override;
    torch::Tensor rollout(const torch::Tensor& weights, const MotionTensors& motion) const override;
    int frame_step() const override { return every_; }
    std::vector<Scaling*> scalings() override { return {&node_, &edge_, &acceleration_}; }

    // The scaled second difference of positions: batch x particles x 3.
    torch::Tensor predict(const torch::Tensor& weights, const torch::Tensor& position,
                          const torch::Tensor& before, const torch::Tensor& held) const;

  private:
    struct Sample {
        torch::Tensor position, before, acceleration, held;
    };
    Sample sample(const MotionTensors& motion, int batch) const;
    torch::Tensor edge_features(const torch::Tensor& position) const;

    int batch_, every_;
    double noise_;
    bool half_;
    MeshGraph graph_;
    torch::Tensor rest_edges_;  // slots: rest-space relative position and length
    Scaling node_, edge_, acceleration_;
    std::vector<Mlp> encoders_, edge_blocks_, node_blocks_, decoder_;
};

}  // namespace springtime::baselines
