#include "springtime/evaluate.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <numeric>

#include "core/parallel.h"
#include "sim/stepper.h"
#include "springtime/error.h"
#include "springtime/motion.h"

namespace springtime {

namespace {

using FrameErrors = std::vector<double>;  // of one rollout [m]

// What the surrogate should do in one rollout.
struct Target {
    std::size_t rollout = 0, frame_count = 0;
    std::vector<float> position;  // frames x particles x 3 [m]
    State start;
    Handles handles;
};

void check_motion(const Cloth& surrogate, const Motion& motion)
{
    check_cloth(surrogate, "surrogate");
    const Sheet &ours = surrogate.sheet, &theirs = motion.header.sheet;
    const auto differ = [](double a, double b) { return !(std::abs(a - b) <= 0.01 * b); };
    if (differ(ours.length, theirs.length) || differ(ours.width, theirs.width)) {
        throw Error(
            "the surrogate is a sheet of {:.6g} m x {:.6g} m, but the motion is that of one of "
            "{:.6g} m x {:.6g} m; they must agree within 1 %: import this recording with the rest "
            "shape of the motion file that the surrogate learned from, or both with the same "
            "length "
            "and width, or learn the surrogate from such a sheet",
            ours.length, ours.width, theirs.length, theirs.width);
    }
    if (motion.frame_counts.empty()) {
        throw Error("the motion has no rollouts; at least one is needed to compare with");
    }
    for (std::size_t r = 0; r < motion.frame_counts.size(); ++r) {
        if (motion.frame_counts[r] == 0) {
            throw Error("rollout {} of the motion has no frames; leave it out", r);
        }
    }
}

// Rollouts of a motion, one at a time, at the particles of the surrogate.
class TargetReader {
  public:
    // The surrogate runs with steps of `dt`.
    TargetReader(const Cloth& surrogate, const Motion& motion, double dt)
        : surrogate_(surrogate),
          motion_(motion),
          dt_(dt),
          resampler_(motion.header.rest, surrogate.rest)
    {
    }

    // Several threads may call it at once.
    Target read(std::size_t rollout) const
    {
        Rollout landmarks = read_source(rollout);
        landmarks.acceleration.clear();  // nothing here looks at it
        const double interval = motion_.header.frame_interval();
        State start = resampler_.apply(landmarks.state(0, interval, dt_));
        Rollout particles = resampler_.apply(landmarks, interval);
        return {rollout, particles.frame_count, std::move(particles.position), std::move(start),
                std::move(particles.handles)};
    }

    // The same, for the surrogate to start from.
    Target read_projected(std::size_t rollout) const
    {
        Target target = read(rollout);
        if (motion_.header.captured && !motion_.header.velocities) {
            project_onto_rest_lengths(target.start, surrogate_, target.handles.particles);
        }
        return target;
    }

  private:
    Rollout read_source(std::size_t rollout) const
    {
        const std::lock_guard lock(mutex_);
        return motion_.read(rollout, 0, motion_.frame_counts[rollout]);
    }

