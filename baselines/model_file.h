#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "learner.h"
#include "verdict.h"

namespace springtime::baselines {

// What a training knows of itself, beside its weights.
struct TrainingRecord {
    TrainOptions options;
    std::string trials;      // noise scales and their errors, "0.003: 0.71 m; 0.01: 0.65 m"
    double seconds = 0;      // of training alone, earlier runs included
    std::int64_t steps = 0;  // of the weights that are kept
    TrainingCurve curve;     // of all steps so far
    std::vector<double> curve_steps;
    double best = 0;                         // [m]
    std::int64_t seed = 0;                   // of the motion
    std::vector<std::int64_t> fingerprints;  // of its frames
};

struct StoredModel {
    TrainingRecord record;
    std::string weights_id;  // a fingerprint
    std::unique_ptr<Model> model;
    torch::Tensor weights;
};

// `state`: everything that a training needs to go on; otherwise only what is needed to run it.
void write_model(const std::filesystem::path& path, const TrainingRecord& record, Model& model,
                 const torch::Tensor& weights, const Learner* state = nullptr);

// A model for the cloth of a motion.
StoredModel read_model(const std::filesystem::path& path, const MotionTensors& motion);

// Weights and state of a training that goes on; its record.
TrainingRecord read_checkpoint(const std::filesystem::path& path, Model& model, Learner& learner);

}  // namespace springtime::baselines
