#include "learn/capture_run.h"

#include <algorithm>
#include <cmath>

#include "core/quantile.h"
#include "learn/gradient.h"
#include "motion/tracker_bias.h"
#include "sim/global_adjoint.h"
#include "sim/stepper.h"
#include "sim/tape.h"
#include "springtime/error.h"

namespace springtime {

namespace {

using Eigen::VectorXd;

// As many recordings, and as much of each, as one fit needs.
Motion recordings_in_memory(const Motion& motion)
{
    constexpr std::size_t kMostRollouts = 16;
    constexpr double kMostSeconds = 30;
    const auto most = std::size_t(kMostSeconds / motion.header.frame_interval()) + 2;
    std::vector<Rollout> rollouts;
    for (std::size_t r = 0; r < std::min(motion.rollout_count(), kMostRollouts); ++r) {
        rollouts.push_back(motion.read(r, 0, std::min(motion.frame_counts[r], most)));
        rollouts.back().acceleration.clear();
    }
    return Motion::from_rollouts(motion.header, std::move(rollouts));
}

// (b - a) . adjoint, for parts of a state.
double change(const std::vector<Vec3d>& a, const std::vector<Vec3d>& b,
              const std::vector<Vec3d>& adjoint)
{
    double sum = 0;
    for (std::size_t p = 0; p < a.size(); ++p) sum += dot(b[p] - a[p], adjoint[p]);
    return sum;
}

// The same for all poses of held particles, from the last step to the first.
double change(const Handles& a, const Handles& b, const std::vector<HeldAdjoint>& adjoint,
              int steps, double dt)
{
    if (!a.moving()) return 0;
    double sum = 0;
    std::size_t i = 0;
    for (int step = steps; step >= 0; --step) {
        for (std::size_t h = 0; h < a.particles.size(); ++h, ++i) {
            const HandlePose from = handle_pose(a, h, step * dt, dt);
            const HandlePose to = handle_pose(b, h, step * dt, dt);
            sum += dot(to.position - from.position, adjoint[i].position) +
                   dot(to.velocity - from.velocity, adjoint[i].velocity);
        }
    }
    return sum;
}

template <class Real>
std::unique_ptr<Tape<Real>> tape_for(const Cloth& cloth, const SimulationOptions& options)
{
    if constexpr (std::is_same_v<Real, float>) {
        return make_fast_tape(cloth, options);
    } else {
        return make_reference_tape(cloth, options);
    }
}

}  // namespace

CaptureRun::CaptureRun(const Motion& motion, Device device)
    : motion_(recordings_in_memory(motion)), device_(device)
{
    for (std::size_t r = 0; r < motion_.rollout_count(); ++r) {
        const Rollout rollout = motion_.read(r, 0, motion_.frame_counts[r]);
        std::vector<bool> free(motion_.header.landmark_count(), true);
        for (const int held : rollout.handles.particles) free[std::size_t(held)] = false;
        for (std::size_t f = 0; f < rollout.frame_count; ++f) {
            for (std::size_t l = 0; l < free.size(); ++l) {
                if (free[l] && rollout.seen(f, l)) all_.push_back({r, f, l});
            }
        }
        free_count_ = std::max(free_count_, double(std::count(free.begin(), free.end(), true)));
    }
    seen_ = all_;
    if (seen_.empty()) {
        throw Error(
            "globals: no recording shows a landmark that is free; give motion in which not all are "
            "held or missing");
    }
}

void CaptureRun::set_horizon(double seconds)
{
    horizon_ = std::size_t(seconds / motion_.header.frame_interval()) + 2;
    seen_.clear();
    for (const Seen& seen : all_) {
        if (seen.frame < horizon_) seen_.push_back(seen);
    }
}

double CaptureRun::longest() const
{
    return double(*std::max_element(motion_.frame_counts.begin(), motion_.frame_counts.end())) *
           motion_.header.frame_interval();
}

double CaptureRun::correlated() const
{
    constexpr double kSeconds = 0.4;
    return free_count_ * std::max(1.0, kSeconds / motion_.header.frame_interval());
}

std::optional<int> CaptureRun::substeps(const Cloth& cloth) const
{
    const Environment environment = with_globals(motion_, *cloth.globals).header.environment;
    return laddered_substeps(cloth, environment, motion_.header.dt);
}

CaptureRun::Inputs CaptureRun::inputs(const Cloth& cloth, int substeps, std::size_t first,
                                      std::size_t count) const
{
    const Motion corrected = with_globals(motion_, *cloth.globals);
    const MotionHeader& header = corrected.header;
    const double interval = header.frame_interval(), dt = header.dt / substeps;
    const Resampler resampler(cloth, header);
    Inputs inputs{cloth, {dt, header.environment, device_}, {}, {}, {}};
    for (std::size_t r = first; r < first + count; ++r) {
        const Rollout rollout = corrected.read(r, 0, corrected.frame_counts[r]);
        const State landmarks = rollout.state(0, interval, dt);
        Rollout held;  // without observed paths: nothing can depend on them
        held.handles = rollout.handles;
        const Handles handles = resampler.apply(held, interval, landmarks).handles;
        State start = resampler.apply(landmarks);
        if (!header.velocities) project_onto_rest_lengths(start, cloth, handles.particles);
        inputs.starts.push_back(with_handles(std::move(start), handles, dt));
        inputs.handles.push_back(handles);
        inputs.observed.push_back(rollout.position);
    }
    return inputs;
}

bool CaptureRun::run_batch(const Inputs& inputs, int substeps, std::size_t first,
                           std::vector<std::vector<double>>& predicted) const
{
    const LandmarkMap map(inputs.cloth, motion_.header);
    const auto stepper = make_batch_stepper(inputs.cloth, inputs.options);
    std::vector<State> states = inputs.starts;
    std::size_t frames = 0;
    for (std::size_t lane = 0; lane < states.size(); ++lane) {
        stepper->load(int(lane), states[lane], inputs.handles[lane]);
        predicted[first + lane].resize(number_count(first + lane));
        frames = std::max(frames, frames_of(first + lane));
    }
    const double limit = largest_speed(inputs.cloth.sheet, inputs.options.dt);
    for (std::size_t f = 0; f < frames; ++f) {
        if (f > 0) {
            stepper->advance(motion_.header.stride * substeps);
            if (store_checked(*stepper, states, limit)) return false;
        }
        for (std::size_t lane = 0; lane < states.size(); ++lane) {
            if (f >= frames_of(first + lane)) continue;
            const std::vector<Vec3d> landmarks = map.apply(states[lane].position);
            double* to = &predicted[first + lane][3 * f * landmarks.size()];
            for (const Vec3d& x : landmarks) {
                for (int axis = 0; axis < 3; ++axis) *to++ = x[axis];
            }
        }
    }
    return true;
}

std::size_t CaptureRun::lane_count(const Cloth& cloth) const
{
    const SimulationOptions options{motion_.header.dt, motion_.header.environment, device_};
    return std::size_t(make_batch_stepper(cloth, options)->lane_count());
}

std::optional<VectorXd> CaptureRun::residuals(const Cloth& cloth, int substeps) const
{
    std::vector<std::vector<double>> predicted(motion_.rollout_count());
    std::vector<std::vector<float>> observed;
    const std::size_t lanes = lane_count(cloth);
    for (std::size_t first = 0; first < predicted.size(); first += lanes) {
        const std::size_t count = std::min(lanes, predicted.size() - first);
        const Inputs inputs = this->inputs(cloth, substeps, first, count);
        if (!run_batch(inputs, substeps, first, predicted)) return std::nullopt;
        observed.insert(observed.end(), inputs.observed.begin(), inputs.observed.end());
    }
    VectorXd result(Eigen::Index(3 * seen_.size()));
    for (std::size_t i = 0; i < seen_.size(); ++i) {
        const auto [rollout, frame, landmark] = seen_[i];
        const std::size_t at = 3 * (frame * motion_.header.landmark_count() + landmark);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            result[Eigen::Index(3 * i + axis)] =
                predicted[rollout][at + axis] - double(observed[rollout][at + axis]);
        }
    }
    return result;
}

