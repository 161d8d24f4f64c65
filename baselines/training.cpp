#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <sstream>

#include "model_file.h"

namespace springtime::baselines {

namespace {

namespace fs = std::filesystem;

std::atomic<bool> stop_requested{false};

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// Rollouts that are left out to validate: an eighth, 8 at most.
std::int64_t validation_count(std::int64_t rollouts)
{
    return std::min<std::int64_t>(std::max<std::int64_t>(rollouts / 8, rollouts > 1 ? 1 : 0), 8);
}

// One training in one folder.
class Run {
  public:
    Run(const TrainOptions& options, const MotionTensors& motion)
        : options_(options),
          start_(Clock::now()),
          motion_(rollouts_of(motion, 0,
                              motion.rollout_count() - validation_count(motion.rollout_count()))),
          unseen_(left_out(motion)),
          model_(make_model(options, motion_)),
          learner_(*model_, motion_, options)
    {
        record_.options = options;
        record_.curve.kind = options.kind;
        record_.best = std::numeric_limits<double>::infinity();
        record_.seed = motion.seed;
        record_.fingerprints = motion.fingerprints;
        fs::create_directories(options.out);
        if (fs::exists(checkpoint())) resume();
        torch::manual_seed(options.seed + std::uint64_t(learner_.steps()) + 1);
        seconds_before_ = record_.seconds;
    }

    // Until the planned steps, the error no longer falls, time is over, or a signal came.
    void go() { go_to(options_.steps); }

    void go_to(std::int64_t last)
    {
        const int between = motion_.device().is_cuda() ? 10 : 1;  // looks, which wait for the GPU
        while (learner_.steps() < last && !finished_) {
            learner_.advance();
            const std::int64_t steps = learner_.steps();
            const bool due = steps % options_.validate_every == 0;
            const bool kept = options_.kind == "ode" && steps == kPublishedOdeSteps;
            if (kept) keep_published();
            if (due) validate();
            if (due || steps % between == 0) look();
            if (over_) break;
        }
        if (learner_.steps() % options_.validate_every != 0) validate();
        save();
    }

    const TrainingRecord& record() const { return record_; }
    void set_trials(const std::string& trials) { record_.trials = trials; }

  private:
    fs::path checkpoint() const { return options_.out / "checkpoint.tensors"; }

    static MotionTensors left_out(const MotionTensors& motion)
    {
        const std::int64_t count = validation_count(motion.rollout_count());
        if (count == 0) return motion;  // a single rollout: how well it is remembered
        return rollouts_of(motion, motion.rollout_count() - count, count);
    }

    void resume()
    {
        TrainingRecord before = read_checkpoint(checkpoint(), *model_, learner_);
        if (before.options.kind != options_.kind || before.options.every != options_.every ||
            before.seed != record_.seed || before.fingerprints != record_.fingerprints) {
            throw BadInput(checkpoint().string() +
                           ": is of another kind, step or motion; give another --out");
        }
        before.options = options_;
        record_ = before;
        finished_ = is_finished();
    }

    // The rate of MeshGraphNets falls over half of the planned steps. A curve that is flat before
    // may go on with a lower rate.
    bool is_finished() const
    {
        const TrainingCurve& curve = record_.curve;
        const bool rate_fell = options_.kind != "mgn" || 2 * curve.steps >= options_.steps;
        return rate_fell && verdict_of(curve).trained;
    }

    void look()
    {
        learner_.wait();
        const double seconds = seconds_since(start_);
        over_ = stop_requested || (options_.minutes > 0 && seconds > 60 * options_.minutes);
        record_.seconds = seconds_before_ + seconds;
        record_.curve.steps = learner_.steps();
    }

    void validate()
    {
        const double loss = learner_.mean_loss();
        if (!std::isfinite(loss)) {
            throw std::runtime_error("the loss is not finite at step " +
                                     std::to_string(learner_.steps()) +
                                     "; train with a smaller --rate");
        }
        look();
        const torch::Tensor moved = model_->rollout(learner_.average, unseen_);
        const double error =
            frame_errors(unseen_, moved, model_->frame_step()).mean().item<double>();
        record_.curve.validation.push_back(error);
        record_.curve_steps.push_back(double(learner_.steps()));
        write_log(loss, error);
        if (error < record_.best || !fs::exists(options_.out / "model.tensors")) {
            record_.best = error;
            record_.steps = learner_.steps();
            best_ = learner_.average.clone();
        }
        constexpr std::size_t kSaveEvery = 4;  // validations
        if (record_.curve.validation.size() % kSaveEvery == 1) save();
        finished_ = is_finished();
    }

