#include "springtime/evaluate.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <future>
#include <mutex>
#include <numeric>

#include "core/parallel.h"
#include "learn/meaning.h"
#include "learn/watched_error.h"
#include "motion/rank_recorder.h"
#include "sim/stepper.h"
#include "springtime/error.h"
#include "springtime/motion.h"

namespace springtime {

namespace {

using FrameErrors = std::vector<double>;  // of one rollout [m]

// What is known of one rollout.
struct Target {
    std::size_t rollout = 0;
    Rollout landmarks;       // as observed
    std::vector<bool> free;  // landmarks that nobody holds
    State landmark_start;    // of the landmarks
    State start;             // of the surrogate
    Handles handles;         // of the surrogate
};

void check_rollouts(const Motion& motion)
{
    if (motion.frame_counts.empty()) {
        throw Error("the motion has no rollouts; at least one is needed to compare with");
    }
    for (std::size_t r = 0; r < motion.frame_counts.size(); ++r) {
        if (motion.frame_counts[r] == 0) {
            throw Error("rollout {} of the motion has no frames; leave it out", r);
        }
    }
}

// A fitted size differs by some percent from the one that the motion states. More than that is
// another sheet. The size across a rope is nominal.
void check_size(const Cloth& surrogate, const Motion& motion)
{
    constexpr double kFitted = 0.2;
    const Sheet &ours = surrogate.sheet, &theirs = motion.header.sheet;
    const auto differ = [](double a, double b) { return !(std::abs(a - b) <= kFitted * b); };
    const int rows = surrogate.grid ? surrogate.grid->rows : 0;
    const int cols = surrogate.grid ? surrogate.grid->cols : 0;
    if ((cols == 1 || !differ(ours.length, theirs.length)) &&
        (rows == 1 || !differ(ours.width, theirs.width))) {
        return;
    }
    throw Error(
        "the surrogate is a sheet of {:.6g} m x {:.6g} m, but the motion is that of one of "
        "{:.6g} m x {:.6g} m; they must agree within {:.0f} %: import this recording with the rest "
        "shape of the motion file that the surrogate learned from, or both with the same length "
        "and width, or learn the surrogate from such a sheet",
        ours.length, ours.width, theirs.length, theirs.width, 100 * kFitted);
}

// Reads rollouts of a motion, one at a time. Several threads may ask at once.
class TargetReader {
  public:
    // States are those of steps of `dt`.
    TargetReader(const Motion& motion, double dt) : motion_(motion), dt_(dt) {}

    Target read(std::size_t rollout) const
    {
        Target target{rollout, read_source(rollout), {}, {}, {}, {}};
        target.landmarks.acceleration.clear();  // nothing here looks at it
        target.landmark_start = target.landmarks.state(0, motion_.header.frame_interval(), dt_);
        target.free.assign(motion_.header.landmark_count(), true);
        for (const int held : target.landmarks.handles.particles) target.free[held] = false;
        return target;
    }

    // The same, with a start and handles for the surrogate. They come from the first state of the
    // landmarks and from held landmarks alone.
    Target read(std::size_t rollout, const Cloth& surrogate, const Resampler& resampler) const
    {
        Target target = read(rollout);
        Rollout held;  // without observed paths: nothing can depend on them
        held.handles = target.landmarks.handles;
        target.start = resampler.apply(target.landmark_start);
        target.handles =
            resampler.apply(held, motion_.header.frame_interval(), target.landmark_start).handles;
        if (motion_.header.captured && !motion_.header.velocities) {
            project_onto_rest_lengths(target.start, surrogate, target.handles.particles);
        }
        return target;
    }

  private:
    Rollout read_source(std::size_t rollout) const
    {
        const std::lock_guard lock(mutex_);
        return motion_.read(rollout, 0, motion_.frame_counts[rollout]);
    }

