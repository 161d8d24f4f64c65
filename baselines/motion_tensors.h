#pragma once

#include <torch/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace springtime::baselines {

// Rollouts of one cloth, on the device that computes.
struct MotionTensors {
    torch::Tensor position, velocity;  // rollouts x frames x particles x 3 [m], [m/s]
    torch::Tensor acceleration;        // the same [m/s^2]; undefined where it is not stored
    torch::Tensor held;                // rollouts x particles x 1, true where a path is prescribed
    torch::Tensor rest;                // particles x 2 [m]
    torch::Tensor edges;               // edges x 2, each edge of the mesh once
    torch::Tensor mass;                // particles x 1 [kg]
    torch::Tensor gravity;             // 3 [m/s^2]
    double drag = 0;                   // [1/s]
    double dt = 0;                     // step of the source [s]
    int stride = 1;                    // steps between frames
    std::int64_t seed = 0;
    std::vector<std::int64_t> fingerprints;  // of every frame of every rollout

    std::int64_t rollout_count() const { return position.size(0); }
    std::int64_t frame_count() const { return position.size(1); }
    std::int64_t particle_count() const { return position.size(2); }
    double frame_interval() const { return dt * stride; }  // [s]
    torch::Device device() const { return position.device(); }
};

// auto: the GPU where LibTorch finds one. Throws BadInput for a device that is not there.
torch::Device device_named(const std::string& name);

MotionTensors read_motion_tensors(const std::filesystem::path& path, torch::Device device);

// Some consecutive rollouts. Nothing is copied.
MotionTensors rollouts_of(const MotionTensors& motion, std::int64_t first, std::int64_t count);

// The root mean square distance at the free particles of every frame [m]: rollouts x frames, for
// predictions of every `every`-th frame. Infinite where a prediction is not finite.
torch::Tensor frame_errors(const MotionTensors& motion, const torch::Tensor& predicted, int every);

}  // namespace springtime::baselines
