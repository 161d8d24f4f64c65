#pragma once

#include <memory>
#include <string>

#include "sim/batch_recorder.h"
#include "sim/clip_gradient.h"
#include "sim/stepper.h"
#include "sim/trajectory_gradient.h"

// What the registry sees of the CUDA backend.
namespace springtime {

// Whether this machine has a device that the kernels were built for.
bool cuda_device_present();
// Throws Error, with what is missing, unless it has one.
void check_cuda_device();
// For people: "cuda/NVIDIA H200".
std::string cuda_device_name();

// Whether the kernels know the elements and contacts: all but ropes that bend as rods and contact
// of the cloth with itself.
bool cuda_can_run(const Cloth& cloth, const SimulationOptions& options);

// Takes all the free memory of the device, or a part of it.
struct CudaMemory {
    std::size_t most = std::size_t(-1);  // [bytes]
};

std::unique_ptr<Stepper> make_cuda_stepper(const Cloth& cloth, const SimulationOptions& options,
                                           int lanes);
// `most_steps` are those of one launch; few particles take about two microseconds each.
std::unique_ptr<BatchRecorder> make_cuda_recorder(const Cloth& cloth,
                                                  const SimulationOptions& options,
                                                  const CudaMemory& memory = {},
                                                  int most_steps = 1 << 14);
std::unique_ptr<ClipGradient> make_cuda_clip_gradient(const Cloth& cloth,
                                                      const SimulationOptions& options, int stride,
                                                      const CudaMemory& memory = {});
std::unique_ptr<TrajectoryGradient> make_cuda_trajectory_gradient(const Cloth& cloth,
                                                                  const SimulationOptions& options,
                                                                  int stride,
                                                                  const LandmarkShares& landmarks,
                                                                  std::function<void()> heartbeat,
                                                                  const CudaMemory& memory = {});

}  // namespace springtime