    const Cloth& surrogate_;
    const Motion& motion_;
    double dt_;
    Resampler resampler_;
    mutable std::mutex mutex_;
};

// sqrt(1/n sum |x - x*|^2) over the n particles of a frame whose target x* is seen; NaN when none
// is. [m]
double frame_error(const std::vector<Vec3d>& position, const Target& target, std::size_t frame)
{
    const float* x = &target.position[3 * frame * position.size()];
    double sum = 0;
    std::size_t seen = 0;
    for (std::size_t p = 0; p < position.size(); ++p) {
        if (std::isnan(x[3 * p])) continue;
        const Vec3d difference = position[p] - Vec3d{x[3 * p], x[3 * p + 1], x[3 * p + 2]};
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
            "evaluate: no frame shows any particle of the surrogate whole; choose a grid whose "
            "particles lie on landmarks, or motion with fewer gaps");
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

// Compares the first shape, moved by shift(target, frame), with every frame.
template <class Shift>
MotionError shifted_error(const Cloth& surrogate, const Motion& motion, Shift shift)
{
    check_motion(surrogate, motion);
    const TargetReader reader(surrogate, motion, motion.header.dt);
    std::vector<FrameErrors> errors(motion.frame_counts.size());
    for (std::size_t r = 0; r < errors.size(); ++r) {
        const Target target = reader.read(r);
        for (std::size_t frame = 0; frame < target.frame_count; ++frame) {
            std::vector<Vec3d> position = target.start.position;
            const Vec3d by = shift(target, frame);
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
              const Progress& progress, int substeps)
        : surrogate_(surrogate),
          reader_(surrogate, motion, motion.header.dt / substeps),
          step_{motion.header.dt / substeps, motion.header.environment, device},
          stride_(motion.header.stride * substeps),
          threads_(thread_count(threads)),
          progress_(progress),
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
        width_ = batch_width(motion.frame_counts[order_[0]]);
    }

    MotionError run();

  private:
    std::size_t batch_width(std::size_t frames) const;
    void run_batch(int batch);
    std::vector<Target> read_batch(int batch) const;
    void note_blow_up(int batch, const BlowUp& blow_up);
    void report_frames(std::size_t count);
    [[noreturn]] void fail() const;

    const Cloth& surrogate_;
    TargetReader reader_;
    SimulationOptions step_;
    int stride_, threads_;
    const Progress& progress_;
    std::vector<std::size_t> order_;   // rollouts as the batches take them
    std::vector<FrameErrors> errors_;  // by rollout; each is filled by one thread
    std::size_t width_ = 1;

    std::mutex mutex_;  // of what follows
    double frames_done_ = 0, frames_total_ = 0;
    std::atomic<int> first_bad_batch_{-1};
    BlowUp blow_up_;
};

// As many lanes as the stepper likes, out of 256 MiB of targets. The number of threads has no say,
// so that whichever rollout of a batch blows up first is the same for all.
std::size_t Evaluator::batch_width(std::size_t frames) const
{
    const double bytes = double(frames) * double(surrogate_.particle_count()) * 3 * sizeof(float);
    const auto lanes = std::size_t(make_batch_stepper(surrogate_, step_)->lane_count());
    return std::clamp(std::size_t(0x1p28 / bytes), std::size_t{1}, lanes);
}

std::vector<Target> Evaluator::read_batch(int batch) const
{
    const std::size_t begin = batch * width_, end = std::min(begin + width_, order_.size());
    std::vector<Target> targets;
    for (std::size_t i = begin; i < end; ++i) targets.push_back(reader_.read_projected(order_[i]));
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
    for (std::size_t frame = 0; frame < targets[0].frame_count; ++frame) {
        // A lane whose target has ended may run on unwatched.
        while (targets[states.size() - 1].frame_count <= frame) states.pop_back();
        if (frame > 0) {
            auto report = advance_checked(*stepper, states, handles, stride_, surrogate_, step_.dt);
            if (report) {
                report->step += long(frame - 1) * stride_;
                return note_blow_up(batch, {targets[report->lane].rollout, *report});
            }
        }
        for (std::size_t lane = 0; lane < states.size(); ++lane) {
            errors_[targets[lane].rollout].push_back(
                frame_error(states[lane].position, targets[lane], frame));
        }
        report_frames(states.size());
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

void Evaluator::report_frames(std::size_t count)
{
    const std::lock_guard lock(mutex_);
    frames_done_ += double(count);
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
    const int batches = int((order_.size() + width_ - 1) / width_);
    parallel_for(batches, threads_, [&](int batch) {
        const int bad = first_bad_batch_;
        if (bad >= 0 && bad < batch) return;
        run_batch(batch);
    });
    if (first_bad_batch_ >= 0) fail();
    return summary_of(errors_);
}

// ---- Parameters ----

void check_same_springs(const SpringSet& ours, const SpringSet& theirs)
{
    if (ours.spring_count() != theirs.spring_count()) {
        throw Error(
            "the cloth has {} springs, but the truth has {}; compare cloths of one grid with the "
            "same families",
            ours.spring_count(), theirs.spring_count());
    }
    for (std::size_t s = 0; s < ours.spring_count(); ++s) {
        if (ours.ends[s] == theirs.ends[s] && ours.family[s] == theirs.family[s]) continue;
        throw Error(
            "spring {} of the cloth is {} from particle {} to {}, but that of the truth is {} from "
            "{} to {}; compare cloths of one grid with the same families",
            s, name_of(ours.family[s]), ours.ends[s][0], ours.ends[s][1], name_of(theirs.family[s]),
            theirs.ends[s][0], theirs.ends[s][1]);
    }
}

struct SquareMean {
    double sum = 0;
    std::size_t count = 0;

    void add(double difference)
    {
        sum += difference * difference;
        ++count;
    }
    double root() const { return count == 0 ? 0 : std::sqrt(sum / double(count)); }
};

ParameterError compare(const Cloth& cloth, const Parameter& parameter,
                       const std::vector<double>& truth)
{
    const std::vector<double>& values = values_of(cloth, parameter);
    ParameterError error{parameter.kind, label_of(cloth, parameter), 0, {}};
    SquareMean all;
    for (const auto& [name, members] : families_of(cloth, parameter.kind->element)) {
        SquareMean part;
        for (const std::size_t e : members) part.add(values[e] - truth[e]);
        error.by_family[std::string(name)] = part.root();
    }
    for (std::size_t e = 0; e < values.size(); ++e) all.add(values[e] - truth[e]);
    error.all = all.root();
    return error;
}

}  // namespace

MotionError surrogate_error(const Cloth& surrogate, const Motion& motion, Device device,
                            int threads, const Progress& progress, int substeps)
{
    check_motion(surrogate, motion);
    if (motion.header.contact) {
        throw Error(
            "evaluate: in this motion the cloth could touch obstacles or itself, which the "
            "surrogate would pass through; evaluate on motion without contact");
    }
    if (substeps < 1) throw Error("evaluate: {} sub-steps; at least 1 is needed", substeps);
    return Evaluator(surrogate, motion, device, threads, progress, substeps).run();
}

MotionError static_error(const Cloth& surrogate, const Motion& motion)
{
    return shifted_error(surrogate, motion, [](const Target&, std::size_t) { return Vec3d{}; });
}

MotionError handles_error(const Cloth& surrogate, const Motion& motion)
{
    const double interval = motion.header.frame_interval();
    return shifted_error(surrogate, motion, [&](const Target& target, std::size_t frame) {
        return mean_handle_displacement(target.handles, double(frame) * interval);
    });
}

std::vector<ParameterError> parameter_errors(const Cloth& cloth, const Cloth& truth)
{
    if (truth.springs.spring_count() == 0 && truth.triangles.triangle_count() > 0) {
        throw Error(
            "the truth is a sheet of finite elements, without springs to compare with; compare the "
            "motion alone");
    }
    check_same_springs(cloth.springs, truth.springs);
    const std::size_t ours = cloth.bends.bend_count(), theirs = truth.bends.bend_count();
    if (ours > 0 && theirs > 0 && cloth.bends.particles != truth.bends.particles) {
        throw Error(
            "the cloth has {} bends, but the truth has {}, or they join other particles; compare "
            "cloths of one grid",
            ours, theirs);
    }
    std::vector<ParameterError> errors;
    for (const Parameter& found : learned_parameters(cloth)) {
        for (const Parameter& expected : learned_parameters(truth)) {
            if (found.kind != expected.kind ||
                label_of(cloth, found) != label_of(truth, expected)) {
                continue;
            }
            errors.push_back(compare(cloth, found, values_of(truth, expected)));
        }
    }
    return errors;
}

std::vector<std::string> warnings_of(const Evaluation& evaluation)
{
    std::vector<std::string> warnings;
    const double ours = evaluation.surrogate.mean;
    const auto compare = [&](const MotionError& baseline, const char* name) {
        if (ours < baseline.mean) return;
        warnings.push_back(fmt::format("this cloth is no better than {}: {:.4g} m against {:.4g} m",
                                       name, ours, baseline.mean));
    };
    compare(evaluation.nothing_moves, "a motion in which nothing moves");
    compare(evaluation.with_handles, "the first shape moved along with its handles");
    if (evaluation.homogeneous) compare(*evaluation.homogeneous, "the homogeneous network");
    return warnings;
}

}  // namespace springtime
