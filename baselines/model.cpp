#include "model.h"

#include <cmath>

#include "mesh_graph_net.h"
#include "neural_ode.h"

namespace springtime::baselines {

void Layout::add(const Part& part)
{
    parts_.push_back(part);
    std::int64_t count = 1;
    for (const std::int64_t n : part.shape) count *= n;
    count_ += count;
}

std::size_t Layout::add_linear(std::int64_t in, std::int64_t out)
{
    const double bound = 1 / std::sqrt(double(in));
    add({{out, in}, bound, 0});
    add({{out}, bound, 0});
    return parts_.size() - 2;
}

std::size_t Layout::add_norm(std::int64_t width)
{
    add({{width}, 0, 1});
    add({{width}, 0, 0});
    return parts_.size() - 2;
}

torch::Tensor Layout::start(std::uint64_t seed) const
{
    torch::manual_seed(seed);
    std::vector<torch::Tensor> starts;
    for (const Part& part : parts_) {
        const torch::Tensor values = part.bound > 0 ? (2 * torch::rand(part.shape) - 1) * part.bound
                                                    : torch::full(part.shape, part.constant);
        starts.push_back(values.flatten());
    }
    return torch::cat(starts);
}

std::vector<torch::Tensor> Layout::parts(const torch::Tensor& flat) const
{
    std::vector<std::int64_t> sizes;
    for (const Part& part : parts_) {
        std::int64_t count = 1;
        for (const std::int64_t n : part.shape) count *= n;
        sizes.push_back(count);
    }
    std::vector<torch::Tensor> parts = flat.split_with_sizes(sizes);
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = parts[i].view(parts_[i].shape);
    return parts;
}

Scaling scaling_of(const torch::Tensor& values, double least)
{
    const torch::Tensor rows = values.reshape({-1, values.size(-1)}).to(torch::kFloat64);
    return {rows.mean(0).to(torch::kFloat32),
            rows.std(0, false).clamp_min(least).to(torch::kFloat32)};
}

std::unique_ptr<Model> make_model(const TrainOptions& options, const MotionTensors& motion)
{
    if (options.kind == "mgn") return std::make_unique<MeshGraphNet>(options, motion);
    if (options.kind == "ode") return std::make_unique<NeuralOde>(options, motion);
    throw BadInput("--kind: found '" + options.kind + "', but mgn or ode is needed");
}

TrainOptions with_defaults(TrainOptions options)
{
    const bool mgn = options.kind == "mgn";
    const auto set = [](auto& value, auto by_default) {
        if (value == 0) value = by_default;
    };
    set(options.steps, std::int64_t(mgn ? 500000 : 20000));
    set(options.batch, mgn ? 2 : 32);
    set(options.rate, mgn ? 5e-4 : 3e-4);
    set(options.hidden, mgn ? 128 : 512);
    set(options.layers, mgn ? 15 : 6);
    set(options.validate_every, std::int64_t(mgn ? 5000 : 32));
    if (options.noise.empty()) options.noise = {0.01};
    return options;
}

}  // namespace springtime::baselines