    void write_log(double loss, double error)
    {
        const fs::path path = options_.out / "log.csv";
        const bool is_new = !fs::exists(path);
        std::ofstream log(path, std::ios::app);
        if (is_new) log << "step,seconds,loss,validation\n";
        log << learner_.steps() << ',' << record_.seconds << ',' << loss << ',' << error << '\n';
        if (options_.quiet) return;
        std::printf("%s step %lld: %.1f s, loss %.4g, validation %.4g m\n", options_.kind.c_str(),
                    static_cast<long long>(learner_.steps()), record_.seconds, loss, error);
        std::fflush(stdout);
    }

    void keep_published()
    {
        TrainingRecord record = record_;
        look();
        record.seconds = record_.seconds;
        record.steps = record.curve.steps = learner_.steps();
        write_model(options_.out / "published.tensors", record, *model_, learner_.weights);
    }

    void save()
    {
        if (best_.defined()) {
            write_model(options_.out / "model.tensors", record_, *model_, best_);
        } else if (fs::exists(options_.out / "model.tensors")) {
            // Nothing better than an earlier run's; its curve has grown all the same.
            const StoredModel earlier = read_model(options_.out / "model.tensors", motion_);
            write_model(options_.out / "model.tensors", record_, *model_, earlier.weights);
        }
        write_model(checkpoint(), record_, *model_, learner_.weights, &learner_);
    }

    TrainOptions options_;
    Clock::time_point start_;
    MotionTensors motion_, unseen_;
    std::unique_ptr<Model> model_;
    Learner learner_;
    TrainingRecord record_;
    torch::Tensor best_;
    double seconds_before_ = 0;
    bool over_ = false, finished_ = false;
};

TrainingRecord run(const TrainOptions& options, const MotionTensors& motion,
                   const std::string& trials)
{
    Run run(options, motion);
    if (!trials.empty()) run.set_trials(trials);
    run.go();
    return run.record();
}

// Trains a little with every noise scale, and goes on from the best.
std::string choose_noise(TrainOptions& options, const MotionTensors& motion)
{
    std::string trials;
    double best = std::numeric_limits<double>::infinity();
    TrainOptions chosen = options;
    for (const double noise : options.noise) {
        TrainOptions trial = options;
        std::ostringstream name;
        name << "noise-" << noise;
        trial.noise = {noise};
        trial.out = options.out / name.str();
        trial.minutes = options.trial_minutes;
        // The schedule of rates is that of the whole training, so that it can go on.
        const TrainingRecord record = [&] {
            Run run(trial, motion);
            run.go_to(options.trial_steps);
            return run.record();
        }();
        if (stop_requested) return {};
        std::ostringstream words;
        words << noise << " m: " << record.best << " m after " << record.curve.steps << " steps; ";
        trials += words.str();
        if (!(record.best < best) && best < std::numeric_limits<double>::infinity()) continue;
        best = record.best;
        chosen = trial;
    }
    for (const char* name : {"checkpoint.tensors", "model.tensors", "log.csv"}) {
        fs::copy_file(chosen.out / name, options.out / name, fs::copy_options::overwrite_existing);
    }
    options.noise = chosen.noise;
    return trials.substr(0, trials.size() - 2);
}

// A training goes on with the noise that it was begun with.
double noise_of(const fs::path& checkpoint)
{
    return std::stod(TensorReader(checkpoint).text("noise"));
}

}  // namespace

void stop_soon()
{
    stop_requested = true;
}

bool train(const TrainOptions& given)
{
    TrainOptions options = with_defaults(given);
    const torch::Device device = device_named(options.device);
    options.device = device.str();
    const RecordableQueue queue(device);
    const bool goes_on = fs::exists(options.out / "checkpoint.tensors");
    if (!goes_on && fs::exists(options.out / "model.tensors")) return true;
    const MotionTensors motion = read_motion_tensors(options.motion, device);
    fs::create_directories(options.out);
    std::string trials;
    if (goes_on) options.noise = {noise_of(options.out / "checkpoint.tensors")};
    if (options.noise.size() > 1) trials = choose_noise(options, motion);
    if (!stop_requested) run(options, motion, trials);
    return !stop_requested;
}

}  // namespace springtime::baselines
