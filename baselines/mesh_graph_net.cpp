#include "mesh_graph_net.h"

#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

namespace springtime::baselines {

namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The values of senders in every slot. What flows back is gathered from the opposite edges: the
// slots that a particle sends to are those of the edges opposite to its own.
struct GatherSenders : torch::autograd::Function<GatherSenders> {
    static Tensor forward(AutogradContext* context, const Tensor& nodes, const Tensor& sender,
                          const Tensor& reverse, std::int64_t neighbours)
    {
        context->save_for_backward({reverse});
        context->saved_data["neighbours"] = neighbours;
        return nodes.index_select(1, sender);
    }
    static variable_list backward(AutogradContext* context, const variable_list& adjoint)
    {
        const Tensor reverse = context->get_saved_variables()[0];
        const std::int64_t neighbours = context->saved_data["neighbours"].toInt();
        const Tensor back = adjoint[0].contiguous().index_select(1, reverse);
        const Tensor sum = back.view({back.size(0), -1, neighbours, back.size(2)}).sum(2);
        return {sum, Tensor(), Tensor(), Tensor()};
    }
};

std::vector<std::vector<std::int64_t>> neighbours_of(const Tensor& edges, std::int64_t particles)
{
    std::vector<std::vector<std::int64_t>> neighbours(static_cast<std::size_t>(particles));
    const Tensor here = edges.to(torch::kCPU);
    const auto ends = here.accessor<std::int64_t, 2>();
    for (std::int64_t e = 0; e < ends.size(0); ++e) {
        neighbours[std::size_t(ends[e][0])].push_back(ends[e][1]);
        neighbours[std::size_t(ends[e][1])].push_back(ends[e][0]);
    }
    return neighbours;
}

}  // namespace

MeshGraph::MeshGraph(const Tensor& edges, std::int64_t count, torch::Device device)
    : particles(count)
{
    const auto lists = neighbours_of(edges, count);
    for (const auto& list : lists) neighbours = std::max(neighbours, std::int64_t(list.size()));
    const auto slots = static_cast<std::size_t>(particles * neighbours);
    std::vector<std::int64_t> from(slots), back(slots);
    std::vector<float> there(slots, 0);
    for (std::int64_t n = 0; n < particles; ++n) {
        const auto& list = lists[std::size_t(n)];
        for (std::int64_t k = 0; k < neighbours; ++k) {
            const auto slot = std::size_t(n * neighbours + k);
            const bool is_edge = k < std::int64_t(list.size());
            from[slot] = is_edge ? list[std::size_t(k)] : n;
            back[slot] = std::int64_t(slot);
            if (!is_edge) continue;
            there[slot] = 1;
            const auto& theirs = lists[std::size_t(from[slot])];
            back[slot] = from[slot] * neighbours +
                         (std::find(theirs.begin(), theirs.end(), n) - theirs.begin());
        }
    }
    const auto whole = torch::TensorOptions().dtype(torch::kInt64);
    sender = torch::tensor(from, whole).to(device);
    reverse = torch::tensor(back, whole).to(device);
    present = torch::tensor(there).view({particles, neighbours, 1}).to(device);
}

Tensor MeshGraph::gather(const Tensor& nodes) const
{
    const Tensor slots = GatherSenders::apply(nodes, sender, reverse, neighbours);
    return slots.view({nodes.size(0), particles, neighbours, nodes.size(2)});
}

Mlp::Mlp(Layout& layout, std::int64_t in, std::int64_t width, std::int64_t out, bool is_normalised)
    : first(layout.add_linear(in, width)),
      second(layout.add_linear(width, width)),
      third(layout.add_linear(width, out)),
      normalised(is_normalised)
{
    if (normalised) norm = layout.add_norm(out);
}

Tensor Mlp::operator()(const std::vector<Tensor>& parts, const Tensor& input) const
{
    return rest(parts, at::linear(input, parts[first], shift(parts)));
}

std::vector<Tensor> Mlp::shares(const std::vector<Tensor>& parts, std::int64_t width) const
{
    return parts[first].split(width, 1);
}

const Tensor& Mlp::shift(const std::vector<Tensor>& parts) const
{
    return parts[first + 1];
}

Tensor Mlp::rest(const std::vector<Tensor>& parts, const Tensor& sum) const
{
    Tensor hidden = at::relu(sum);
    hidden = at::relu(at::linear(hidden, parts[second], parts[second + 1]));
    hidden = at::linear(hidden, parts[third], parts[third + 1]);
    if (!normalised) return hidden;
    return at::layer_norm(hidden, {hidden.size(-1)}, parts[norm], parts[norm + 1]);
}

MeshGraphNet::MeshGraphNet(const TrainOptions& options, const MotionTensors& motion)
    : batch_(options.batch),
      every_(options.every),
      noise_(options.noise.at(0)),
      half_(options.half),
      graph_(motion.edges, motion.particle_count(), motion.device())
{
    constexpr std::int64_t kNodeFeatures = 3 + 2;          // velocity; free or held
    constexpr std::int64_t kEdgeFeatures = 3 + 1 + 2 + 1;  // in the world, in the flat sheet
    const std::int64_t width = options.hidden;
    encoders_ = {Mlp(layout_, kNodeFeatures, width, width, true),
                 Mlp(layout_, kEdgeFeatures, width, width, true)};
    for (int block = 0; block < options.layers; ++block) {
        edge_blocks_.emplace_back(layout_, 3 * width, width, width, true);
        node_blocks_.emplace_back(layout_, 2 * width, width, width, true);
    }
    decoder_ = {Mlp(layout_, width, width, 3, false)};

    const Tensor rest = motion.rest.unsqueeze(0);
    const Tensor across = graph_.gather(rest) - rest.unsqueeze(2);
    rest_edges_ = torch::cat({across, across.norm(2, -1, true)}, -1);

    if (motion.frame_count() <= every_) return;  // nothing to learn from, only to run
    constexpr int kScalingFrames = 128;
    const Sample some = sample(motion, kScalingFrames);
    node_ = scaling_of(some.position - some.before);
    acceleration_ = scaling_of(some.acceleration);
    const Tensor edges = edge_features(some.position);
    const Tensor there = graph_.present.squeeze(-1).to(torch::kBool).unsqueeze(0);
    edge_ = scaling_of(edges.index({there.expand({edges.size(0), -1, -1})}));
}