    const Motion& motion_;
    double dt_;
    mutable std::mutex mutex_;
};

// sqrt(1/n sum |x - x*|^2) over the n free landmarks whose position x* is seen in a frame; NaN when
// there is none. [m]
double frame_error(const std::vector<Vec3d>& position, const Target& target, std::size_t frame)
{
    const float* x = &target.landmarks.position[3 * frame * position.size()];
    double sum = 0;
    std::size_t seen = 0;
    for (std::size_t l = 0; l < position.size(); ++l) {
        if (!target.free[l] || std::isnan(x[3 * l])) continue;
        const Vec3d difference = position[l] - Vec3d{x[3 * l], x[3 * l + 1], x[3 * l + 2]};
        sum += dot(difference, difference);
        ++seen;
    }
    return seen > 0 ? std::sqrt(sum / double(seen)) : std::nan("");
}

// Frames in which nothing is seen have no error and do not count.
MotionError summary_of(const std::vector<FrameErrors>& rollouts)
{
    MotionError error;
    double sum = 0, squares = 0;
    std::size_t count = 0;
    std::vector<int> reached;
    for (const FrameErrors& frames : rollouts) {
        if (frames.size() > reached.size()) {
            reached.resize(frames.size());
            error.over_time.resize(frames.size());
        }
        double rollout_sum = 0;
        std::size_t seen = 0;
        for (std::size_t f = 0; f < frames.size(); ++f) {
            if (std::isnan(frames[f])) continue;
            error.over_time[f] += frames[f];
            ++reached[f];
            rollout_sum += frames[f];
            ++seen;
        }
        error.per_rollout.push_back(seen > 0 ? rollout_sum / double(seen) : std::nan(""));
        sum += rollout_sum;
        count += seen;
    }
    if (count == 0) {
        throw Error(
            "evaluate: no frame shows a landmark that is free; the error is that of free "
            "landmarks, "
            "so give motion in which not all are held or missing");
    }
    for (std::size_t f = 0; f < reached.size(); ++f) {
        error.over_time[f] = reached[f] > 0 ? error.over_time[f] / reached[f] : std::nan("");
    }
    error.mean = sum / double(count);
    for (const FrameErrors& frames : rollouts) {
        for (const double e : frames) {
            if (!std::isnan(e)) squares += (e - error.mean) * (e - error.mean);
        }
    }
    error.std = std::sqrt(squares / double(count));
    return error;
}

// ---- What needs no model ----

// Compares the first shape of the landmarks, moved by shift(handles, frame), with every frame.
template <class Shift>
MotionError shifted_error(const Motion& motion, Shift shift)
{
    check_rollouts(motion);
    const TargetReader reader(motion, motion.header.dt);
    std::vector<FrameErrors> errors(motion.frame_counts.size());
    for (std::size_t r = 0; r < errors.size(); ++r) {
        const Target target = reader.read(r);
        for (std::size_t frame = 0; frame < motion.frame_counts[r]; ++frame) {
            std::vector<Vec3d> position = target.landmark_start.position;
            const Vec3d by = shift(target.landmarks.handles, frame);
            for (Vec3d& x : position) x = x + by;
            errors[r].push_back(frame_error(position, target, frame));
        }
    }
    return summary_of(errors);
}

Vec3d mean_handle_displacement(const Handles& handles, double time)
{
    if (!handles.moving()) return {};
    Vec3d sum{};
    for (std::size_t h = 0; h < handles.particles.size(); ++h) {
        sum = sum + (handles.position(h, time) - handles.position(h, 0));
    }
    return (1 / double(handles.particles.size())) * sum;
}

// ---- The surrogate ----

struct BlowUp {
    std::size_t rollout = 0;
    StepReport report;
};

// Runs the surrogate along all targets of a motion, batch by batch.
class Evaluator {
  public:
    Evaluator(const Cloth& surrogate, const Motion& motion, Device device, int threads,
              const Progress& progress, int substeps, const FrameWatcher& watcher,
              const MakeRecorder& make_recorder)
        : surrogate_(surrogate),
          resampler_(surrogate, motion.header),
          landmarks_(surrogate, motion.header),
          reader_(motion, motion.header.dt / substeps),
          step_{motion.header.dt / substeps, motion.header.environment, device},
          stride_(motion.header.stride * substeps),
          threads_(thread_count(threads)),
          progress_(progress),
          watcher_(watcher),
          order_(motion.frame_counts.size()),
          errors_(motion.frame_counts.size())
    {
        // Longest first, so that lanes of a batch end together, or the later ones before the
        // earlier ones.
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
            return motion.frame_counts[a] > motion.frame_counts[b];
        });
        for (const std::size_t frames : motion.frame_counts) frames_total_ += double(frames);
        const std::size_t longest = motion.frame_counts[order_[0]];
        recorder_ = make_recorder(surrogate, step_, order_.size(), (longest - 1) * stride_);
        width_ = batch_width(longest);
    }

