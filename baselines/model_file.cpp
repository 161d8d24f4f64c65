#include "model_file.h"

#include <sstream>

namespace springtime::baselines {

namespace {

namespace fs = std::filesystem;
using torch::Tensor;

template <class T>
std::string text_of(T value)
{
    std::ostringstream text;
    text.precision(9);
    text << value;
    return text.str();
}

Texts texts_of(const TrainingRecord& record)
{
    const TrainOptions& options = record.options;
    return {{"kind", options.kind},
            {"noise", text_of(options.noise.at(0))},
            {"trials", record.trials.empty() ? "none" : record.trials},
            {"every", text_of(options.every)},
            {"batch", text_of(options.batch)},
            {"rate", text_of(options.rate)},
            {"clip_steps", text_of(options.clip_steps)},
            {"hidden", text_of(options.hidden)},
            {"layers", text_of(options.layers)},
            {"planned_steps", text_of(options.steps)},
            {"steps", text_of(record.steps)},
            {"steps_done", text_of(record.curve.steps)},
            {"seconds", text_of(record.seconds)},
            {"best", text_of(record.best)},
            {"validate_every", text_of(options.validate_every)},
            {"device", options.device},
            {"arithmetic", options.half ? "bfloat16" : "float32"}};
}

struct Numbers {
    std::string name;
    Tensor tensor;
};

TrainingRecord record_from(const TensorReader& file)
{
    const auto number = [&](const char* name) { return std::stod(file.text(name)); };
    TrainingRecord record;
    TrainOptions& options = record.options;
    options.kind = file.text("kind");
    options.noise = {number("noise")};
    options.every = int(number("every"));
    options.batch = int(number("batch"));
    options.rate = number("rate");
    options.clip_steps = int(number("clip_steps"));
    options.hidden = int(number("hidden"));
    options.layers = int(number("layers"));
    options.steps = std::int64_t(number("planned_steps"));
    options.validate_every = std::int64_t(number("validate_every"));
    options.device = file.text("device");
    options.half = file.text("arithmetic") == "bfloat16";
    record.trials = file.text("trials");
    record.steps = std::int64_t(number("steps"));
    record.seconds = number("seconds");
    record.best = number("best");
    record.curve = {options.kind, std::int64_t(number("steps_done")),
                    file.read<double>("validation")};
    record.curve_steps = file.read<double>("validation_steps");
    record.seed = file.read<std::int64_t>("seed").at(0);
    record.fingerprints = file.read<std::int64_t>("fingerprint");
    return record;
}

Tensor read_into(const TensorReader& file, const std::string& name, const Tensor& like)
{
    const std::vector<float> values = file.read<float>(name);
    if (std::int64_t(values.size()) != like.numel()) {
        throw BadInput(file.path().string() + ": '" + name + "' has " +
                       std::to_string(values.size()) +
                       " numbers, but this cloth and network need " + std::to_string(like.numel()) +
                       "; the model must be run on the mesh that it was trained on");
    }
    return torch::tensor(values).view(like.sizes()).to(like.device());
}

void read_scalings(const TensorReader& file, Model& model, torch::Device device)
{
    int number = 0;
    for (Scaling* scaling : model.scalings()) {
        const std::string name = std::to_string(number++);
        scaling->mean = torch::tensor(file.read<float>("mean_" + name)).to(device);
        scaling->std = torch::tensor(file.read<float>("std_" + name)).to(device);
    }
}

}  // namespace

void write_model(const fs::path& path, const TrainingRecord& record, Model& model,
                 const Tensor& weights, const Learner* state)
{
    std::vector<Numbers> numbers{{"weights", weights}};
    if (state) {
        numbers.push_back({"adam_mean", state->mean});
        numbers.push_back({"adam_square", state->square});
        numbers.push_back({"average", state->average});
    }
    int count = 0;
    for (const Scaling* scaling : model.scalings()) {
        numbers.push_back({"mean_" + std::to_string(count), scaling->mean});
        numbers.push_back({"std_" + std::to_string(count++), scaling->std});
    }
    std::vector<ArrayInfo> arrays;
    for (Numbers& n : numbers) {
        n.tensor = n.tensor.detach().to(torch::kCPU).contiguous();
        arrays.push_back({n.name, NumberType::f32, n.tensor.sizes().vec()});
    }
    const auto points = std::int64_t(record.curve.validation.size());
    arrays.push_back({"validation", NumberType::f64, {points}});
    arrays.push_back({"validation_steps", NumberType::f64, {points}});
    arrays.push_back({"seed", NumberType::i64, {1}});
    arrays.push_back({"fingerprint", NumberType::i64, {std::int64_t(record.fingerprints.size())}});
    Texts texts = texts_of(record);
    texts["weights_id"] = std::to_string(frame_fingerprint(numbers[0].tensor.data_ptr<float>(),
                                                           std::size_t(numbers[0].tensor.numel())));
    TensorWriter file(path, texts, arrays);
    for (const Numbers& n : numbers) {
        file.write_bytes(n.name, NumberType::f32, 0, n.tensor.data_ptr(), n.tensor.numel());
    }
    file.write("validation", record.curve.validation);
    file.write("validation_steps", record.curve_steps);
    file.write("seed", std::vector<std::int64_t>{record.seed});
    file.write("fingerprint", record.fingerprints);
    file.publish();
}

StoredModel read_model(const fs::path& path, const MotionTensors& motion)
{
    const TensorReader file(path);
    StoredModel stored{record_from(file), file.text("weights_id"), nullptr, {}};
    stored.model = make_model(stored.record.options, motion);
    read_scalings(file, *stored.model, motion.device());
    const Tensor like = torch::empty({stored.model->layout().count()},
                                     torch::TensorOptions().device(motion.device()));
    stored.weights = read_into(file, "weights", like);
    return stored;
}

TrainingRecord read_checkpoint(const fs::path& path, Model& model, Learner& learner)
{
    const TensorReader file(path);
    TrainingRecord record = record_from(file);
    read_scalings(file, model, learner.weights.device());
    const torch::NoGradGuard no_gradient;
    learner.weights.copy_(read_into(file, "weights", learner.weights));
    learner.mean.copy_(read_into(file, "adam_mean", learner.mean));
    learner.square.copy_(read_into(file, "adam_square", learner.square));
    learner.average.copy_(read_into(file, "average", learner.average));
    learner.set_steps(record.curve.steps);
    return record;
}

}  // namespace springtime::baselines