// Noise on the positions of free particles. The next position moves with it but for a share (gamma
// in the publication), so that the network learns to undo a tenth of it in a step.
MeshGraphNet::Sample MeshGraphNet::sample(const MotionTensors& motion, int batch) const
{
    constexpr double kUndone = 0.1;
    const auto whole = torch::TensorOptions().dtype(torch::kInt64).device(motion.device());
    const std::int64_t frames = motion.frame_count();
    const Tensor rollout = torch::randint(motion.rollout_count(), {batch}, whole);
    const Tensor frame = torch::randint(frames - every_, {batch}, whole);
    const auto pick = [&](const Tensor& field, const Tensor& at) {
        return field.reshape({-1, field.size(2), 3}).index_select(0, rollout * frames + at);
    };
    const Tensor now = pick(motion.position, frame);
    const Tensor estimate = now - motion.frame_interval() * every_ * pick(motion.velocity, frame);
    const Tensor before =
        torch::where((frame >= every_).view({-1, 1, 1}),
                     pick(motion.position, (frame - every_).clamp_min(0)), estimate);
    const Tensor held = motion.held.index_select(0, rollout);
    const Tensor noise = noise_ * torch::randn_like(now) * held.logical_not();
    const Tensor next = pick(motion.position, frame + every_) + (1 - kUndone) * noise;
    const Tensor noisy = now + noise;
    return {noisy, before, next - 2 * noisy + before, held};
}

Tensor MeshGraphNet::edge_features(const Tensor& position) const
{
    const Tensor across = graph_.gather(position) - position.unsqueeze(2);
    return torch::cat(
        {across, across.norm(2, -1, true), rest_edges_.expand({position.size(0), -1, -1, -1})}, -1);
}

Tensor MeshGraphNet::predict(const Tensor& weights, const Tensor& position, const Tensor& before,
                             const Tensor& held) const
{
    const std::vector<Tensor> parts = layout_.parts(weights);
    const std::vector<Tensor> fast = half_ ? layout_.parts(weights.to(torch::kBFloat16)) : parts;
    const auto work = [&](const Tensor& x) { return half_ ? x.to(torch::kBFloat16) : x; };
    const Tensor type = torch::cat({held.logical_not(), held}, -1).to(torch::kFloat32);
    Tensor nodes = encoders_[0](parts, torch::cat({node_.scaled(position - before), type}, -1));
    Tensor edges = encoders_[1](parts, edge_.scaled(edge_features(position)));
    const std::int64_t width = nodes.size(-1);
    for (std::size_t block = 0; block < edge_blocks_.size(); ++block) {
        const Mlp &edge_mlp = edge_blocks_[block], &node_mlp = node_blocks_[block];
        // W [edge, sender, receiver] is a sum of three shares, two of which belong to particles:
        // they are multiplied before they are spread over edges.
        const std::vector<Tensor> of_edge = edge_mlp.shares(fast, width);
        const std::vector<Tensor> of_node = node_mlp.shares(fast, width);
        const Tensor ends = work(nodes);
        const Tensor sum = at::linear(work(edges), of_edge[0]) +
                           graph_.gather(at::linear(ends, of_edge[1])) +
                           at::linear(ends, of_edge[2], edge_mlp.shift(fast)).unsqueeze(2);
        const Tensor message = edge_mlp.rest(fast, sum);
        const Tensor received = (message * graph_.present).sum(2);
        const Tensor update = at::linear(ends, of_node[0], node_mlp.shift(fast)) +
                              at::linear(work(received), of_node[1]);
        nodes = nodes + node_mlp.rest(fast, update);
        edges = edges + message;
    }
    return decoder_[0](parts, nodes);
}

Tensor MeshGraphNet::loss(const Tensor& weights, const MotionTensors& motion) const
{
    Sample some;
    {
        const torch::NoGradGuard no_gradient;
        some = sample(motion, batch_);
    }
    const Tensor difference = predict(weights, some.position, some.before, some.held) -
                              acceleration_.scaled(some.acceleration);
    const Tensor free = some.held.logical_not().to(torch::kFloat32);
    return (difference.square() * free).sum() / (3 * free.sum());
}

Tensor MeshGraphNet::rollout(const Tensor& weights, const MotionTensors& motion) const
{
    const torch::NoGradGuard no_gradient;
    Tensor now = motion.position.select(1, 0);
    Tensor before = now - motion.frame_interval() * every_ * motion.velocity.select(1, 0);
    std::vector<Tensor> frames{now};
    for (std::int64_t frame = every_; frame < motion.frame_count(); frame += every_) {
        const Tensor acceleration =
            acceleration_.unscaled(predict(weights, now, before, motion.held));
        const Tensor next = torch::where(motion.held, motion.position.select(1, frame),
                                         2 * now - before + acceleration);
        before = now;
        now = next;
        frames.push_back(now);
    }
    return torch::stack(frames, 1);
}

}  // namespace springtime::baselines