// dF/dq = sum over all that goes into a run of (adjoint) . d(input)/dq. The inputs are cheap to
// make, so their derivatives are central differences.
template <class Real>
void CaptureRun::add_gradient(const GlobalModel& model, const std::vector<double>& values,
                              int substeps, const std::vector<std::vector<double>>& by_position,
                              std::size_t first, std::size_t count, VectorXd& gradient) const
{
    const Inputs now = inputs(model.cloth(values), substeps, first, count);
    const LandmarkMap map(now.cloth, motion_.header);
    const auto tape = tape_for<Real>(now.cloth, now.options);
    const auto width = std::size_t(tape->lane_count());
    const std::size_t landmarks = motion_.header.landmark_count();
    const int stride = motion_.header.stride * substeps;
    std::size_t frames = 0;
    for (std::size_t lane = 0; lane < count; ++lane) {
        frames = std::max(frames, frames_of(first + lane));
    }
    const int steps = int(frames - 1) * stride;
    tape->set_parameters(parameters_of(now.cloth));
    tape->begin(steps);
    for (std::size_t lane = 0; lane < count; ++lane) {
        tape->load(int(lane), now.starts[lane], now.handles[lane]);
    }
    tape->advance(steps);
    tape->begin_back();
    GlobalRetreat<Real> back(*tape, now.cloth, now.options, now.handles);
    std::vector<Real> adjoint(landmarks * 3 * width);
    for (std::size_t f = frames; f-- > 0;) {
        std::fill(adjoint.begin(), adjoint.end(), Real(0));
        for (std::size_t lane = 0; lane < count; ++lane) {
            if (f >= frames_of(first + lane)) continue;
            for (std::size_t i = 0; i < 3 * landmarks; ++i) {
                adjoint[i * width + lane] = Real(by_position[first + lane][3 * landmarks * f + i]);
            }
        }
        map.add_adjoint(adjoint.data(), width, tape->position_adjoint().data());
        if (f > 0) back.retreat(stride);
    }
    back.end();
    std::vector<State> start_adjoint(count);
    for (std::size_t lane = 0; lane < count; ++lane) {
        for (std::size_t p = 0; p < now.cloth.particle_count(); ++p) {
            const auto at = [&](std::span<Real> array) {
                const Real* x = &array[p * 3 * width + lane];
                return Vec3d{double(x[0]), double(x[width]), double(x[2 * width])};
            };
            start_adjoint[lane].position.push_back(at(tape->position_adjoint()));
            start_adjoint[lane].velocity.push_back(at(tape->velocity_adjoint()));
        }
    }
    ParameterValues by_parameter = parameters_of(now.cloth);
    for (auto& kind : by_parameter) std::fill(kind.begin(), kind.end(), 0.0);
    tape->add_gradient(by_parameter);
    for (std::size_t j = 0; j < values.size(); ++j) {
        const double h = 0.1 * model.unknowns()[j].step;
        const auto moved = [&](double by) {
            std::vector<double> other = values;
            other[j] += by;
            return inputs(model.cloth(other), substeps, first, count);
        };
        const Inputs low = moved(-h), high = moved(h);
        double sum = 0;
        const ParameterValues a = parameters_of(low.cloth), b = parameters_of(high.cloth);
        for (std::size_t k = 0; k < a.size(); ++k) {
            for (std::size_t e = 0; e < a[k].size(); ++e) {
                sum += (b[k][e] - a[k][e]) * by_parameter[k][e];
            }
        }
        const Environment &from = low.options.environment, &to = high.options.environment;
        for (std::size_t lane = 0; lane < count; ++lane) {
            const GlobalAdjoint& by = back.lanes()[lane];
            sum += dot(to.gravity - from.gravity, by.gravity) + (to.drag - from.drag) * by.drag;
            for (std::size_t s = 0; s < by.rest_length.size(); ++s) {
                sum += (high.cloth.springs.rest_length[s] - low.cloth.springs.rest_length[s]) *
                       by.rest_length[s];
            }
            sum += change(low.handles[lane], high.handles[lane], by.held, steps, now.options.dt);
            const std::vector<double>& by_seen = by_position[first + lane];
            for (std::size_t i = 0; i < by_seen.size(); ++i) {
                if (by_seen[i] == 0) continue;  // not seen, maybe
                sum -= by_seen[i] * (high.observed[lane][i] - low.observed[lane][i]);
            }
            sum += change(low.starts[lane].position, high.starts[lane].position,
                          start_adjoint[lane].position) +
                   change(low.starts[lane].velocity, high.starts[lane].velocity,
                          start_adjoint[lane].velocity);
        }
        gradient[Eigen::Index(j)] += sum / (2 * h);
    }
}

