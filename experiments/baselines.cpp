#include "baselines.h"

#include <cmath>

#include "baseline_program.h"
#include "motion_dump.h"
#include "progress.h"
#include "tensor_file.h"
#include "verdict.h"

namespace springtime::app {

namespace {

namespace fs = std::filesystem;
using baselines::ArrayInfo;
using baselines::TensorReader;

// One of the baselines: how it is trained, and the models that this leaves.
struct Baseline {
    std::string kind;  // of `springtime-baseline`
    std::vector<std::string> flags;
    struct Kept {
        std::string key, name, file;
    };
    std::vector<Kept> models;
};

std::vector<Baseline> baselines_of(const ReproduceArguments& arguments,
                                   const GeneralisationScale& scale)
{
    Baseline graph{"mgn",
                   {"--noise", "0.003", "0.01", "0.03"},
                   {{"mesh-graph-nets", "MeshGraphNets", "model.tensors"}}};
    Baseline ode{"ode",
                 {},
                 {{"neural-ode-published", "neural ODE, one pass of 256 iterations, as published",
                   "published.tensors"},
                  {"neural-ode", "neural ODE, until its error no longer falls", "model.tensors"}}};
    const auto add = [](Baseline& to, const std::string& flag, auto value, bool is_given) {
        if (!is_given) return;
        to.flags.push_back(flag);
        to.flags.push_back(fmt::format("{}", value));
    };
    add(graph, "--steps", scale.graph_steps, scale.graph_steps > 0);
    add(ode, "--steps", scale.ode_steps, scale.ode_steps > 0);
    add(graph, "--trial-steps", scale.trial_steps, true);
    const std::vector<double>& minutes = arguments.baseline_minutes;
    if (!minutes.empty()) {
        constexpr double kTrials = 3;
        add(graph, "--trial-minutes", minutes.front() / (4 * kTrials), true);
        add(graph, "--minutes", 0.75 * minutes.front(), true);
        add(ode, "--minutes", minutes.back(), true);
    }
    for (Baseline* baseline : {&graph, &ode}) {
        add(*baseline, "--hidden", scale.hidden, scale.hidden > 0);
        add(*baseline, "--layers", scale.layers, scale.layers > 0);
        add(*baseline, "--seed", arguments.common.seed, true);
    }
    return {graph, ode};
}

// Mean and standard deviation over all frames, and the mean over rollouts of each.
MotionError motion_error_of(const TensorReader& result)
{
    const ArrayInfo& info = result.info("error");
    const std::vector<double> values = result.read<double>("error");
    const auto rollouts = std::size_t(info.shape.at(0)), frames = std::size_t(info.shape.at(1));
    MotionError error;
    error.per_rollout.assign(rollouts, 0);
    error.over_time.assign(frames, 0);
    double squares = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        error.mean += values[i] / double(values.size());
        error.per_rollout[i / frames] += values[i] / double(frames);
        error.over_time[i % frames] += values[i] / double(rollouts);
    }
    for (const double e : values) squares += (e - error.mean) * (e - error.mean);
    error.std = std::sqrt(squares / double(values.size()));
    return error;
}

// An earlier result counts if it is of the same model and frames.
bool is_of(const fs::path& result, const fs::path& model, const fs::path& motion)
{
    if (!fs::exists(result)) return false;
    const TensorReader file(result);
    return file.read<std::int64_t>("fingerprint") ==
               TensorReader(motion).read<std::int64_t>("fingerprint") &&
           file.text("weights_id") == TensorReader(model).text("weights_id");
}

class BaselineRows {
  public:
    BaselineRows(const ReproduceArguments& arguments, fs::path folder, const UnseenMotion& unseen,
                 const Cloth& source)
        : arguments_(arguments),
          folder_(std::move(folder)),
          tensors_(folder_ / "tensors"),
          unseen_(unseen),
          program_(arguments.common.quiet)
    {
        fs::create_directories(tensors_);
        dump_motion(tensors_ / "train.tensors", open_motion(folder_ / "train.h5"), source);
        for (const UnseenSet& set : unseen.sets) {
            dump_motion(tensors_ / (set.key + ".tensors"), set.motion, source);
        }
    }

    void add(const Baseline& baseline, nlohmann::json& rows) const
    {
        const fs::path out = folder_ / baseline.kind;
        note(arguments_.common, fmt::format("training {}", baseline.models.back().name));
        std::vector<std::string> words{"train",
                                       "--kind",
                                       baseline.kind,
                                       "--motion",
                                       (tensors_ / "train.tensors").string(),
                                       "--out",
                                       out.string(),
                                       "--device",
                                       arguments_.baseline_device};
        words.insert(words.end(), baseline.flags.begin(), baseline.flags.end());
        if (arguments_.common.quiet) words.push_back("--quiet");
        program_.run(words);
        for (const Baseline::Kept& kept : baseline.models) rows.push_back(row(kept, out));
    }

