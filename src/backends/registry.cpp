#include <string>

#include "backends/reference/reference.h"
#include "backends/simd/simd.h"
#include "sim/batch_recorder.h"
#include "sim/clip_gradient.h"
#include "sim/stepper.h"
#include "sim/trajectory_gradient.h"
#include "springtime/error.h"

namespace springtime {

namespace {

// Throws Error for a device that this build does not have, wherever it is asked for.
void check_device(Device device)
{
    if (device != Device::cuda) return;
    throw Error(Field{"device"}, "device 'cuda': this version has no GPU backend; use cpu");
}

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
    if (runs_plainly(cloth, options)) return make_reference_stepper(cloth, options, 1);
    return make_simd_single(cloth, options, best_instruction_set());
}

std::unique_ptr<Stepper> make_batch_stepper(const Cloth& cloth, const SimulationOptions& options)
{
    check_device(options.device);
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

std::unique_ptr<ClipGradient> make_clip_gradient(const Cloth&, const SimulationOptions& options,
                                                 int)
{
    check_device(options.device);
    return nullptr;  // both backends of the CPU have tapes
}

std::unique_ptr<TrajectoryGradient> make_trajectory_gradient(const Cloth&,
                                                             const SimulationOptions& options, int,
                                                             const LandmarkShares&,
                                                             std::function<void()>)
{
    check_device(options.device);
    return nullptr;
}

std::unique_ptr<BatchRecorder> make_batch_recorder(const Cloth&, const SimulationOptions& options,
                                                   std::size_t, std::size_t)
{
    check_device(options.device);
    return nullptr;  // steppers do it
}

}  // namespace springtime