    MotionError run();

  private:
    std::size_t batch_width(std::size_t frames) const;
    int batch_count() const { return int((order_.size() + width_ - 1) / width_); }
    void run_batch(int batch);
    void run_recorder();
    bool record_batch(int batch, const std::vector<Target>& targets);
    void compare(const Target& target, const BatchRecorder::Frames& recorded);
    std::vector<Target> read_batch(int batch) const;
    void note_blow_up(int batch, const BlowUp& blow_up);
    void report_frames(double count);
    [[noreturn]] void fail() const;

    const Cloth& surrogate_;
    Resampler resampler_;
    LandmarkMap landmarks_;
    TargetReader reader_;
    SimulationOptions step_;
    int stride_, threads_;
    const Progress& progress_;
    const FrameWatcher& watcher_;
    std::unique_ptr<BatchRecorder> recorder_;  // null: steppers
    std::vector<BatchRecorder::Frames> recorded_;
    std::vector<std::size_t> order_;   // rollouts as the batches take them
    std::vector<FrameErrors> errors_;  // by rollout; each is filled by one thread
    std::size_t width_ = 1;

    std::mutex mutex_;  // of what follows
    double frames_done_ = 0, frames_total_ = 0;
    std::atomic<int> first_bad_batch_{-1};
    BlowUp blow_up_;
};

// As many lanes as the stepper or the recorder likes, out of 256 MiB of targets. The number of
// threads has no say, so that whichever rollout of a batch blows up first is the same for all.
std::size_t Evaluator::batch_width(std::size_t frames) const
{
    const double bytes = double(frames) * double(landmarks_.landmark_count()) * 3 * sizeof(float);
    const auto lanes = std::size_t(recorder_ ? recorder_->lane_count()
                                             : make_batch_stepper(surrogate_, step_)->lane_count());
    return std::clamp(std::size_t(0x1p28 / bytes), std::size_t{1}, lanes);
}

std::vector<Target> Evaluator::read_batch(int batch) const
{
    const std::size_t begin = batch * width_, end = std::min(begin + width_, order_.size());
    std::vector<Target> targets;
    for (std::size_t i = begin; i < end; ++i) {
        targets.push_back(reader_.read(order_[i], surrogate_, resampler_));
    }
    return targets;
}

void Evaluator::run_batch(int batch)
{
    const std::vector<Target> targets = read_batch(batch);
    const auto stepper = make_batch_stepper(surrogate_, step_);
    std::vector<State> states;
    std::vector<Handles> handles;
    for (std::size_t lane = 0; lane < targets.size(); ++lane) {
        handles.push_back(targets[lane].handles);
        states.push_back(with_handles(targets[lane].start, handles[lane], step_.dt));
        stepper->load(int(lane), states[lane], handles[lane]);
        stepper->store(int(lane), states[lane]);  // in the precision it runs in
    }
    for (std::size_t frame = 0; frame < targets[0].landmarks.frame_count; ++frame) {
        // A lane whose target has ended may run on unwatched.
        while (targets[states.size() - 1].landmarks.frame_count <= frame) states.pop_back();
        if (frame > 0) {
            auto report =
                advance_checked(*stepper, states, handles, stride_, surrogate_, step_.dt,
                                [&](double share) { report_frames(share * states.size()); });
            if (report) {
                report->step += long(frame - 1) * stride_;
                return note_blow_up(batch, {targets[report->lane].rollout, *report});
            }
        }
        for (std::size_t lane = 0; lane < states.size(); ++lane) {
            const double error =
                frame_error(landmarks_.apply(states[lane].position), targets[lane], frame);
            errors_[targets[lane].rollout].push_back(error);
            if (watcher_) watcher_(targets[lane].rollout, frame, states[lane], error);
        }
        if (frame == 0) report_frames(states.size());
    }
}

// One batch after the other, and the next is read meanwhile.
void Evaluator::run_recorder()
{
    const auto read_ahead = [&](int batch) {
        return std::async(std::launch::async, [this, batch] {
            return batch < batch_count() ? read_batch(batch) : std::vector<Target>{};
        });
    };
    auto coming = read_ahead(0);
    for (int batch = 0; batch < batch_count() && first_bad_batch_ < 0; ++batch) {
        const std::vector<Target> targets = coming.get();
        coming = read_ahead(batch + 1);
        if (!record_batch(batch, targets)) run_batch(batch);
    }
}