VectorXd CaptureRun::gradient(const GlobalModel& model, const std::vector<double>& values,
                              int substeps, const VectorXd& by_residual) const
{
    std::vector<std::vector<double>> by_position;
    for (std::size_t r = 0; r < motion_.rollout_count(); ++r) {
        by_position.emplace_back(number_count(r), 0.0);
    }
    for (std::size_t i = 0; i < seen_.size(); ++i) {
        const auto [rollout, frame, landmark] = seen_[i];
        const std::size_t at = 3 * (frame * motion_.header.landmark_count() + landmark);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            by_position[rollout][at + axis] = by_residual[Eigen::Index(3 * i + axis)];
        }
    }
    VectorXd result = VectorXd::Zero(Eigen::Index(values.size()));
    const bool plain = device_ == Device::reference;
    const Cloth cloth = model.cloth(values);
    const SimulationOptions options{motion_.header.dt, motion_.header.environment, device_};
    const auto lanes = std::size_t(plain ? make_reference_tape(cloth, options)->lane_count()
                                         : make_fast_tape(cloth, options)->lane_count());
    for (std::size_t first = 0; first < by_position.size(); first += lanes) {
        const std::size_t count = std::min(lanes, by_position.size() - first);
        if (plain) {
            add_gradient<double>(model, values, substeps, by_position, first, count, result);
        } else {
            add_gradient<float>(model, values, substeps, by_position, first, count, result);
        }
    }
    return result;
}