  private:
    nlohmann::json row(const Baseline::Kept& kept, const fs::path& out) const
    {
        const fs::path model = out / kept.file;
        nlohmann::json row{{"key", kept.key}, {"name", kept.name}, {"baseline", true}};
        if (!fs::exists(model)) {  // too few steps for it
            row.update({{"trained", false},
                        {"verdict", "stopped before it was reached"},
                        {"steps", 0},
                        {"seconds", nullptr},
                        {"parameters", nullptr},
                        {"noise_trials", nullptr},
                        {"seconds_per_simulated_second", nullptr},
                        {"seconds_per_step_and_particle", nullptr}});
            for (const UnseenSet& set : unseen_.sets) {
                row[set.key] = {{"mean", nullptr}, {"std", nullptr}};
            }
            row["after"] = nullptr;
            return row;
        }
        add_training(row, TensorReader(model), kept.key == "neural-ode-published");
        evaluate(model);
        for (const UnseenSet& set : unseen_.sets) add_error(row, set, model);
        row["after"] = error_after(row["longer"], unseen_.scale.seconds);
        return row;
    }

    // The one pass of the publication is what it is; all else must have been trained.
    static void add_training(nlohmann::json& row, const TensorReader& model, bool as_published)
    {
        const baselines::TrainingCurve curve{model.text("kind"),
                                             std::stoll(model.text("steps_done")),
                                             model.read<double>("validation")};
        const baselines::Verdict verdict = baselines::verdict_of(curve);
        row["trained"] = verdict.trained;
        row["verdict"] = as_published ? "as published" : verdict.text;
        if (as_published) row["trained"] = curve.steps >= baselines::kPublishedOdeSteps;
        row["steps"] = curve.steps;
        row["seconds"] = std::stod(model.text("seconds"));
        row["noise_trials"] = model.text("trials");
        row["validation"] = curve.validation;
        row["validation_steps"] = model.read<double>("validation_steps");
        row["trained_on"] = model.text("device");
    }

    fs::path result_of(const UnseenSet& set, const fs::path& model) const
    {
        return model.parent_path() / fmt::format("{}-{}.tensors", model.stem().string(), set.key);
    }

    // What is not there yet, in one run of the program.
    void evaluate(const fs::path& model) const
    {
        std::vector<std::string> motions{"--motion"}, outs{"--out"};
        for (const UnseenSet& set : unseen_.sets) {
            const fs::path motion = tensors_ / (set.key + ".tensors");
            if (is_of(result_of(set, model), model, motion)) continue;
            motions.push_back(motion.string());
            outs.push_back(result_of(set, model).string());
        }
        if (outs.size() == 1) return;
        note(arguments_.common, fmt::format("evaluating {}", model.string()));
        std::vector<std::string> words{"evaluate", "--model", model.string(), "--device",
                                       arguments_.baseline_device};
        words.insert(words.end(), motions.begin(), motions.end());
        words.insert(words.end(), outs.begin(), outs.end());
        program_.run(words);
    }

    void add_error(nlohmann::json& row, const UnseenSet& set, const fs::path& model) const
    {
        const TensorReader file(result_of(set, model));
        const auto number = [&](const char* name) { return file.read<double>(name).at(0); };
        row[set.key] = brief(motion_error_of(file), number("frame_interval"));
        if (set.key != "unseen") return;
        row["parameters"] = file.read<std::int64_t>("parameters").at(0);
        row["run_on"] = file.text("device");
        for (const char* name : {"seconds_per_simulated_second", "seconds_per_step_and_particle"}) {
            row[name] = number(name);
        }
    }

    const ReproduceArguments& arguments_;
    fs::path folder_, tensors_;
    const UnseenMotion& unseen_;
    BaselineProgram program_;
};

}  // namespace

nlohmann::json baseline_rows(const ReproduceArguments& arguments, const fs::path& folder,
                             const UnseenMotion& unseen, const Cloth& source)
{
    const BaselineRows maker(arguments, folder, unseen, source);
    nlohmann::json rows = nlohmann::json::array();
    for (const Baseline& baseline : baselines_of(arguments, unseen.scale))
        maker.add(baseline, rows);
    return rows;
}

RowKeys baseline_keys()
{
    RowKeys keys;
    for (const Baseline& baseline : baselines_of({}, {})) {
        for (const Baseline::Kept& kept : baseline.models) keys.push_back(kept.key);
    }
    return keys;
}

}  // namespace springtime::app