// False if a lane blows up behind the end of its target, which does no harm: steppers look away
// then.
bool Evaluator::record_batch(int batch, const std::vector<Target>& targets)
{
    std::vector<BatchRecorder::Start> starts;
    double frames = 0;
    for (const Target& target : targets) {
        starts.push_back({&target.start, &target.handles});
        frames += double(target.landmarks.frame_count);
    }
    const double before = frames_done_;
    const auto report = recorder_->record(
        starts, targets[0].landmarks.frame_count, stride_, false, recorded_,
        [&](double share) { report_frames(before + share * frames - frames_done_); });
    if (report) {
        const Target& target = targets[std::size_t(report->lane)];
        frames_done_ = before;
        if (report->step > long(target.landmarks.frame_count - 1) * stride_) return false;
        note_blow_up(batch, {target.rollout, *report});
        return true;
    }
    parallel_for(int(targets.size()), threads_, [&](int lane) {
        compare(targets[std::size_t(lane)], recorded_[std::size_t(lane)]);
    });
    return true;
}

void Evaluator::compare(const Target& target, const BatchRecorder::Frames& recorded)
{
    const std::size_t particles = surrogate_.particle_count();
    const auto vectors = [&](const std::vector<float>& values, std::size_t frame) {
        std::vector<Vec3d> result(particles);
        const float* x = &values[3 * frame * particles];
        for (Vec3d& a : result) {
            a = {x[0], x[1], x[2]};
            x += 3;
        }
        return result;
    };
    for (std::size_t frame = 0; frame < target.landmarks.frame_count; ++frame) {
        State state{target.start.time + double(frame) * stride_ * step_.dt,
                    vectors(recorded.position, frame),
                    {}};
        const double error = frame_error(landmarks_.apply(state.position), target, frame);
        errors_[target.rollout].push_back(error);
        if (!watcher_) continue;
        state.velocity = vectors(recorded.velocity, frame);
        watcher_(target.rollout, frame, state, error);
    }
}

// Of several batches in which something blows up the first counts, whoever comes to it when.
void Evaluator::note_blow_up(int batch, const BlowUp& blow_up)
{
    const std::lock_guard lock(mutex_);
    if (first_bad_batch_ >= 0 && first_bad_batch_ < batch) return;
    first_bad_batch_ = batch;
    blow_up_ = blow_up;
}

void Evaluator::report_frames(double count)
{
    const std::lock_guard lock(mutex_);
    frames_done_ += count;
    progress_.report({"evaluate", frames_done_, frames_total_, "frames", {}});
}

void Evaluator::fail() const
{
    const StepReport& report = blow_up_.report;
    throw Failure(
        "rollout {}: the surrogate blew up: particle {} was the first to leave all bounds, in step "
        "{} at {:.6g} s, with a time step of {:.3g} s; its own largest stable step is about {:.3g} "
        "s. Cut the step into sub-steps, or lower its stiffness and damping",
        blow_up_.rollout, report.particle, report.step, report.time, step_.dt,
        largest_stable_step(surrogate_, step_.environment));
}

MotionError Evaluator::run()
{
    if (recorder_) {
        run_recorder();
    } else {
        parallel_for(batch_count(), threads_, [&](int batch) {
            const int bad = first_bad_batch_;
            if (bad >= 0 && bad < batch) return;
            run_batch(batch);
        });
    }
    if (first_bad_batch_ >= 0) fail();
    return summary_of(errors_);
}

}  // namespace

MotionError surrogate_error(const Cloth& surrogate, const Motion& motion, Device device,
                            int threads, const Progress& progress, int substeps, Crew* crew)
{
    // Recorded frames are single precision.
    const bool alone = !crew || device == Device::reference || surrogate.rod;
    if (alone) return watched_error(surrogate, motion, device, threads, progress, substeps, {});
    return watched_error(surrogate, motion, device, threads, progress, substeps, {},
                         [&](const Cloth& cloth, const SimulationOptions& step,
                             std::size_t rollouts, std::size_t steps) {
                             return make_rank_recorder(*crew, cloth, step, rollouts, steps,
                                                       threads);
                         });
}

