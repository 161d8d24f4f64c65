#include "motion_tensors.h"

#include <torch/cuda.h>

#include <limits>

#include "tensor_file.h"

namespace springtime::baselines {

namespace {

torch::Tensor read_tensor(const TensorReader& file, const std::string& name, torch::Device device)
{
    const ArrayInfo& info = file.info(name);
    const auto kind = info.type == NumberType::f32   ? torch::kFloat32
                      : info.type == NumberType::f64 ? torch::kFloat64
                                                     : torch::kInt64;
    torch::Tensor tensor = torch::empty(info.shape, torch::TensorOptions().dtype(kind));
    file.read_bytes(name, info.type, tensor.data_ptr());
    return tensor.to(device);
}

void check_shapes(const MotionTensors& motion, const std::filesystem::path& path)
{
    const auto need = [&](bool good, const char* what) {
        if (!good) {
            throw BadInput(path.string() + ": " + what +
                           "; make the file again with `springtime reproduce`");
        }
    };
    need(motion.position.dim() == 4 && motion.position.size(3) == 3,
         "'position' must be rollouts x frames x particles x 3");
    need(motion.rollout_count() > 0 && motion.frame_count() > 2,
         "at least one rollout of three frames is needed");
    need(motion.velocity.sizes() == motion.position.sizes(),
         "'velocity' and 'position' must have the same shape");
    need(!motion.acceleration.defined() || motion.acceleration.sizes() == motion.position.sizes(),
         "'acceleration' and 'position' must have the same shape");
    need(motion.held.size(0) == motion.rollout_count() &&
             motion.held.size(1) == motion.particle_count() &&
             motion.rest.size(0) == motion.particle_count() &&
             motion.mass.size(0) == motion.particle_count(),
         "'held', 'rest' and 'mass' must have an entry for every particle");
    need(motion.edges.dim() == 2 && motion.edges.size(1) == 2 && motion.edges.numel() > 0 &&
             motion.edges.min().item<std::int64_t>() >= 0 &&
             motion.edges.max().item<std::int64_t>() < motion.particle_count(),
         "'edges' must be pairs of particles");
}

}  // namespace

torch::Device device_named(const std::string& name)
{
    // Products of float32 with the ten binary digits of TF32 where the GPU has them, summed in
    // float32.
    at::globalContext().setFloat32MatmulPrecision(std::string("high"));
    const bool has_cuda = torch::cuda::is_available();
    if (name == "cpu" || (name == "auto" && !has_cuda)) return torch::kCPU;
    if ((name == "cuda" || name == "auto") && has_cuda) return torch::Device(torch::kCUDA, 0);
    throw BadInput("--device: found '" + name + "', but " +
                   (has_cuda ? "auto, cpu or cuda is needed"
                             : "auto or cpu is needed: LibTorch finds no GPU here"));
}

MotionTensors read_motion_tensors(const std::filesystem::path& path, torch::Device device)
{
    const TensorReader file(path);
    const auto number = [&](const char* name) { return file.read<double>(name).at(0); };
    MotionTensors motion;
    motion.position = read_tensor(file, "position", device);
    motion.velocity = read_tensor(file, "velocity", device);
    if (file.has("acceleration")) motion.acceleration = read_tensor(file, "acceleration", device);
    motion.held = read_tensor(file, "held", device).to(torch::kBool).unsqueeze(-1);
    motion.rest = read_tensor(file, "rest", device);
    motion.edges = read_tensor(file, "edges", torch::kCPU);
    motion.mass = read_tensor(file, "mass", device).unsqueeze(-1);
    motion.gravity = read_tensor(file, "gravity", device);
    motion.drag = number("drag");
    motion.dt = number("dt");
    motion.stride = int(number("stride"));
    motion.seed = file.read<std::int64_t>("seed").at(0);
    motion.fingerprints = file.read<std::int64_t>("fingerprint");
    check_shapes(motion, path);
    return motion;
}

MotionTensors rollouts_of(const MotionTensors& motion, std::int64_t first, std::int64_t count)
{
    MotionTensors part = motion;
    for (torch::Tensor* tensor : {&part.position, &part.velocity, &part.acceleration, &part.held}) {
        if (tensor->defined()) *tensor = tensor->narrow(0, first, count);
    }
    const auto begin = motion.fingerprints.begin() + first * motion.frame_count();
    part.fingerprints.assign(begin, begin + count * motion.frame_count());
    return part;
}

torch::Tensor frame_errors(const MotionTensors& motion, const torch::Tensor& predicted, int every)
{
    const torch::Tensor target =
        motion.position.slice(1, 0, 1 + (predicted.size(1) - 1) * every, every);
    const torch::Tensor free = motion.held.logical_not().to(torch::kFloat64).unsqueeze(1);
    const torch::Tensor squares =
        (predicted - target).to(torch::kFloat64).square().sum(-1, true) * free;
    const torch::Tensor error = (squares.sum({2, 3}) / free.sum({2, 3})).sqrt();
    return torch::nan_to_num(error, std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::infinity());
}

}  // namespace springtime::baselines
