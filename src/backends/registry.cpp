#include <string>
#include <utility>

#ifdef SPRINGTIME_WITH_CUDA
#include "backends/cuda/cuda.h"
#endif
#include "backends/reference/reference.h"
#include "backends/simd/simd.h"
#include "sim/batch_recorder.h"
#include "sim/clip_gradient.h"
#include "sim/stepper.h"
#include "sim/trajectory_gradient.h"
#include "springtime/error.h"

namespace springtime {

namespace {

#ifndef SPRINGTIME_WITH_CUDA

// What takes the place of the CUDA backend in builds that have none.
bool cuda_device_present()
{
    return false;
}
void check_cuda_device()
{
    throw Error(Field{"device"},
                "device 'cuda': this program was built without CUDA; build it with 'scripts/build "
                "cuda', which needs nvcc (NVIDIA's package cuda-toolkit), or use cpu");
}
bool cuda_can_run(const Cloth&, const SimulationOptions&)
{
    return false;
}
std::unique_ptr<Stepper> make_cuda_stepper(const Cloth&, const SimulationOptions&, int)
{
    return nullptr;
}
std::unique_ptr<BatchRecorder> make_cuda_recorder(const Cloth&, const SimulationOptions&)
{
    return nullptr;
}
std::unique_ptr<ClipGradient> make_cuda_clip_gradient(const Cloth&, const SimulationOptions&, int)
{
    return nullptr;
}
std::unique_ptr<TrajectoryGradient> make_cuda_trajectory_gradient(const Cloth&,
                                                                  const SimulationOptions&, int,
                                                                  const LandmarkShares&,
                                                                  std::function<void()>)
{
    return nullptr;
}

#endif

// Throws Error for a device that is not there, wherever it is asked for.
void check_device(Device device)
{
    if (device == Device::cuda) check_cuda_device();
}

// What the device does not know runs on the CPU, as if that had been asked for.
bool runs_on_cuda(const Cloth& cloth, const SimulationOptions& options)
{
    return options.device == Device::cuda && cuda_can_run(cloth, options);
}

// Whether work that may run anywhere is large enough to make up for the start of a device, which
// takes up to a second. The cores of a large machine together make so many steps of particles of a
// network in a quarter of a second, and of triangles in three.
bool gains_by_cuda(double particle_steps)
{
    constexpr double kParticleSteps = 1e9;
    return particle_steps >= kParticleSteps && cuda_device_present();
}

// Descents run batches of clips again and again, which is work enough for all but the smallest
// cloths: a step takes the device about as long as it takes the CPU for these.
bool descends_on_cuda(const Cloth& cloth, const SimulationOptions& options)
{
    constexpr std::size_t kParticles = 64;
    if (cloth.rod || !cuda_can_run(cloth, options)) return false;
    if (options.device == Device::cuda) return true;
    return options.device == Device::automatic && cloth.particle_count() >= kParticles &&
           cuda_device_present();
}

// A block of threads for every lane, so that about as many are needed as there are processors.
constexpr int kCudaLanes = 128;

// Rods are short: the plain loops run them.
bool runs_plainly(const Cloth& cloth, const SimulationOptions& options)
{
    return cloth.rod || options.device == Device::reference;
}

void check_differentiable(const Cloth& cloth)
{
    if (!cloth.rod) return;
    throw Error("a rope that bends as a rod has no adjoint; fit_rod() learns it by differences");
}

}  // namespace

Device device_named(std::string_view name)
{
    if (name == "auto") return Device::automatic;
    if (name == "reference") return Device::reference;
    if (name == "cpu") return Device::cpu;
    if (name == "cuda") {
        check_device(Device::cuda);
        return Device::cuda;
    }
    throw Error(Field{"device"}, "device '{}': unknown; use auto, reference, cpu or cuda", name);
}

std::unique_ptr<Stepper> make_single_stepper(const Cloth& cloth, const SimulationOptions& options)
{
    check_device(options.device);
    if (runs_on_cuda(cloth, options)) return make_cuda_stepper(cloth, options, 1);
    if (runs_plainly(cloth, options)) return make_reference_stepper(cloth, options, 1);
    return make_simd_single(cloth, options, best_instruction_set());
}

std::unique_ptr<Stepper> make_batch_stepper(const Cloth& cloth, const SimulationOptions& options)
{
    check_device(options.device);
    if (runs_on_cuda(cloth, options)) return make_cuda_stepper(cloth, options, kCudaLanes);
    if (runs_plainly(cloth, options)) return make_reference_stepper(cloth, options, 1);
    return make_simd_batch(cloth, options, best_instruction_set());
}

std::unique_ptr<Tape<float>> make_fast_tape(const Cloth& cloth, const SimulationOptions& options,
                                            const TapeOptions& tape)
{
    check_device(options.device);
    check_differentiable(cloth);
    return make_simd_tape(cloth, options, tape, best_instruction_set());
}

std::unique_ptr<Tape<double>> make_reference_tape(const Cloth& cloth,
                                                  const SimulationOptions& options,
                                                  const TapeOptions& tape)
{
    check_device(options.device);
    check_differentiable(cloth);
    return make_plain_tape(cloth, options, tape);
}

std::unique_ptr<ClipGradient> make_clip_gradient(const Cloth& cloth,
                                                 const SimulationOptions& options, int stride)
{
    check_device(options.device);
    if (!descends_on_cuda(cloth, options)) return nullptr;  // both backends of the CPU have tapes
    return make_cuda_clip_gradient(cloth, options, stride);
}

std::unique_ptr<TrajectoryGradient> make_trajectory_gradient(const Cloth& cloth,
                                                             const SimulationOptions& options,
                                                             int stride,
                                                             const LandmarkShares& landmarks,
                                                             std::function<void()> heartbeat)
{
    check_device(options.device);
    if (!descends_on_cuda(cloth, options)) return nullptr;
    return make_cuda_trajectory_gradient(cloth, options, stride, landmarks, std::move(heartbeat));
}

std::unique_ptr<BatchRecorder> make_batch_recorder(const Cloth& cloth,
                                                   const SimulationOptions& options,
                                                   std::size_t rollouts, std::size_t steps)
{
    check_device(options.device);
    if (!cuda_can_run(cloth, options)) return nullptr;
    const double work = double(rollouts) * double(steps) * double(cloth.particle_count());
    const bool wanted = options.device == Device::automatic && gains_by_cuda(work);
    if (!wanted && options.device != Device::cuda) return nullptr;
    return make_cuda_recorder(cloth, options);
}

}  // namespace springtime