MotionError watched_error(const Cloth& surrogate, const Motion& motion, Device device, int threads,
                          const Progress& progress, int substeps, const FrameWatcher& watcher,
                          const MakeRecorder& make_recorder)
{
    check_cloth(surrogate, "surrogate");
    if (!surrogate.globals) check_size(surrogate, motion);  // else with_globals() compares sizes
    check_rollouts(motion);
    if (motion.header.contact) {
        throw Error(
            "evaluate: in this motion the cloth could touch obstacles or itself, which the "
            "surrogate would pass through; evaluate on motion without contact");
    }
    check_some_free(motion, "evaluate");
    if (substeps < 1) throw Error("evaluate: {} sub-steps; at least 1 is needed", substeps);
    const Motion corrected = surrogate.globals ? with_globals(motion, *surrogate.globals) : motion;
    return Evaluator(surrogate, corrected, device, threads, progress, substeps, watcher,
                     make_recorder)
        .run();
}

MotionError static_error(const Motion& motion)
{
    return shifted_error(motion, [](const Handles&, std::size_t) { return Vec3d{}; });
}

MotionError handles_error(const Motion& motion)
{
    const double interval = motion.header.frame_interval();
    return shifted_error(motion, [&](const Handles& handles, std::size_t frame) {
        return mean_handle_displacement(handles, double(frame) * interval);
    });
}

namespace {

// A sentence if `ours` is no better than a baseline.
std::optional<std::string> loss_to(const char* name, double baseline, double ours)
{
    if (ours < baseline) return std::nullopt;  // written so that NaN loses
    return fmt::format("this cloth is no better than {}: {:.4g} m against {:.4g} m", name, ours,
                       baseline);
}

constexpr const char* kStatic = "a motion in which nothing moves";
constexpr const char* kFollows = "the first shape moved along with its handles";

}  // namespace

double TrivialErrors::best() const
{
    return std::min(nothing_moves, with_handles);
}

TrivialErrors trivial_errors(const Motion& motion)
{
    return {static_error(motion).mean, handles_error(motion).mean};
}

std::optional<std::string> loses_to_trivial(double motion_rmse, const TrivialErrors& trivial)
{
    if (const auto text = loss_to(kStatic, trivial.nothing_moves, motion_rmse)) return text;
    return loss_to(kFollows, trivial.with_handles, motion_rmse);
}

void compare_with_motion(const Cloth& cloth, const Motion& motion, const EvaluateOptions& options,
                         Evaluation& evaluation, const Progress& progress)
{
    const MotionHeader& header = motion.header;
    const int usual = header.captured ? stable_substeps(cloth, header.environment, header.dt) : 1;
    evaluation.rollouts = motion.rollout_count();
    evaluation.frames =
        std::accumulate(motion.frame_counts.begin(), motion.frame_counts.end(), std::size_t{0});
    evaluation.frame_interval = header.frame_interval();
    evaluation.surrogate = surrogate_error(cloth, motion, options.device, options.threads, progress,
                                           options.substeps.value_or(usual), options.crew);
    evaluation.nothing_moves = static_error(motion);
    evaluation.with_handles = handles_error(motion);
}

void compare_with_truth(const Cloth& cloth, const Cloth& truth, Evaluation& evaluation)
{
    if (truth.springs.spring_count() > 0) {
        evaluation.parameters = parameter_errors(cloth, truth);
    } else if (cloth.triangles.triangle_count() > 0) {
        try {
            evaluation.parameters = parameter_errors(cloth, truth);
        } catch (const Error& error) {
            evaluation.remarks.push_back(
                fmt::format("parameters are not compared: {}", error.what()));
        }
    }
    if (cloth.grid) evaluation.map_correlation = map_correlation(cloth, truth);
}

std::vector<std::string> warnings_of(const Evaluation& evaluation)
{
    std::vector<std::string> warnings;
    const auto compare = [&](const char* name, const MotionError& baseline) {
        const auto text = loss_to(name, baseline.mean, evaluation.surrogate.mean);
        if (text) warnings.push_back(*text);
    };
    compare(kStatic, evaluation.nothing_moves);
    compare(kFollows, evaluation.with_handles);
    if (evaluation.homogeneous) compare("the homogeneous network", *evaluation.homogeneous);
    return warnings;
}

}  // namespace springtime