LandmarkShifts CaptureRun::medians(const VectorXd& residuals) const
{
    const std::size_t landmarks = motion_.header.landmark_count();
    std::vector<std::array<std::vector<double>, 3>> seen(motion_.rollout_count() * landmarks);
    for (std::size_t i = 0; i < seen_.size(); ++i) {
        auto& axes = seen[seen_[i].rollout * landmarks + seen_[i].landmark];
        for (std::size_t axis = 0; axis < 3; ++axis) {
            axes[axis].push_back(-residuals[Eigen::Index(3 * i + axis)]);
        }
    }
    LandmarkShifts medians(motion_.rollout_count());
    for (std::size_t i = 0; i < seen.size(); ++i) {
        Vec3d median{NAN, NAN, NAN};
        for (std::size_t axis = 0; axis < 3 && !seen[i][axis].empty(); ++axis) {
            median[int(axis)] = quantile(seen[i][axis], 0.5);
        }
        medians[i / landmarks].push_back(median);
    }
    return medians;
}

// Adds to `sum` how the cloths of the lanes hang, from the mean of their held landmarks. False if
// one blows up.
bool CaptureRun::let_hang(Inputs inputs, std::vector<Vec3d>& sum) const
{
    constexpr double kSeconds = 3, kStillAir = 12;  // [1/s], about critical for a hand's breadth
    const LandmarkMap map(inputs.cloth, motion_.header);
    inputs.options.environment.drag += kStillAir;
    const auto stepper = make_batch_stepper(inputs.cloth, inputs.options);
    for (std::size_t lane = 0; lane < inputs.starts.size(); ++lane) {
        Handles& handles = inputs.handles[lane];
        handles.key_position.resize(handles.particles.size());
        for (std::size_t h = 0; h < handles.particles.size(); ++h) {
            handles.key_position[h] =
                inputs.starts[lane].position[std::size_t(handles.particles[h])];
        }
        handles.key_time = {0};
        for (Vec3d& v : inputs.starts[lane].velocity) v = {};
        stepper->load(int(lane), inputs.starts[lane], handles);
    }
    const double limit = largest_speed(inputs.cloth.sheet, inputs.options.dt);
    stepper->advance(int(kSeconds / inputs.options.dt));
    if (store_checked(*stepper, inputs.starts, limit)) return false;
    for (std::size_t lane = 0; lane < inputs.starts.size(); ++lane) {
        const Handles& handles = inputs.handles[lane];
        Vec3d middle{};
        for (const Vec3d& x : handles.key_position)
            middle += (1 / double(handles.particles.size())) * x;
        const std::vector<Vec3d> landmarks = map.apply(inputs.starts[lane].position);
        for (std::size_t l = 0; l < landmarks.size(); ++l) sum[l] += landmarks[l] - middle;
    }
    return true;
}

std::optional<std::vector<Vec3d>> CaptureRun::hanging(const Cloth& cloth, int substeps) const
{
    const std::size_t count = motion_.rollout_count(), lanes = lane_count(cloth);
    std::vector<Vec3d> sum(motion_.header.landmark_count());
    for (std::size_t first = 0; first < count; first += lanes) {
        Inputs inputs = this->inputs(cloth, substeps, first, std::min(lanes, count - first));
        for (const Handles& handles : inputs.handles) {
            if (!handles.moving()) return std::nullopt;
        }
        if (!let_hang(std::move(inputs), sum)) return std::nullopt;
    }
    for (Vec3d& x : sum) x = (1 / double(count)) * x;
    return sum;
}

LandmarkShifts CaptureRun::first_frames(const Cloth& cloth) const
{
    Globals globals = *cloth.globals;
    const TrackerBias tracker = *globals.tracker;
    globals.tracker.reset();
    const Motion corrected = with_globals(motion_, globals);
    const double size = std::hypot(motion_.header.sheet.length, motion_.header.sheet.width);
    LandmarkShifts found;
    for (std::size_t r = 0; r < motion_.rollout_count(); ++r) {
        const Rollout first = corrected.read(r, 0, 1);
        found.push_back(first_frame_beside(first, first.handles, tracker, size));
    }
    return found;
}

double CaptureRun::frame_error(const VectorXd& residuals) const
{
    double sum = 0, frames = 0, squares = 0, count = 0;
    for (std::size_t i = 0; i < seen_.size(); ++i) {
        squares += residuals.segment<3>(Eigen::Index(3 * i)).squaredNorm();
        ++count;
        const bool last = i + 1 == seen_.size() || seen_[i + 1].frame != seen_[i].frame ||
                          seen_[i + 1].rollout != seen_[i].rollout;
        if (!last) continue;
        sum += std::sqrt(squares / count);
        ++frames;
        squares = count = 0;
    }
    return sum / frames;
}

}  // namespace springtime
